#include "cel/evaluator.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/program.h"
#include "cel/type_system.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

bool IsKey(const Value& value) {
  return value.kind() == Kind::kBool || value.kind() == Kind::kInt || value.kind() == Kind::kUint ||
         value.is_string();
}

Value WithHint(Value fault, std::string_view hint) {
  if (fault.is_error() && !fault.fault().beyond_limit) fault.fault().hint = hint;
  return fault;
}

// For messages: the key as it is written in an expression.
std::string TextOfKey(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
      return key.is_true() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(key.integer());
    case Kind::kUint:
      return std::to_string(key.unsigned_integer()) + "u";
    case Kind::kDouble:
      return std::to_string(key.number());
    case Kind::kString:
      return "'" + std::string(key.text().substr(0, 80)) + "'";
    default:
      return "of type " + std::string(NameOf(key.kind()));
  }
}

Value NoSuchKey(Context& context, const Value& key) {
  return WithHint(context.Fail({"no such key: ", TextOfKey(key)}),
                  "ask with has(), or write .? or [?] and orValue() for what may be missing");
}

// The number that a value is as an index, if it is one.
std::optional<int64_t> IndexOf(const Value& index) {
  if (index.kind() == Kind::kInt) return index.integer();
  if (index.kind() == Kind::kUint && index.unsigned_integer() <= INT64_MAX) {
    return index.integer();
  }
  if (index.kind() == Kind::kDouble && std::trunc(index.number()) == index.number() &&
      std::abs(index.number()) < 0x1p53) {
    return static_cast<int64_t>(index.number());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> ItemOf(Context& context, const Value& value, const Value& index) {
  if (value.is_map()) return context.Lookup(value, index);
  if (!value.is_list()) {
    return context.Fail({"a value of type ", NameOf(value.kind()), " has no [index]"});
  }
  const auto number = IndexOf(index);
  if (!number) {
    return context.Fail({"the index of a list is a whole number, not ", TextOfKey(index)});
  }
  if (*number < 0 || static_cast<uint64_t>(*number) >= value.size()) return std::nullopt;
  return value.At(static_cast<size_t>(*number));
}

Value Evaluator::Evaluate(const Node& node) {
  if (!context_.Charge(1)) return context_.Stopped();
  Value value = ValueOf(node);
  if (value.is_error() && value.fault().at == Fault::kNowhere) value.fault().at = node.at;
  return value;
}

Value Evaluator::ValueOf(const Node& node) {
  switch (node.kind) {
    case NodeKind::kLiteral:
      return node.value;
    case NodeKind::kVariable:
      return activation_.Get(node.slot, context_);
    case NodeKind::kLocal:
      return locals_[node.slot];
    case NodeKind::kSelect:
      return Select(node);
    case NodeKind::kIndex:
      return Index(node);
    case NodeKind::kCall:
      return Call(node);
    case NodeKind::kList:
      return List(node);
    case NodeKind::kMap:
      return Map(node);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return Logical(node);
    case NodeKind::kConditional:
      return Conditional(node);
    case NodeKind::kHas:
      return Has(node);
    case NodeKind::kBind:
    case NodeKind::kBlock:
      return Bind(node);
    case NodeKind::kOptMap:
    case NodeKind::kOptFlatMap:
      return Option(node);
    case NodeKind::kFault:
      return context_.Fail(node.name);
    default:
      return Loop(node);
  }
}

Value Evaluator::NotBool(const Value& value) {
  if (value.is_error()) return value;
  return context_.Fail({"no such overload: a condition is true or false, and this is of type ",
                        NameOf(value.kind())});
}

// One false makes all of && false, and one true all of || true, whatever else fails.
Value Evaluator::Logical(const Node& node) {
  const bool decides = node.kind == NodeKind::kOr;
  std::optional<Value> fault;
  for (const Node* arg : node.args) {
    const Value value = Evaluate(*arg);
    if (context_.stopped()) return context_.Stopped();
    if (decides ? value.is_true() : value.is_false()) return value;
    if (value.kind() != Kind::kBool && !fault) {
      fault = NotBool(value);
      if (fault->fault().at == Fault::kNowhere) fault->fault().at = arg->at;
    }
  }
  return fault ? *fault : Value::OfBool(!decides);
}

Value Evaluator::Conditional(const Node& node) {
  const Value condition = Evaluate(*node.args[0]);
  if (condition.kind() != Kind::kBool) return NotBool(condition);
  return Evaluate(*node.args[condition.is_true() ? 1 : 2]);
}

Value Evaluator::NoOverload(const Node& node, std::span<const Value> args) {
  std::vector<std::string> types;
  for (const Value& arg : args) types.emplace_back(NameOf(arg.kind()));
  return context_.Fail({"no such overload: ", CallOf(node.name, node.is_member, types)});
}

Value Evaluator::Call(const Node& node) {
  std::array<Value, kMostArguments> row;
  const size_t size = node.args.size();
  if (size > kMostArguments) return NoOverload(node, {});
  for (size_t i = 0; i < size; ++i) {
    row[i] = Evaluate(*node.args[i]);
    if (row[i].is_error()) return row[i];
  }
  const std::span<const Value> args(row.data(), size);
  for (const Candidate& candidate : node.candidates) {
    if (!candidate.Takes(args)) continue;
    if (candidate.function == nullptr) {
      return context_.Fail({"the function '", node.name, "' is declared, but not there"});
    }
    const Value value = candidate.function(context_, args);
    return context_.stopped() ? context_.Stopped() : value;
  }
  return NoOverload(node, args);
}

Value Evaluator::Select(const Node& node) {
  const Value operand = Evaluate(*node.args[0]);
  if (operand.is_error()) return operand;
  const bool optional = operand.kind() == Kind::kOptional;
  if (optional && operand.optional() == nullptr) return operand;
  const Value& inner = optional ? *operand.optional() : operand;
  if (!inner.is_map()) {
    if ((optional || node.is_optional) && context_.follows_kubernetes()) return Context::None();
    return context_.Fail({"no such key: a value of type ", NameOf(inner.kind()),
                          " has no members, such as '", node.name, "'"});
  }
  const auto member = inner.Lookup(node.name);
  if (!optional && !node.is_optional) {
    return member ? *member : NoSuchKey(context_, Value::OfString(node.name));
  }
  return member ? context_.Some(*member) : Context::None();
}

Value Evaluator::Has(const Node& node) {
  const Node& select = *node.args[0];
  if (select.kind != NodeKind::kSelect) return Evaluate(select);
  const Value operand = Evaluate(*select.args[0]);
  if (operand.is_error()) return operand;
  const bool optional = operand.kind() == Kind::kOptional;
  if (optional && operand.optional() == nullptr) return Value::OfBool(false);
  const Value& inner = optional ? *operand.optional() : operand;
  if (!inner.is_map()) {
    if (context_.follows_kubernetes()) return Value::OfBool(false);
    return context_.Fail(
        {"a value of type ", NameOf(inner.kind()), " has no members, such as '", select.name, "'"});
  }
  return Value::OfBool(inner.Lookup(select.name).has_value());
}

Value Evaluator::Index(const Node& node) {
  const Value operand = Evaluate(*node.args[0]);
  if (operand.is_error()) return operand;
  const Value index = Evaluate(*node.args[1]);
  if (index.is_error()) return index;
  const bool optional = operand.kind() == Kind::kOptional;
  if (optional && operand.optional() == nullptr) return operand;
  const Value& inner = optional ? *operand.optional() : operand;
  const bool may_miss = optional || node.is_optional;
  if (may_miss && !inner.is_map() && !inner.is_list() && context_.follows_kubernetes()) {
    return Context::None();
  }
  const auto item = ItemOf(context_, inner, index);
  if (item && item->is_error()) return *item;
  if (may_miss) return item ? context_.Some(*item) : Context::None();
  if (item) return *item;
  if (inner.is_map()) return NoSuchKey(context_, index);
  return context_.Fail({"the index ", TextOfKey(index), " is beyond a list of ",
                        std::to_string(inner.size()), inner.size() == 1 ? " item" : " items"});
}

Value Evaluator::List(const Node& node) {
  auto* row = context_.Row<Value>(node.args.size());
  if (context_.stopped()) return context_.Stopped();
  size_t size = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    Value item = Evaluate(*node.args[i]);
    if (item.is_error()) return item;
    if (i < node.optional_args.size() && node.optional_args[i]) {
      if (item.kind() != Kind::kOptional) return context_.Fail("behind ? stands no optional value");
      if (item.optional() == nullptr) continue;
      item = *item.optional();
    }
    row[size++] = item;
  }
  return Value::OfItems({row, size});
}

Value Evaluator::Map(const Node& node) {
  auto* row = context_.Row<Entry>(node.args.size() / 2);
  if (context_.stopped()) return context_.Stopped();
  size_t size = 0;
  for (size_t i = 0; i + 1 < node.args.size(); i += 2) {
    const Value key = Evaluate(*node.args[i]);
    if (key.is_error()) return key;
    if (!IsKey(key)) {
      return context_.Fail(
          {"the key of a map is a string, an int, a uint or a bool, and not ", TextOfKey(key)});
    }
    Value value = Evaluate(*node.args[i + 1]);
    if (value.is_error()) return value;
    if (i / 2 < node.optional_args.size() && node.optional_args[i / 2]) {
      if (value.kind() != Kind::kOptional) {
        return context_.Fail("behind ? stands no optional value");
      }
      if (value.optional() == nullptr) continue;
      value = *value.optional();
    }
    row[size++] = {key, value};
  }
  std::optional<Value> repeated;
  if (context_.follows_kubernetes()) {
    size = KeepLast({row, size});
    repeated = RepeatedKey({row, size});
  } else {
    repeated = SortEntries({row, size});
  }
  if (repeated) {
    return context_.Fail({"the key ", TextOfKey(*repeated), " is there twice"});
  }
  return Value::OfEntries({row, size});
}

// A fault of a value is one of the expression only where the variable is used.
Value Evaluator::Bind(const Node& node) {
  const size_t values = node.args.size() - 1;
  for (size_t i = 0; i < values; ++i) locals_[node.slot + i] = Evaluate(*node.args[i]);
  return Evaluate(*node.args[values]);
}

Value Evaluator::Option(const Node& node) {
  const Value target = Evaluate(*node.args[0]);
  if (target.is_error()) return target;
  if (target.kind() != Kind::kOptional) {
    return context_.Fail(
        {"no such overload: optMap and optFlatMap are called on an optional value,"
         " not on one of type ",
         NameOf(target.kind())});
  }
  if (target.optional() == nullptr) return target;
  locals_[node.slot] = *target.optional();
  const Value result = Evaluate(*node.args[1]);
  if (result.is_error()) return result;
  if (node.kind == NodeKind::kOptMap) return context_.Some(result);
  if (result.kind() == Kind::kOptional) return result;
  return context_.Fail("the result of optFlatMap is an optional value");
}

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
