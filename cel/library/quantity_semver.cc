#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;
using Wide = unsigned __int128;

constexpr __int128 kNanosInOne = 1'000'000'000;
constexpr int kNanoDigits = 9;
constexpr Wide kMostNanos = static_cast<Wide>(INT64_MAX) * static_cast<Wide>(kNanosInOne);

struct QuantitySuffix {
  int64_t decimal = 0;  // value * 10^decimal * 2^binary
  int binary = 0;
};

std::optional<QuantitySuffix> SuffixOf(std::string_view text) {
  constexpr std::string_view kDecimal = "num kMGTPE";  // 10^-9, -6, -3, 0 ...
  constexpr std::string_view kBinary = "KMGTPE";
  if (text.empty()) return QuantitySuffix{};
  if (text.size() == 1 && text != " ") {
    const size_t at = kDecimal.find(text[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return QuantitySuffix{static_cast<int64_t>(at) * 3 - 9, 0};
  }
  if (text.size() == 2 && text[1] == 'i') {
    const size_t at = kBinary.find(text[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return QuantitySuffix{0, static_cast<int>(at + 1) * 10};
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  const auto exponent = ParseGoInt(text.substr(1));
  if (!exponent || *exponent > INT32_MAX || *exponent < INT32_MIN) return std::nullopt;
  return QuantitySuffix{*exponent, 0};
}

// Digits as a whole number and how many of them stand behind the point; digits beyond those that
// the number can hold only say whether it is rounded.
struct ReadDigits {
  Wide number = 0;
  int64_t exponent = 0;
  bool more = false;  // what was left out is not zero
  size_t length = 0;
  int64_t digits = 0;  // without zeros in front
  bool point = false;
};

std::optional<ReadDigits> DigitsOf(std::string_view text) {
  ReadDigits read;
  bool digit = false;
  constexpr Wide kRoom = ~Wide{0} / 10 >> 61;  // times 2^60 and times 10 it still fits
  for (; read.length < text.size(); ++read.length) {
    const char c = text[read.length];
    if (c == '.' && !read.point) {
      read.point = true;
      continue;
    }
    if (!IsDigit(c)) break;
    digit = true;
    if (c != '0' || read.digits > 0 || read.point) ++read.digits;
    if (read.number < kRoom) {
      read.number = read.number * 10 + static_cast<Wide>(c - '0');
      if (read.point) --read.exponent;
    } else {
      read.more = read.more || c != '0';
      if (!read.point) ++read.exponent;
    }
  }
  if (!digit) return std::nullopt;
  return read;
}

Value Unreadable(Context& context, std::string_view text) {
  return context.Fail({"'", text.substr(0, 80), "' is not a quantity, such as 500m, 2Gi or 1e3"});
}

Value QuantityOfText(Context& context, Args args) {
  const auto quantity = ParseQuantity(args[0].text());
  if (!quantity) return Unreadable(context, args[0].text());
  return Value::Of(context.Keep(*quantity));
}

Value IsQuantity(Context&, Args args) {
  return Value::OfBool(ParseQuantity(args[0].text()).has_value());
}

Value QuantityIsInteger(Context&, Args args) { return Value::OfBool(args[0].quantity().is_int); }

Value QuantityAsInteger(Context& context, Args args) {
  if (!args[0].quantity().is_int) {
    return context.Fail(
        "the quantity is not an int: it has a fraction, or more digits than Kubernetes reads as "
        "one");
  }
  return Value::OfInt(static_cast<int64_t>(args[0].quantity().nanos / kNanosInOne));
}

Value QuantityAsFloat(Context&, Args args) {
  return Value::OfDouble(static_cast<double>(args[0].quantity().nanos) / 1e9);
}

Value QuantitySign(Context&, Args args) {
  const __int128 nanos = args[0].quantity().nanos;
  return Value::OfInt(nanos > 0 ? 1 : (nanos < 0 ? -1 : 0));
}

Quantity QuantityIn(const Value& value) {
  if (value.kind() == Kind::kQuantity) return value.quantity();
  return {value.integer() * kNanosInOne, true};
}

bool FitsInt(__int128 nanos) {
  const __int128 whole = nanos / kNanosInOne;
  return whole <= INT64_MAX && whole >= INT64_MIN;
}

// The sum or the difference of two, as `apply` computes it; it returns true on overflow.
template <typename Apply>
Value QuantityOf(Context& context, Args args, Apply apply) {
  const Quantity left = QuantityIn(args[0]);
  const Quantity right = QuantityIn(args[1]);
  Quantity result;
  if (apply(left.nanos, right.nanos, &result.nanos)) {
    return context.Fail("return error for overflow: the quantity is too large");
  }
  result.is_int = left.is_int && right.is_int && FitsInt(result.nanos);
  return Value::Of(context.Keep(result));
}

Value QuantityAdd(Context& context, Args args) {
  return QuantityOf(context, args, [](__int128 a, __int128 b, __int128* sum) {
    return __builtin_add_overflow(a, b, sum);
  });
}

Value QuantitySubtract(Context& context, Args args) {
  return QuantityOf(context, args, [](__int128 a, __int128 b, __int128* difference) {
    return __builtin_sub_overflow(a, b, difference);
  });
}

int CompareQuantities(Args args) {
  const __int128 left = args[0].quantity().nanos;
  const __int128 right = args[1].quantity().nanos;
  return left < right ? -1 : (left > right ? 1 : 0);
}
Value QuantityIsLess(Context&, Args args) { return Value::OfBool(CompareQuantities(args) < 0); }
Value QuantityIsGreater(Context&, Args args) { return Value::OfBool(CompareQuantities(args) > 0); }
Value QuantityCompare(Context&, Args args) { return Value::OfInt(CompareQuantities(args)); }

constexpr std::array kQuantities{
    Overload{"quantity", "(string): kubernetes.Quantity", QuantityOfText},
    Overload{"isQuantity", "(string): bool", IsQuantity},
    Overload{"isInteger", "kubernetes.Quantity.(): bool", QuantityIsInteger},
    Overload{"asInteger", "kubernetes.Quantity.(): int", QuantityAsInteger},
    Overload{"asApproximateFloat", "kubernetes.Quantity.(): double", QuantityAsFloat},
    Overload{"sign", "(kubernetes.Quantity): int", QuantitySign},
    Overload{"add", "kubernetes.Quantity.(kubernetes.Quantity): kubernetes.Quantity", QuantityAdd},
    Overload{"add", "kubernetes.Quantity.(int): kubernetes.Quantity", QuantityAdd},
    Overload{"sub", "kubernetes.Quantity.(kubernetes.Quantity): kubernetes.Quantity",
             QuantitySubtract},
    Overload{"sub", "kubernetes.Quantity.(int): kubernetes.Quantity", QuantitySubtract},
    Overload{"isLessThan", "kubernetes.Quantity.(kubernetes.Quantity): bool", QuantityIsLess},
    Overload{"isGreaterThan", "kubernetes.Quantity.(kubernetes.Quantity): bool", QuantityIsGreater},
    Overload{"compareTo", "kubernetes.Quantity.(kubernetes.Quantity): int", QuantityCompare},
};

// Whether Kubernetes keeps the number as an int64, and not as a decimal that is never one
// (apimachinery: pkg/api/resource/quantity.go, ParseQuantity).
bool IsInt(const ReadDigits& read, const QuantitySuffix& suffix, Wide nanos) {
  constexpr int64_t kDecimalDigits = 18;
  constexpr int64_t kBinaryDigits = 14;
  const int64_t room = suffix.binary == 0 ? kDecimalDigits : kBinaryDigits - suffix.binary * 3 / 10;
  const int64_t scale = read.exponent + suffix.decimal;
  return read.digits <= room && !(suffix.binary > 0 && read.point) && scale >= 0 &&
         nanos <= kMostNanos;
}

}  // namespace

std::optional<Quantity> ParseQuantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto digits = DigitsOf(text);
  if (!digits) return std::nullopt;
  const auto suffix = SuffixOf(text.substr(digits->length));
  if (!suffix) return std::nullopt;
  Wide nanos = digits->number;
  nanos <<= suffix->binary;
  int64_t exponent = digits->exponent + suffix->decimal + kNanoDigits;
  bool more = digits->more;
  for (; exponent > 0 && nanos > 0 && nanos <= kMostNanos; --exponent) nanos *= 10;
  for (; exponent < 0 && nanos > 0; ++exponent) {
    more = more || nanos % 10 != 0;
    nanos /= 10;
  }
  if (more) ++nanos;
  Quantity quantity;
  quantity.is_int = IsInt(*digits, *suffix, nanos);
  if (nanos > kMostNanos) nanos = kMostNanos;
  quantity.nanos = negative ? -static_cast<__int128>(nanos) : static_cast<__int128>(nanos);
  return quantity;
}

std::span<const Overload> Quantities() { return kQuantities; }

namespace {

bool IsNumeric(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::string_view TakeUntil(std::string_view& rest, char separator) {
  const size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::optional<uint64_t> NumberOfVersion(std::string_view text, bool normalize) {
  if (!IsNumeric(text)) return std::nullopt;
  if (text.size() > 1 && text[0] == '0' && !normalize) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > INT64_MAX) return std::nullopt;
  return number;
}

// Whether all parts between dots are identifiers; numbers of a pre-release have no leading zeros.
bool AreIdentifiers(std::string_view text, bool pre_release) {
  while (true) {
    const bool last = text.find('.') == std::string_view::npos;
    const std::string_view part = TakeUntil(text, '.');
    if (!IsIdentifier(part)) return false;
    if (pre_release && IsNumeric(part) && part.size() > 1 && part[0] == '0') return false;
    if (last) return true;
  }
}

std::optional<Semver> ParseSemver(std::string_view text, bool normalize) {
  if (normalize && text.starts_with('v')) text.remove_prefix(1);
  Semver version;
  const size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    if (!AreIdentifiers(text.substr(plus + 1), false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  bool extra = plus != std::string_view::npos;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    version.pre_release = text.substr(dash + 1);
    if (!AreIdentifiers(version.pre_release, true)) return std::nullopt;
    text = text.substr(0, dash);
    extra = true;
  }
  const auto dots = std::ranges::count(text, '.');
  if (dots > 2 || (dots < 2 && (!normalize || extra))) return std::nullopt;
  size_t index = 0;
  for (uint64_t* part : {&version.major, &version.minor, &version.patch}) {
    if (static_cast<ptrdiff_t>(index++) > dots) break;
    const auto number = NumberOfVersion(TakeUntil(text, '.'), normalize);
    if (!number) return std::nullopt;
    *part = *number;
  }
  return version;
}

int ComparePart(std::string_view a, std::string_view b) {
  const bool numbers = IsNumeric(a) && IsNumeric(b);
  if (numbers && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  if (!numbers && IsNumeric(a) != IsNumeric(b)) return IsNumeric(a) ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

Value SemverFrom(Context& context, std::string_view text, bool normalize) {
  const auto version = ParseSemver(text, normalize);
  if (!version) {
    return context.Fail({"'", text.substr(0, 80), "' is not a semantic version, such as 1.2.3"});
  }
  return Value::Of(context.Keep(*version));
}

Value SemverOf(Context& context, Args args) { return SemverFrom(context, args[0].text(), false); }
Value SemverNormalized(Context& context, Args args) {
  return SemverFrom(context, args[0].text(), args[1].is_true());
}
Value IsSemver(Context&, Args args) {
  return Value::OfBool(ParseSemver(args[0].text(), false).has_value());
}
Value IsSemverNormalized(Context&, Args args) {
  return Value::OfBool(ParseSemver(args[0].text(), args[1].is_true()).has_value());
}
Value SemverMajor(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().major));
}
Value SemverMinor(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().minor));
}
Value SemverPatch(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().patch));
}
Value SemverIsLess(Context&, Args args) {
  return Value::OfBool(CompareSemvers(args[0].semver(), args[1].semver()) < 0);
}
Value SemverIsGreater(Context&, Args args) {
  return Value::OfBool(CompareSemvers(args[0].semver(), args[1].semver()) > 0);
}
Value SemverCompare(Context&, Args args) {
  return Value::OfInt(CompareSemvers(args[0].semver(), args[1].semver()));
}

constexpr std::array kSemvers{
    Overload{"semver", "(string): kubernetes.Semver", SemverOf},
    Overload{"semver", "(string, bool): kubernetes.Semver", SemverNormalized},
    Overload{"isSemver", "(string): bool", IsSemver},
    Overload{"isSemver", "(string, bool): bool", IsSemverNormalized},
    Overload{"major", "kubernetes.Semver.(): int", SemverMajor},
    Overload{"minor", "kubernetes.Semver.(): int", SemverMinor},
    Overload{"patch", "kubernetes.Semver.(): int", SemverPatch},
    Overload{"isLessThan", "kubernetes.Semver.(kubernetes.Semver): bool", SemverIsLess},
    Overload{"isGreaterThan", "kubernetes.Semver.(kubernetes.Semver): bool", SemverIsGreater},
    Overload{"compareTo", "kubernetes.Semver.(kubernetes.Semver): int", SemverCompare},
};

}  // namespace

int CompareSemvers(const Semver& a, const Semver& b) {
  for (const auto part : {&Semver::major, &Semver::minor, &Semver::patch}) {
    if (a.*part != b.*part) return a.*part < b.*part ? -1 : 1;
  }
  std::string_view left = a.pre_release;
  std::string_view right = b.pre_release;
  // A release comes after all of its pre-releases.
  if (left.empty() || right.empty())
    return left.empty() == right.empty() ? 0 : (left.empty() ? 1 : -1);
  while (!left.empty() && !right.empty()) {
    const int order = ComparePart(TakeUntil(left, '.'), TakeUntil(right, '.'));
    if (order != 0) return order;
  }
  if (left.empty() && right.empty()) return 0;
  return left.empty() ? -1 : 1;
}

std::span<const Overload> Semvers() { return kSemvers; }

}  // namespace mindgate::cel
