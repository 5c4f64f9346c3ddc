#include "base/natural_order.h"

#include <algorithm>
#include <utility>

namespace mindgate {
namespace {

std::string_view DigitsOf(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

// Compares as the numbers do.
std::pair<size_t, std::string_view> NumberOf(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return {digits.size(), digits};
}

}  // namespace

bool NaturalLess(std::string_view left, std::string_view right) {
  std::string_view a = left;
  std::string_view b = right;
  while (!a.empty() && !b.empty()) {
    const auto digits_a = DigitsOf(a);
    const auto digits_b = DigitsOf(b);
    if (!digits_a.empty() && !digits_b.empty()) {
      const auto number_a = NumberOf(digits_a);
      const auto number_b = NumberOf(digits_b);
      if (number_a != number_b) return number_a < number_b;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    }
    a.remove_prefix(std::max<size_t>(digits_a.size(), 1));
    b.remove_prefix(std::max<size_t>(digits_b.size(), 1));
  }
  return a.empty() && b.empty() ? left < right : a.empty();
}

}  // namespace mindgate
