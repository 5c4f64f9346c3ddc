#include <array>
#include <span>

#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

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

}  // namespace mindgate::cel
