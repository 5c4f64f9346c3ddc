#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/function.h"
#include "json/arena.h"

namespace mindgate::cel {

// "a.b.c" when the node is a name or a chain of members that begins with one.
std::optional<std::string> PathOf(const Node& node);

// A way to call a function, with what is asked of it first.
struct KnownOverload {
  Overload overload;
  bool is_member = false;
  size_t size = 0;  // of its arguments, with the receiver
};

// What the names of an environment stand for, together with those that all expressions have.
class Names {
 public:
  Names(const Environment& environment, json::Arena& arena);

  // The number of the variable that a path names, with or without the namespaces of the container.
  // A leading dot: without.
  std::optional<size_t> Variable(std::string_view path) const;
  // The name of the type that a path names.
  std::optional<std::string_view> TypeName(std::string_view path) const;
  // All ways to call the function of that name; none when there is no such function.
  std::span<const KnownOverload> Overloads(std::string_view name);

  // The name that was meant, or nothing.
  std::string NearestVariable(std::string_view path,
                              const std::vector<std::string_view>& locals) const;
  std::string NearestFunction(std::string_view name) const;

 private:
  // The names that a name may stand for, the longest first.
  std::vector<std::string> Candidates(std::string_view name) const;
  std::vector<KnownOverload> FindOverloads(std::string_view name) const;

  const Environment& environment_;
  std::vector<Overload> declared_;
  std::map<std::string, size_t, std::less<>> variables_;
  std::map<std::string, std::vector<KnownOverload>, std::less<>> overloads_;  // those asked for
};

}  // namespace mindgate::cel
