#include "base/spelling.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace mindgate {

Word::Word(std::string_view key) {
  for (char c : key) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool digit = lower >= '0' && lower <= '9';
    if (!digit && !(lower >= 'a' && lower <= 'z')) continue;
    text_[size_++] = lower;
    letters_ |= uint64_t{1} << (digit ? 26 + lower - '0' : lower - 'a');
  }
}

bool Resembles(const Word& a, const Word& b, int typos) {
  const auto [shorter, longer] = std::minmax({a.text().size(), b.text().size()});
  if (longer - shorter > static_cast<size_t>(typos)) return false;
  // One typo changes at most one letter into another.
  if (std::popcount(a.letters() ^ b.letters()) > 2 * typos) return false;
  return EditDistance(a.text(), b.text()) <= typos;
}

}  // namespace mindgate
