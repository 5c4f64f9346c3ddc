#include "json/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace mindgate::json::internal {
namespace {

// Whether a decimal that no double can hold is too large; otherwise it is too small.
bool IsHuge(std::string_view text) {
  constexpr long kFar = 1'000'000'000;
  const size_t e = text.find_first_of("eE");
  long exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc()) exponent = kFar;
    exponent = std::min(exponent, kFar) * (negative ? -1 : 1);
  }
  // Where the first digit that counts stands, relative to the point.
  const std::string_view mantissa = text.substr(0, e);
  const size_t first = mantissa.find_first_of("123456789");
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const long magnitude = static_cast<long>(point) - static_cast<long>(first);
  return exponent + magnitude > 0;
}

}  // namespace

std::optional<double> ParseDecimal(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);  // from_chars takes none
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    if (IsHuge(digits)) return std::nullopt;
    return digits.starts_with('-') ? -0.0 : 0.0;
  }
  return value;
}

std::string FloatKeyText(double value) {
  if (std::isnan(value)) return ".nan";
  const float narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow > 0 ? ".inf" : "-.inf";
  char buffer[64];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, narrow, std::chars_format::scientific);
  const std::string text(buffer, scientific.ptr);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  // Go decides between its two forms as if six digits had been asked for.
  if (exponent < -4 || exponent >= 6) return text;
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof buffer, narrow, std::chars_format::fixed);
  return std::string(buffer, fixed.ptr);
}

}  // namespace mindgate::json::internal
