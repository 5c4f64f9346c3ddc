#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/function.h"
#include "cel/types.h"

namespace mindgate::cel {

// A signature as types. Its variables are new ones.
struct Signature {
  bool is_member = false;
  bool is_generic = false;  // it has variables
  size_t size = 0;          // with the receiver
  std::array<const Type*, kMostArguments> arguments{};
  const Type* result = nullptr;
};

// How many arguments a signature has, with the receiver, and whether it has one; cheap.
struct Shape {
  bool is_member = false;
  size_t size = 0;
};
Shape ShapeOf(std::string_view signature);

// Nothing when the text is not a signature.
std::optional<Signature> ParseSignature(std::string_view text, Types& types, uint32_t& next);

// "string.contains(string)", "int + int": how a call of the overload is written.
std::string UsageOf(const Overload& overload);
// The sign of an operator's function: "+" of "_+_"; of another function its name.
std::string_view SignOf(std::string_view function);
// A call with arguments of these types: "contains(int, string)", "int + string".
std::string CallOf(std::string_view function, bool is_member, std::span<const std::string> types);

}  // namespace mindgate::cel
