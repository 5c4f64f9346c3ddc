#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/ast.h"
#include "cel/names.h"
#include "cel/signature.h"
#include "cel/types.h"
#include "cel/unify.h"
#include "json/arena.h"

namespace mindgate::cel {

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
