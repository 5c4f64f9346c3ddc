#pragma once

#include <cstdint>
#include <string_view>

#include "cel/value.h"

namespace mindgate::cel {

// A number as text, in memory of its own.
class NumberText {
 public:
  explicit NumberText(int64_t number);
  explicit NumberText(uint64_t number, int base = 10);
  // As Go's strconv.FormatFloat(number, 'g', -1, 64) writes it: "0.1", "1e+06", "NaN", "+Inf".
  static NumberText OfDouble(double number);
  // The same without an exponent, and with CEL's names: "1000000", "Infinity".
  static NumberText Plain(double number);
  // With so many digits behind the point, at most 50; with an exponent or without: "1.50",
  // "1.5e+00".
  static NumberText Rounded(double number, int digits, bool exponent);

  std::string_view text() const { return {data_, size_}; }
  operator std::string_view() const { return text(); }  // NOLINT(google-explicit-constructor)

 private:
  NumberText() = default;
  void Set(std::string_view text);

  char data_[400];  // 1e308 has 309 digits
  size_t size_ = 0;
};

}  // namespace mindgate::cel
