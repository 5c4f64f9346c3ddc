#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cel/ast.h"
#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

class Activation;

// Walks over a checked tree. An error is a value until the end, since && and || may do without it.
class Evaluator {
 public:
  // `locals` has room for all that the macros of the tree declare.
  Evaluator(Context& context, Activation& activation, std::span<Value> locals)
      : context_(context), activation_(activation), locals_(locals) {}

  Value Evaluate(const Node& node);

 private:
  Value ValueOf(const Node& node);
  Value Logical(const Node& node);
  Value Conditional(const Node& node);
  Value Call(const Node& node);
  Value NoOverload(const Node& node, std::span<const Value> args);
  Value Select(const Node& node);
  Value Has(const Node& node);
  Value Index(const Node& node);
  Value List(const Node& node);
  Value Map(const Node& node);
  Value Bind(const Node& node);
  Value Option(const Node& node);

  // Macros that loop: evaluator.cc.
  Value Loop(const Node& node);
  Value Any(const Node& node, const Value& range);
  Value ExistsOne(const Node& node, const Value& range);
  Value FilterOrTransform(const Node& node, const Value& range);
  Value TransformMap(const Node& node, const Value& range);
  Value SortBy(const Node& node, const Value& range);
  void SetLocals(const Node& node, const Value& range, size_t index);
  // Whether the filter of a loop takes the item: the condition itself, or a fault.
  Value Condition(const Node& node);

  Value NotBool(const Value& value);

  Context& context_;
  Activation& activation_;
  std::span<Value> locals_;
};

// An item of a list or a value of a map; nothing when there is none. A fault when the value has no
// items at all, or the index is not one.
std::optional<Value> ItemOf(Context& context, const Value& value, const Value& index);

}  // namespace mindgate::cel
