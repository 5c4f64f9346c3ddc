#include <cstdint>
#include <optional>

#include "cel/evaluator.h"
#include "cel/library/libraries.h"

namespace mindgate::cel {

void Evaluator::SetLocals(const Node& node, const Value& range, size_t index) {
  if (node.second.empty()) {
    locals_[node.slot] = range.is_list() ? range.At(index) : range.KeyAt(index);
    return;
  }
  locals_[node.slot] =
      range.is_list() ? Value::OfInt(static_cast<int64_t>(index)) : range.KeyAt(index);
  locals_[node.slot + 1] = range.is_list() ? range.At(index) : range.ValueAt(index);
}

Value Evaluator::Loop(const Node& node) {
  const Value range = Evaluate(*node.args[0]);
  if (range.is_error()) return range;
  if (!range.is_list() && !range.is_map()) {
    return context_.Fail(
        {"no such overload: this loops over a list or a map, not over a value of"
         " type ",
         NameOf(range.kind())});
  }
  switch (node.kind) {
    case NodeKind::kAll:
    case NodeKind::kExists:
      return Any(node, range);
    case NodeKind::kExistsOne:
      return ExistsOne(node, range);
    case NodeKind::kTransformMap:
    case NodeKind::kTransformMapEntry:
      return TransformMap(node, range);
    case NodeKind::kSortBy:
      return SortBy(node, range);
    default:
      return FilterOrTransform(node, range);
  }
}

Value Evaluator::Condition(const Node& node) {
  const Value value = Evaluate(node);
  return value.kind() == Kind::kBool ? value : NotBool(value);
}

// all and exists are chains of && and ||: one item may decide whatever fails for others.
Value Evaluator::Any(const Node& node, const Value& range) {
  const bool decides = node.kind == NodeKind::kExists;
  std::optional<Value> fault;
  for (size_t i = 0; i < range.size(); ++i) {
    if (!context_.Charge(1)) return context_.Stopped();
    SetLocals(node, range, i);
    const Value value = Condition(*node.args[1]);
    if (context_.stopped()) return context_.Stopped();
    if (value.is_error()) {
      if (!fault) fault = value;
    } else if (value.is_true() == decides) {
      return value;
    }
  }
  return fault ? *fault : Value::OfBool(!decides);
}

Value Evaluator::ExistsOne(const Node& node, const Value& range) {
  size_t found = 0;
  for (size_t i = 0; i < range.size(); ++i) {
    if (!context_.Charge(1)) return context_.Stopped();
    SetLocals(node, range, i);
    const Value value = Condition(*node.args[1]);
    if (value.is_error()) return value;
    if (value.is_true()) ++found;
  }
  return Value::OfBool(found == 1);
}

Value Evaluator::FilterOrTransform(const Node& node, const Value& range) {
  const bool transforms = node.kind == NodeKind::kTransform;
  const bool filters = !transforms || node.args.size() == 3;
  ItemBuilder items(context_);
  for (size_t i = 0; i < range.size(); ++i) {
    if (!context_.Charge(1)) return context_.Stopped();
    SetLocals(node, range, i);
    Value item = locals_[node.slot];
    if (filters) {
      const Value takes = Condition(*node.args[1]);
      if (takes.is_error()) return takes;
      if (takes.is_false()) continue;
    }
    if (transforms) item = Evaluate(*node.args.back());
    if (item.is_error()) return item;
    if (!items.Add(item)) break;
  }
  return items.Finish();
}

Value Evaluator::TransformMap(const Node& node, const Value& range) {
  ItemBuilder keys(context_);
  ItemBuilder values(context_);
  for (size_t i = 0; i < range.size(); ++i) {
    if (!context_.Charge(1)) return context_.Stopped();
    SetLocals(node, range, i);
    const Value key = locals_[node.slot];
    if (node.args.size() == 3) {
      const Value takes = Condition(*node.args[1]);
      if (takes.is_error()) return takes;
      if (takes.is_false()) continue;
    }
    const Value result = Evaluate(*node.args.back());
    if (result.is_error()) return result;
    if (node.kind == NodeKind::kTransformMap) {
      if (!keys.Add(key) || !values.Add(result)) break;
      continue;
    }
    if (!result.is_map()) return context_.Fail("the result of transformMapEntry is a map");
    for (size_t j = 0; j < result.size() && context_.Charge(1); ++j) {
      if (!keys.Add(result.KeyAt(j)) || !values.Add(result.ValueAt(j))) break;
    }
  }
  auto* row = context_.Row<Entry>(keys.size());
  if (context_.stopped()) return context_.Stopped();
  for (size_t i = 0; i < keys.size(); ++i) row[i] = {keys.data()[i], values.data()[i]};
  if (const auto repeated = SortEntries({row, keys.size()})) {
    return context_.Fail("a key is there twice");
  }
  return Value::OfEntries({row, keys.size()});
}

Value Evaluator::SortBy(const Node& node, const Value& range) {
  if (!range.is_list()) return context_.Fail("no such overload: sortBy orders a list");
  ItemBuilder keys(context_);
  for (size_t i = 0; i < range.size(); ++i) {
    if (!context_.Charge(1)) return context_.Stopped();
    SetLocals(node, range, i);
    const Value key = Evaluate(*node.args[1]);
    if (key.is_error()) return key;
    if (!keys.Add(key)) return context_.Stopped();
  }
  return SortedBy(context_, range, {keys.data(), keys.size()});
}

}  // namespace mindgate::cel
