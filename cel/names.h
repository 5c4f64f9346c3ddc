#pragma once

#include <optional>
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
  std::vector<Overload> Overloads(std::string_view name) const;

  // The name that was meant, or nothing.
  std::string NearestVariable(std::string_view path,
                              const std::vector<std::string_view>& locals) const;
  std::string NearestFunction(std::string_view name) const;

 private:
  // The names that a name may stand for, the longest first.
  std::vector<std::string> Candidates(std::string_view name) const;

  const Environment& environment_;
  std::vector<Overload> declared_;
};

}  // namespace mindgate::cel
