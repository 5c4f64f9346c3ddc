#include "cel/library/text_of.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace mindgate::cel {
namespace {

std::string_view NameOfSpecial(double number, bool go) {
  if (std::isnan(number)) return "NaN";
  if (number > 0) return go ? "+Inf" : "Infinity";
  return go ? "-Inf" : "-Infinity";
}

}  // namespace

NumberText::NumberText(int64_t number) {
  const auto end = std::to_chars(data_, data_ + sizeof data_, number).ptr;
  size_ = static_cast<size_t>(end - data_);
}

NumberText::NumberText(uint64_t number, int base) {
  const auto end = std::to_chars(data_, data_ + sizeof data_, number, base).ptr;
  size_ = static_cast<size_t>(end - data_);
}

void NumberText::Set(std::string_view text) {
  size_ = std::min(text.size(), sizeof data_);
  std::memcpy(data_, text.data(), size_);
}

NumberText NumberText::Plain(double number) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, false));
    return made;
  }
  const auto end =
      std::to_chars(made.data_, made.data_ + sizeof made.data_, number, std::chars_format::fixed)
          .ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  return made;
}

NumberText NumberText::OfDouble(double number) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, true));
    return made;
  }
  const auto end = std::to_chars(made.data_, made.data_ + sizeof made.data_, number,
                                 std::chars_format::scientific)
                       .ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  const size_t at = made.text().find('e');
  int exponent = 0;
  const size_t sign = made.data_[at + 1] == '+' ? 1 : 0;
  std::from_chars(made.data_ + at + 1 + sign, end, exponent);
  constexpr int kLeast = -4;
  constexpr int kMost = 6;
  return exponent < kLeast || exponent >= kMost ? made : Plain(number);
}

NumberText NumberText::Rounded(double number, int digits, bool exponent) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, false));
    return made;
  }
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end =
      std::to_chars(made.data_, made.data_ + sizeof made.data_, number, format, digits).ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  return made;
}

}  // namespace mindgate::cel
