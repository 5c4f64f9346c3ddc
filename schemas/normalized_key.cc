#include "schemas/normalized_key.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace mindgate::schemas {

SplitKey SplitOf(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

bool IsMindClusterKey(const SplitKey& key) {
  constexpr std::string_view kDomain = "huawei.com";
  constexpr size_t kTypos = 2;
  const std::string_view prefix = key.prefix;
  if (prefix.empty() || prefix == kDomain) return true;
  if (prefix.size() + kTypos < kDomain.size() || prefix.size() > kDomain.size() + kTypos) {
    return false;
  }
  return EditDistance(prefix, kDomain) <= static_cast<int>(kTypos);
}

NormalizedKey::NormalizedKey(std::string_view name) {
  for (char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool digit = lower >= '0' && lower <= '9';
    if (!digit && !(lower >= 'a' && lower <= 'z')) continue;
    text_[size_++] = lower;
    letters_ |= uint64_t{1} << (digit ? 26 + lower - '0' : lower - 'a');
  }
}

bool NormalizedKey::Resembles(const NormalizedKey& other, int typos) const {
  const auto [shorter, longer] = std::minmax({size_, other.size_});
  if (longer - shorter > static_cast<size_t>(typos)) return false;
  // One typo changes at most one letter into another.
  if (std::popcount(letters_ ^ other.letters_) > 2 * typos) return false;
  return EditDistance(text(), other.text()) <= typos;
}

}  // namespace mindgate::schemas
