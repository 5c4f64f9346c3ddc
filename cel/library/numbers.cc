#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

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
