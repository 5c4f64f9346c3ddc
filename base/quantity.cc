#include "base/quantity.h"

#include <limits>

#include "base/text.h"

namespace mindgate {
namespace {

// value = digits * 10^decimal_exponent * 2^binary_exponent
struct Suffix {
  int decimal_exponent = 0;
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
    const auto exponent = ParseGoInt(text.substr(1));
    if (!exponent || *exponent > 18 || *exponent < -18) return std::nullopt;
    return Suffix{static_cast<int>(*exponent), 0};
  }
  return std::nullopt;
}

bool Multiply(int64_t& value, int64_t factor) {
  return !__builtin_mul_overflow(value, factor, &value);
}

}  // namespace

std::optional<int64_t> ParseWholeQuantity(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int64_t digits = 0;
  int fraction_digits = 0;
  bool seen_digit = false;
  bool seen_point = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.') {
      if (seen_point) return std::nullopt;
      seen_point = true;
    } else if (c >= '0' && c <= '9') {
      seen_digit = true;
      if (!Multiply(digits, 10) || __builtin_add_overflow(digits, c - '0', &digits)) {
        return std::nullopt;
      }
      if (seen_point) ++fraction_digits;
    } else {
      break;
    }
  }
  if (!seen_digit) return std::nullopt;
  const auto suffix = ParseSuffix(text.substr(at));
  if (!suffix) return std::nullopt;

  for (int i = 0; i < suffix->binary_exponent; ++i) {
    if (!Multiply(digits, 2)) return std::nullopt;
  }
  int exponent = suffix->decimal_exponent - fraction_digits;
  for (; exponent > 0; --exponent) {
    if (!Multiply(digits, 10)) return std::nullopt;
  }
  for (; exponent < 0 && digits != 0; ++exponent) {
    if (digits % 10 != 0) return std::nullopt;
    digits /= 10;
  }
  return negative ? -digits : digits;
}

}  // namespace mindgate
