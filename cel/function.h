#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

// What a function does. None of the arguments is an error, and each has the kind that the
// signature says; the receiver of a member function comes first.
using Function = Value (*)(Context& context, std::span<const Value> args);

// One way to call a function. A library is a table of them.
struct Overload {
  std::string_view name;       // "contains", "math.abs", "_+_"
  std::string_view signature;  // "string.(string): bool", "(int): int", "list(T).(T): int"
  Function function = nullptr;
};

inline constexpr size_t kMostArguments = 4;

// An overload that a call may mean; kError stands for any kind.
struct Candidate {
  Function function = nullptr;
  std::array<Kind, kMostArguments> kinds{};

  bool Takes(std::span<const Value> args) const {
    for (size_t i = 0; i < args.size(); ++i) {
      if (kinds[i] != Kind::kError && kinds[i] != args[i].kind()) return false;
    }
    return true;
  }
};

}  // namespace mindgate::cel
