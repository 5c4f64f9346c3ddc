#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>

#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr int kDeepestFlattened = 64;

Value NotComparable(Context& context, const Value& a, const Value& b) {
  return context.Fail(
      {"no such overload: ", NameOf(a.kind()), " and ", NameOf(b.kind()), " have no order"});
}

Value IsSorted(Context& context, Args args) {
  const Value& list = args[0];
  for (size_t i = 1; i < list.size() && context.Charge(1); ++i) {
    const Value before = list.At(i - 1);
    const Value item = list.At(i);
    const auto order = context.Order(before, item);
    if (!order) return NotComparable(context, before, item);
    if (*order > 0) return Value::OfBool(false);
  }
  return Value::OfBool(true);
}

// The sum of two values of one kind.
Value SumOf(Context& context, const Value& sum, const Value& item) {
  if (sum.kind() != item.kind()) {
    return context.Fail({"no such overload: ", NameOf(sum.kind()), " + ", NameOf(item.kind())});
  }
  int64_t whole = 0;
  uint64_t natural = 0;
  switch (item.kind()) {
    case Kind::kInt:
    case Kind::kDuration:
      if (__builtin_add_overflow(sum.integer(), item.integer(), &whole)) {
        return context.Fail("return error for overflow: the sum is too large");
      }
      return item.kind() == Kind::kInt ? Value::OfInt(whole) : Value::OfDuration(whole);
    case Kind::kUint:
      if (__builtin_add_overflow(sum.unsigned_integer(), item.unsigned_integer(), &natural)) {
        return context.Fail("return error for overflow: the sum is too large");
      }
      return Value::OfUint(natural);
    case Kind::kDouble:
      return Value::OfDouble(sum.number() + item.number());
    default:
      return context.Fail({"no such overload: sum() of values of type ", NameOf(item.kind())});
  }
}

Value Sum(Context& context, Args args) {
  const Value& list = args[0];
  if (list.size() == 0) return Value::OfInt(0);
  Value sum = list.At(0);
  if (!sum.is_number() && sum.kind() != Kind::kDuration) return SumOf(context, sum, sum);
  for (size_t i = 1; i < list.size() && context.Charge(1); ++i) {
    sum = SumOf(context, sum, list.At(i));
    if (sum.is_error()) return sum;
  }
  return sum;
}

// The zero of an empty list whose type is known.
Value SumOfUints(Context& context, Args args) {
  return args[0].size() == 0 ? Value::OfUint(0) : Sum(context, args);
}
Value SumOfDoubles(Context& context, Args args) {
  return args[0].size() == 0 ? Value::OfDouble(0) : Sum(context, args);
}
Value SumOfDurations(Context& context, Args args) {
  return args[0].size() == 0 ? Value::OfDuration(0) : Sum(context, args);
}

template <int kSign>
Value Extreme(Context& context, Args args) {
  const Value& list = args[0];
  if (list.size() == 0) {
    return context.Fail({"an empty list has no ", kSign < 0 ? "min" : "max"});
  }
  Value best = list.At(0);
  for (size_t i = 1; i < list.size() && context.Charge(1); ++i) {
    const Value item = list.At(i);
    const auto order = context.Order(item, best);
    if (!order) return NotComparable(context, item, best);
    if (*order == kSign) best = item;
  }
  return best;
}

Value IndexOfItem(Context& context, Args args) {
  for (size_t i = 0; i < args[0].size() && !context.stopped(); ++i) {
    if (context.Equal(args[0].At(i), args[1])) return Value::OfInt(static_cast<int64_t>(i));
  }
  return Value::OfInt(-1);
}

Value LastIndexOfItem(Context& context, Args args) {
  for (size_t i = args[0].size(); i > 0 && !context.stopped(); --i) {
    if (context.Equal(args[0].At(i - 1), args[1])) {
      return Value::OfInt(static_cast<int64_t>(i - 1));
    }
  }
  return Value::OfInt(-1);
}

Value Includes(Context& context, Args args) {
  if (!args[0].is_list()) return Value::OfBool(context.Equal(args[0], args[1]));
  return Value::OfBool(IndexOfItem(context, args).integer() >= 0);
}

Value Slice(Context& context, Args args) {
  const int64_t begin = args[1].integer();
  const int64_t end = args[2].integer();
  const auto size = static_cast<int64_t>(args[0].size());
  if (begin < 0 || begin > end || end > size) {
    return context.Fail({"slice(", NumberText(begin), ", ", NumberText(end),
                         ") is beyond a list of ", NumberText(size)});
  }
  ItemBuilder items(context);
  for (int64_t i = begin; i < end && context.Charge(1); ++i) {
    items.Add(args[0].At(static_cast<size_t>(i)));
  }
  return items.Finish();
}

void FlattenInto(Context& context, const Value& list, int64_t depth, ItemBuilder& items) {
  for (size_t i = 0; i < list.size() && context.Charge(1); ++i) {
    const Value item = list.At(i);
    if (item.is_list() && depth > 0) {
      FlattenInto(context, item, depth - 1, items);
    } else {
      items.Add(item);
    }
  }
}

Value Flatten(Context& context, Args args) {
  ItemBuilder items(context);
  FlattenInto(context, args[0], 1, items);
  return items.Finish();
}

Value FlattenTo(Context& context, Args args) {
  if (args[1].integer() < 0) return context.Fail("the level of flatten() is 0 or more");
  ItemBuilder items(context);
  FlattenInto(context, args[0], std::min<int64_t>(args[1].integer(), kDeepestFlattened), items);
  return items.Finish();
}

Value Sort(Context& context, Args args) {
  ItemBuilder items(context);
  for (size_t i = 0; i < args[0].size() && context.Charge(1); ++i) items.Add(args[0].At(i));
  if (context.stopped()) return context.Stopped();
  return SortedBy(context, args[0], {items.data(), items.size()});
}

Value Distinct(Context& context, Args args) {
  ItemBuilder items(context);
  for (size_t i = 0; i < args[0].size() && !context.stopped(); ++i) {
    const Value item = args[0].At(i);
    bool seen = false;
    for (size_t j = 0; j < items.size() && !seen && !context.stopped(); ++j) {
      seen = context.Equal(items.data()[j], item);
    }
    if (!seen) items.Add(item);
  }
  return items.Finish();
}

Value ReverseList(Context& context, Args args) {
  ItemBuilder items(context);
  for (size_t i = args[0].size(); i > 0 && context.Charge(1); --i) items.Add(args[0].At(i - 1));
  return items.Finish();
}

Value Range(Context& context, Args args) {
  if (args[0].integer() < 0) return context.Fail("the size of lists.range() is 0 or more");
  ItemBuilder items(context);
  for (int64_t i = 0; i < args[0].integer() && context.Charge(1); ++i) {
    items.Add(Value::OfInt(i));
  }
  return items.Finish();
}

constexpr std::array kLists{
    Overload{"isSorted", "list(T).(): bool", IsSorted},
    Overload{"sum", "list(int).(): int", Sum},
    Overload{"sum", "list(uint).(): uint", SumOfUints},
    Overload{"sum", "list(double).(): double", SumOfDoubles},
    Overload{"sum", "list(duration).(): duration", SumOfDurations},
    Overload{"min", "list(T).(): T", Extreme<-1>},
    Overload{"max", "list(T).(): T", Extreme<1>},
    Overload{"indexOf", "list(T).(T): int", IndexOfItem},
    Overload{"lastIndexOf", "list(T).(T): int", LastIndexOfItem},
    Overload{"includes", "dyn.(dyn): bool", Includes},
    Overload{"slice", "list(T).(int, int): list(T)", Slice},
    Overload{"flatten", "list(list(T)).(): list(T)", Flatten},
    Overload{"flatten", "list(dyn).(int): list(dyn)", FlattenTo},
    Overload{"sort", "list(T).(): list(T)", Sort},
    Overload{"distinct", "list(T).(): list(T)", Distinct},
    Overload{"reverse", "list(T).(): list(T)", ReverseList},
    Overload{"lists.range", "(int): list(int)", Range},
};

}  // namespace

Value SortedBy(Context& context, const Value& list, std::span<const Value> keys) {
  const size_t size = keys.size();
  for (size_t i = 0; i < size; ++i) {
    const auto order = context.Order(keys[0], keys[i]);
    if (!order || keys[0].kind() != keys[i].kind()) return NotComparable(context, keys[0], keys[i]);
    // Each key is compared about as often as the number of items has bits.
    const size_t bytes = keys[i].is_string() ? keys[i].text().size() : 0;
    if (!context.Charge(std::bit_width(size) * (1 + bytes / 16))) return context.Stopped();
  }
  auto* order = context.Row<uint32_t>(size);
  auto* row = context.Row<Value>(size);
  if (context.stopped()) return context.Stopped();
  std::iota(order, order + size, 0U);
  std::sort(order, order + size, [keys](uint32_t a, uint32_t b) {
    const int compared = Compare(keys[a], keys[b]).value_or(0);
    return compared != 0 ? compared < 0 : a < b;
  });
  for (size_t i = 0; i < size; ++i) row[i] = list.At(order[i]);
  return Value::OfItems({row, size});
}

std::span<const Overload> Lists() { return kLists; }

namespace {

bool HasItem(Context& context, const Value& list, const Value& item) {
  for (size_t i = 0; i < list.size() && !context.stopped(); ++i) {
    if (context.Equal(list.At(i), item)) return true;
  }
  return false;
}

bool HasAll(Context& context, const Value& list, const Value& items) {
  for (size_t i = 0; i < items.size() && !context.stopped(); ++i) {
    if (!HasItem(context, list, items.At(i))) return false;
  }
  return true;
}

Value SetContains(Context& context, Args args) {
  return Value::OfBool(HasAll(context, args[0], args[1]));
}

Value SetEquivalent(Context& context, Args args) {
  return Value::OfBool(HasAll(context, args[0], args[1]) && HasAll(context, args[1], args[0]));
}

Value SetIntersects(Context& context, Args args) {
  for (size_t i = 0; i < args[1].size() && !context.stopped(); ++i) {
    if (HasItem(context, args[0], args[1].At(i))) return Value::OfBool(true);
  }
  return Value::OfBool(false);
}

constexpr std::array kSets{
    Overload{"sets.contains", "(list(T), list(T)): bool", SetContains},
    Overload{"sets.equivalent", "(list(T), list(T)): bool", SetEquivalent},
    Overload{"sets.intersects", "(list(T), list(T)): bool", SetIntersects},
};

}  // namespace

std::span<const Overload> Sets() { return kSets; }

namespace {

Value OptionalOf(Context& context, Args args) { return context.Some(args[0]); }
Value OptionalNone(Context&, Args) { return Context::None(); }

bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.is_true();
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
      return value.integer() == 0;
    case Kind::kDouble:
      return value.number() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.text().empty();
    case Kind::kList:
    case Kind::kMap:
      return value.size() == 0;
    case Kind::kOptional:
      return value.optional() == nullptr;
    default:
      return false;
  }
}

Value OptionalOfNonZero(Context& context, Args args) {
  return IsZero(args[0]) ? Context::None() : context.Some(args[0]);
}

Value HasValue(Context&, Args args) { return Value::OfBool(args[0].optional() != nullptr); }

Value ValueOfOptional(Context& context, Args args) {
  if (args[0].optional() == nullptr) return context.Fail("optional.none() has no value");
  return *args[0].optional();
}

Value Or(Context&, Args args) { return args[0].optional() == nullptr ? args[1] : args[0]; }
Value OrValue(Context&, Args args) {
  return args[0].optional() == nullptr ? args[1] : *args[0].optional();
}

// What lists and maps give where something may be missing.
Value FirstOf(Context& context, Args args) {
  return args[0].size() == 0 ? Context::None() : context.Some(args[0].At(0));
}
Value LastOf(Context& context, Args args) {
  return args[0].size() == 0 ? Context::None() : context.Some(args[0].At(args[0].size() - 1));
}

Value UnwrapAll(Context& context, Args args) {
  ItemBuilder items(context);
  for (size_t i = 0; i < args[0].size() && context.Charge(1); ++i) {
    const Value item = args[0].At(i);
    if (item.kind() != Kind::kOptional) {
      return context.Fail("the items of this list must be optional values");
    }
    if (item.optional() != nullptr) items.Add(*item.optional());
  }
  return items.Finish();
}

constexpr std::array kOptionals{
    Overload{"optional.of", "(T): optional_type(T)", OptionalOf},
    Overload{"optional.none", "(): optional_type(T)", OptionalNone},
    Overload{"optional.ofNonZeroValue", "(T): optional_type(T)", OptionalOfNonZero},
    Overload{"optional.unwrap", "(list(optional_type(T))): list(T)", UnwrapAll},
    Overload{"unwrapOpt", "list(optional_type(T)).(): list(T)", UnwrapAll},
    Overload{"hasValue", "optional_type(T).(): bool", HasValue},
    Overload{"value", "optional_type(T).(): T", ValueOfOptional},
    Overload{"or", "optional_type(T).(optional_type(T)): optional_type(T)", Or},
    Overload{"orValue", "optional_type(T).(T): T", OrValue},
    Overload{"first", "list(T).(): optional_type(T)", FirstOf},
    Overload{"last", "list(T).(): optional_type(T)", LastOf},
};

}  // namespace

std::span<const Overload> Optionals() { return kOptionals; }

}  // namespace mindgate::cel
