#include <array>
#include <span>

#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

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
