#include <limits>

#include "base/text.h"

namespace mindgate {
namespace {

// value = digits * 10^decimal_exponent * 2^binary_exponent
struct Suffix {
  int64_t decimal_exponent = 0;
  int binary_exponent = 0;
};

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n':
        return Suffix{-9, 0};
      case 'u':
        return Suffix{-6, 0};
      case 'm':
        return Suffix{-3, 0};
      case 'k':
        return Suffix{3, 0};
      case 'M':
        return Suffix{6, 0};
      case 'G':
        return Suffix{9, 0};
      case 'T':
        return Suffix{12, 0};
      case 'P':
        return Suffix{15, 0};
      case 'E':
        return Suffix{18, 0};
      default:
        return std::nullopt;
    }
  }
  if (text.size() == 2 && text[1] == 'i') {
    constexpr std::string_view kBinary = "KMGTPE";
    const size_t power = kBinary.find(text[0]);
    if (power == std::string_view::npos) return std::nullopt;
    return Suffix{0, static_cast<int>(power + 1) * 10};
  }
  if (text[0] == 'e' || text[0] == 'E') {
    // Kubernetes keeps the exponent in an int32.
    const auto exponent = ParseGoInt(text.substr(1));
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (!exponent || *exponent > kMax || *exponent < -kMax) return std::nullopt;
    return Suffix{*exponent, 0};
  }
  return std::nullopt;
}

// The digits of a number as digits * 10^exponent, `digits` without trailing zeros.
struct Decimal {
  uint64_t digits = 0;
  int64_t exponent = 0;
  size_t length = 0;  // of the text read
};

std::optional<Decimal> ParseDigits(std::string_view text) {
  Decimal number;
  int64_t zeros = 0;  // read since the last other digit
  bool seen_digit = false;
  bool seen_point = false;
  for (; number.length < text.size(); ++number.length) {
    const char c = text[number.length];
    if (c == '.') {
      if (seen_point) return std::nullopt;
      seen_point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    seen_digit = true;
    if (seen_point) --number.exponent;
    ++zeros;
    if (c == '0') continue;
    for (; zeros > 0; --zeros) {
      if (number.digits == 0) zeros = 1;  // leading zeros say nothing
      if (__builtin_mul_overflow(number.digits, 10, &number.digits)) return std::nullopt;
    }
    if (__builtin_add_overflow(number.digits, c - '0', &number.digits)) return std::nullopt;
  }
  if (!seen_digit) return std::nullopt;
  number.exponent += zeros;
  return number;
}

}  // namespace

std::optional<int64_t> ParseWholeQuantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto number = ParseDigits(text);
  if (!number) return std::nullopt;
  const auto suffix = ParseSuffix(text.substr(number->length));
  if (!suffix) return std::nullopt;
  if (number->digits == 0) return 0;

  // 64 bits of digits and at most 60 of the suffix.
  unsigned __int128 value = number->digits;
  value <<= suffix->binary_exponent;
  int64_t exponent = number->exponent + suffix->decimal_exponent;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const uint64_t most = negative ? kMax + 1 : kMax;
  for (; exponent > 0 && value <= most; --exponent) value *= 10;
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  if (value > most) return std::nullopt;
  const auto whole = static_cast<uint64_t>(value);
  return static_cast<int64_t>(negative ? 0 - whole : whole);
}

}  // namespace mindgate
