#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

Value Overflow(Context& context) {
  return context.Fail("return error for overflow: the number is too large for 64 bits");
}

Value Negate(Context& context, Args args) {
  if (args[0].kind() == Kind::kDouble) return Value::OfDouble(-args[0].number());
  if (args[0].integer() == INT64_MIN) return Overflow(context);
  return Value::OfInt(-args[0].integer());
}

Value Not(Context&, Args args) { return Value::OfBool(!args[0].is_true()); }

Value AddInts(Context& context, Args args) {
  int64_t sum = 0;
  if (__builtin_add_overflow(args[0].integer(), args[1].integer(), &sum)) return Overflow(context);
  return Value::OfInt(sum);
}

Value AddUints(Context& context, Args args) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(args[0].unsigned_integer(), args[1].unsigned_integer(), &sum)) {
    return Overflow(context);
  }
  return Value::OfUint(sum);
}

Value SubtractInts(Context& context, Args args) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(args[0].integer(), args[1].integer(), &rest)) return Overflow(context);
  return Value::OfInt(rest);
}

Value SubtractUints(Context& context, Args args) {
  if (args[0].unsigned_integer() < args[1].unsigned_integer()) return Overflow(context);
  return Value::OfUint(args[0].unsigned_integer() - args[1].unsigned_integer());
}

Value MultiplyInts(Context& context, Args args) {
  int64_t product = 0;
  if (__builtin_mul_overflow(args[0].integer(), args[1].integer(), &product)) {
    return Overflow(context);
  }
  return Value::OfInt(product);
}

Value MultiplyUints(Context& context, Args args) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(args[0].unsigned_integer(), args[1].unsigned_integer(), &product)) {
    return Overflow(context);
  }
  return Value::OfUint(product);
}

Value DivideInts(Context& context, Args args) {
  if (args[1].integer() == 0) return context.Fail("divide by zero");
  if (args[0].integer() == INT64_MIN && args[1].integer() == -1) return Overflow(context);
  return Value::OfInt(args[0].integer() / args[1].integer());
}

Value DivideUints(Context& context, Args args) {
  if (args[1].unsigned_integer() == 0) return context.Fail("divide by zero");
  return Value::OfUint(args[0].unsigned_integer() / args[1].unsigned_integer());
}

Value ModuloInts(Context& context, Args args) {
  if (args[1].integer() == 0) return context.Fail("modulus by zero");
  if (args[1].integer() == -1) return Value::OfInt(0);
  return Value::OfInt(args[0].integer() % args[1].integer());
}

Value ModuloUints(Context& context, Args args) {
  if (args[1].unsigned_integer() == 0) return context.Fail("modulus by zero");
  return Value::OfUint(args[0].unsigned_integer() % args[1].unsigned_integer());
}

Value AddDoubles(Context&, Args args) {
  return Value::OfDouble(args[0].number() + args[1].number());
}
Value SubtractDoubles(Context&, Args args) {
  return Value::OfDouble(args[0].number() - args[1].number());
}
Value MultiplyDoubles(Context&, Args args) {
  return Value::OfDouble(args[0].number() * args[1].number());
}

// IEEE 754 defines the division by zero.
#if defined(__clang__)
__attribute__((no_sanitize("float-divide-by-zero")))
#endif
Value DivideDoubles(Context&, Args args) {
  return Value::OfDouble(args[0].number() / args[1].number());
}

Value JoinTexts(Context& context, Args args) {
  return context.Join({args[0].text(), args[1].text()});
}

Value JoinBytes(Context& context, Args args) {
  const Value joined = context.Join({args[0].text(), args[1].text()});
  return joined.is_error() ? joined : Value::OfBytes(joined.text());
}

Value JoinLists(Context& context, Args args) {
  const size_t size = args[0].size() + args[1].size();
  if (!context.Charge(size)) return context.Stopped();
  auto* row = context.Row<Value>(size);
  if (context.stopped()) return context.Stopped();
  for (size_t i = 0; i < args[0].size(); ++i) row[i] = args[0].At(i);
  for (size_t i = 0; i < args[1].size(); ++i) row[args[0].size() + i] = args[1].At(i);
  return Value::OfItems({row, size});
}

Value AddToTime(Context& context, Args args) {
  return MovedTime(context, args[0], args[1].integer());
}
Value AddTimeTo(Context& context, Args args) {
  return MovedTime(context, args[1], args[0].integer());
}

Value AddDurations(Context& context, Args args) {
  int64_t sum = 0;
  if (__builtin_add_overflow(args[0].integer(), args[1].integer(), &sum)) {
    return context.Fail("the duration is out of range");
  }
  return Value::OfDuration(sum);
}

Value SubtractFromTime(Context& context, Args args) {
  if (args[1].integer() == INT64_MIN) return context.Fail("the duration is out of range");
  return MovedTime(context, args[0], -args[1].integer());
}

Value SubtractDurations(Context& context, Args args) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(args[0].integer(), args[1].integer(), &rest)) {
    return context.Fail("the duration is out of range");
  }
  return Value::OfDuration(rest);
}

Value SubtractTimes(Context& context, Args args) {
  const __int128 seconds = args[0].integer() - args[1].integer();
  const __int128 nanos = seconds * kNanosecondsPerSecond + args[0].nanoseconds() -
                         static_cast<__int128>(args[1].nanoseconds());
  if (nanos > INT64_MAX || nanos < INT64_MIN) return context.Fail("the duration is out of range");
  return Value::OfDuration(static_cast<int64_t>(nanos));
}

Value EqualTo(Context& context, Args args) {
  return Value::OfBool(context.Equal(args[0], args[1]));
}
Value NotEqualTo(Context& context, Args args) {
  return Value::OfBool(!context.Equal(args[0], args[1]));
}

// Nothing is less or greater than NaN.
template <bool kLess, bool kEqual, bool kGreater>
Value OrderedAs(Context& context, Args args) {
  const auto order = context.Order(args[0], args[1]);
  if (!order) return Value::OfBool(false);
  return Value::OfBool((*order < 0 && kLess) || (*order == 0 && kEqual) ||
                       (*order > 0 && kGreater));
}

Value InList(Context& context, Args args) {
  for (size_t i = 0; i < args[1].size() && !context.stopped(); ++i) {
    if (context.Equal(args[0], args[1].At(i))) return Value::OfBool(true);
  }
  return Value::OfBool(false);
}

Value InMap(Context& context, Args args) {
  return Value::OfBool(context.Lookup(args[1], args[0]).has_value());
}

constexpr std::array kArithmetic{
    Overload{"-_", "(int): int", Negate},
    Overload{"-_", "(double): double", Negate},
    Overload{"!_", "(bool): bool", Not},
    Overload{"_+_", "(int, int): int", AddInts},
    Overload{"_+_", "(uint, uint): uint", AddUints},
    Overload{"_+_", "(double, double): double", AddDoubles},
    Overload{"_+_", "(string, string): string", JoinTexts},
    Overload{"_+_", "(bytes, bytes): bytes", JoinBytes},
    Overload{"_+_", "(list(T), list(T)): list(T)", JoinLists},
    Overload{"_+_", "(timestamp, duration): timestamp", AddToTime},
    Overload{"_+_", "(duration, timestamp): timestamp", AddTimeTo},
    Overload{"_+_", "(duration, duration): duration", AddDurations},
    Overload{"_-_", "(int, int): int", SubtractInts},
    Overload{"_-_", "(uint, uint): uint", SubtractUints},
    Overload{"_-_", "(double, double): double", SubtractDoubles},
    Overload{"_-_", "(timestamp, timestamp): duration", SubtractTimes},
    Overload{"_-_", "(timestamp, duration): timestamp", SubtractFromTime},
    Overload{"_-_", "(duration, duration): duration", SubtractDurations},
    Overload{"_*_", "(int, int): int", MultiplyInts},
    Overload{"_*_", "(uint, uint): uint", MultiplyUints},
    Overload{"_*_", "(double, double): double", MultiplyDoubles},
    Overload{"_/_", "(int, int): int", DivideInts},
    Overload{"_/_", "(uint, uint): uint", DivideUints},
    Overload{"_/_", "(double, double): double", DivideDoubles},
    Overload{"_%_", "(int, int): int", ModuloInts},
    Overload{"_%_", "(uint, uint): uint", ModuloUints},
    Overload{"_==_", "(T, T): bool", EqualTo},
    Overload{"_!=_", "(T, T): bool", NotEqualTo},
    Overload{"@in", "(T, list(T)): bool", InList},
    Overload{"@in", "(T, map(T, U)): bool", InMap},
};

constexpr std::array<std::string_view, 14> kOrders{"(int, int): bool",
                                                   "(uint, uint): bool",
                                                   "(double, double): bool",
                                                   "(int, uint): bool",
                                                   "(int, double): bool",
                                                   "(uint, int): bool",
                                                   "(uint, double): bool",
                                                   "(double, int): bool",
                                                   "(double, uint): bool",
                                                   "(string, string): bool",
                                                   "(bytes, bytes): bool",
                                                   "(bool, bool): bool",
                                                   "(timestamp, timestamp): bool",
                                                   "(duration, duration): bool"};

constexpr std::array kOrderFunctions{
    Overload{"_<_", "", OrderedAs<true, false, false>},
    Overload{"_<=_", "", OrderedAs<true, true, false>},
    Overload{"_>_", "", OrderedAs<false, false, true>},
    Overload{"_>=_", "", OrderedAs<false, true, true>},
};

constexpr size_t kSize = kArithmetic.size() + kOrders.size() * kOrderFunctions.size();

constexpr std::array<Overload, kSize> MakeOperators() {
  std::array<Overload, kSize> all{};
  size_t size = 0;
  for (const Overload& overload : kArithmetic) all[size++] = overload;
  for (const Overload& function : kOrderFunctions) {
    for (const std::string_view signature : kOrders) {
      all[size++] = {function.name, signature, function.function};
    }
  }
  return all;
}

constexpr std::array kOperators = MakeOperators();

}  // namespace

std::span<const Overload> Operators() { return kOperators; }

namespace {

// The greatest of two numbers for 1, the least for -1; the first one where they are equal.
template <int kSign>
Value ExtremeOfTwo(Context& context, Args args) {
  if (!args[0].is_number() || !args[1].is_number()) {
    return context.Fail("no such overload: math.greatest and math.least take numbers");
  }
  return CompareNumbers(args[1], args[0]) == kSign ? args[1] : args[0];
}

template <int kSign>
Value ExtremeOfList(Context& context, Args args) {
  const Value& list = args[0];
  if (list.size() == 0)
    return context.Fail("math.greatest and math.least take one number at least");
  Value best = list.At(0);
  for (size_t i = 0; i < list.size() && context.Charge(1); ++i) {
    const std::array pair{best, list.At(i)};
    best = ExtremeOfTwo<kSign>(context, pair);
    if (best.is_error()) return best;
  }
  return best;
}

Value SameNumber(Context&, Args args) { return args[0]; }

template <double (*kFunction)(double)>
Value OfDouble(Context&, Args args) {
  return Value::OfDouble(kFunction(args[0].number()));
}
double Ceil(double number) { return std::ceil(number); }
double Floor(double number) { return std::floor(number); }
double Round(double number) { return std::round(number); }
double Trunc(double number) { return std::trunc(number); }

Value Sqrt(Context&, Args args) { return Value::OfDouble(std::sqrt(args[0].as_double())); }

Value Abs(Context& context, Args args) {
  if (args[0].kind() == Kind::kDouble) return Value::OfDouble(std::fabs(args[0].number()));
  if (args[0].integer() == INT64_MIN) return context.Fail("integer overflow");
  return Value::OfInt(args[0].integer() < 0 ? -args[0].integer() : args[0].integer());
}

Value Sign(Context&, Args args) {
  const int64_t whole = args[0].integer();
  switch (args[0].kind()) {
    case Kind::kInt:
      return Value::OfInt(whole > 0 ? 1 : (whole < 0 ? -1 : 0));
    case Kind::kUint:
      return Value::OfUint(whole == 0 ? 0 : 1);
    default: {
      const double number = args[0].number();
      return Value::OfDouble(number > 0 ? 1 : (number < 0 ? -1 : number));
    }
  }
}

Value IsNan(Context&, Args args) { return Value::OfBool(std::isnan(args[0].number())); }
Value IsInf(Context&, Args args) { return Value::OfBool(std::isinf(args[0].number())); }
Value IsFinite(Context&, Args args) { return Value::OfBool(std::isfinite(args[0].number())); }

Value LikeFirst(Args args, uint64_t bits) {
  return args[0].kind() == Kind::kUint ? Value::OfUint(bits)
                                       : Value::OfInt(static_cast<int64_t>(bits));
}

Value BitAnd(Context&, Args args) {
  return LikeFirst(args, args[0].unsigned_integer() & args[1].unsigned_integer());
}
Value BitOr(Context&, Args args) {
  return LikeFirst(args, args[0].unsigned_integer() | args[1].unsigned_integer());
}
Value BitXor(Context&, Args args) {
  return LikeFirst(args, args[0].unsigned_integer() ^ args[1].unsigned_integer());
}
Value BitNot(Context&, Args args) { return LikeFirst(args, ~args[0].unsigned_integer()); }

template <bool kLeft>
Value BitShift(Context& context, Args args) {
  const int64_t by = args[1].integer();
  if (by < 0) return context.Fail("negative offset: bits are shifted by 0 or more");
  if (by >= 64) return LikeFirst(args, 0);
  const uint64_t bits = args[0].unsigned_integer();
  return LikeFirst(args, kLeft ? bits << by : bits >> by);
}

constexpr std::array kNumbers{
    Overload{"math.greatest", "(int): int", SameNumber},
    Overload{"math.greatest", "(uint): uint", SameNumber},
    Overload{"math.greatest", "(double): double", SameNumber},
    Overload{"math.greatest", "(list(int)): int", ExtremeOfList<1>},
    Overload{"math.greatest", "(list(uint)): uint", ExtremeOfList<1>},
    Overload{"math.greatest", "(list(double)): double", ExtremeOfList<1>},
    Overload{"math.greatest", "(int, int): int", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(uint, uint): uint", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(double, double): double", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(int, uint): dyn", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(int, double): dyn", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(uint, int): dyn", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(uint, double): dyn", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(double, int): dyn", ExtremeOfTwo<1>},
    Overload{"math.greatest", "(double, uint): dyn", ExtremeOfTwo<1>},
    Overload{"math.least", "(int): int", SameNumber},
    Overload{"math.least", "(uint): uint", SameNumber},
    Overload{"math.least", "(double): double", SameNumber},
    Overload{"math.least", "(list(int)): int", ExtremeOfList<-1>},
    Overload{"math.least", "(list(uint)): uint", ExtremeOfList<-1>},
    Overload{"math.least", "(list(double)): double", ExtremeOfList<-1>},
    Overload{"math.least", "(int, int): int", ExtremeOfTwo<-1>},
    Overload{"math.least", "(uint, uint): uint", ExtremeOfTwo<-1>},
    Overload{"math.least", "(double, double): double", ExtremeOfTwo<-1>},
    Overload{"math.least", "(int, uint): dyn", ExtremeOfTwo<-1>},
    Overload{"math.least", "(int, double): dyn", ExtremeOfTwo<-1>},
    Overload{"math.least", "(uint, int): dyn", ExtremeOfTwo<-1>},
    Overload{"math.least", "(uint, double): dyn", ExtremeOfTwo<-1>},
    Overload{"math.least", "(double, int): dyn", ExtremeOfTwo<-1>},
    Overload{"math.least", "(double, uint): dyn", ExtremeOfTwo<-1>},
    Overload{"math.ceil", "(double): double", OfDouble<Ceil>},
    Overload{"math.floor", "(double): double", OfDouble<Floor>},
    Overload{"math.round", "(double): double", OfDouble<Round>},
    Overload{"math.trunc", "(double): double", OfDouble<Trunc>},
    Overload{"math.sqrt", "(int): double", Sqrt},
    Overload{"math.sqrt", "(uint): double", Sqrt},
    Overload{"math.sqrt", "(double): double", Sqrt},
    Overload{"math.abs", "(int): int", Abs},
    Overload{"math.abs", "(uint): uint", SameNumber},
    Overload{"math.abs", "(double): double", Abs},
    Overload{"math.sign", "(int): int", Sign},
    Overload{"math.sign", "(uint): uint", Sign},
    Overload{"math.sign", "(double): double", Sign},
    Overload{"math.isNaN", "(double): bool", IsNan},
    Overload{"math.isInf", "(double): bool", IsInf},
    Overload{"math.isFinite", "(double): bool", IsFinite},
    Overload{"math.bitAnd", "(int, int): int", BitAnd},
    Overload{"math.bitAnd", "(uint, uint): uint", BitAnd},
    Overload{"math.bitOr", "(int, int): int", BitOr},
    Overload{"math.bitOr", "(uint, uint): uint", BitOr},
    Overload{"math.bitXor", "(int, int): int", BitXor},
    Overload{"math.bitXor", "(uint, uint): uint", BitXor},
    Overload{"math.bitNot", "(int): int", BitNot},
    Overload{"math.bitNot", "(uint): uint", BitNot},
    Overload{"math.bitShiftLeft", "(int, int): int", BitShift<true>},
    Overload{"math.bitShiftLeft", "(uint, int): uint", BitShift<true>},
    Overload{"math.bitShiftRight", "(int, int): int", BitShift<false>},
    Overload{"math.bitShiftRight", "(uint, int): uint", BitShift<false>},
};

}  // namespace

std::span<const Overload> Numbers() { return kNumbers; }

}  // namespace mindgate::cel
