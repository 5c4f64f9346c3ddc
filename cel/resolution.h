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
#include "cel/context.h"
#include "cel/type_system.h"
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

// Finds which overloads of a function a call may mean.
class OverloadFinder {
 public:
  OverloadFinder(Types& types, Unifier& unifier, json::Arena& arena)
      : types_(types), unifier_(unifier), arena_(arena) {}

  // Writes those that take the types of the arguments into the node. The type of the result: dyn
  // where it depends on values, a null pointer where no overload takes them.
  const Type* Find(Node& node, std::span<const KnownOverload> overloads);

 private:
  const Signature* SignatureOf(const KnownOverload& overload);
  bool Takes(const Signature& signature, const Node& node);

  Types& types_;
  Unifier& unifier_;
  json::Arena& arena_;
  std::map<std::string_view, std::optional<Signature>> signatures_;
};

// What is wrong with a call that no overload takes: "no such overload: int + string".
std::string NoSuchOverload(const Node& node, std::span<const std::string> types);
// The calls that there are: "there is string.contains(string)".
std::string UsagesOf(std::span<const KnownOverload> overloads);

}  // namespace mindgate::cel
