#include "deploy/syntax.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::deploy {
namespace {

constexpr size_t kMaxSubdomain = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsWordCharacter(char c) { return IsLetter(c) || IsDigit(c); }

// [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?, at most 63 characters.
bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxLabel) return false;
  if (!IsWordCharacter(text.front()) || !IsWordCharacter(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool IsDns1035Label(std::string_view text) { return IsDns1123Label(text) && IsLower(text.front()); }

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) return false;
  const auto parts = Split(text, '.');
  return std::all_of(parts.begin(), parts.end(), IsDns1123Label);
}

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) { return text.empty() || IsName(text); }

bool IsVariableName(std::string_view text) {
  if (text.empty() || IsDigit(text.front()) || text == "." || text.starts_with("..")) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsPinnedImage(std::string_view text) {
  const auto fine = [](char c) {
    return IsWordCharacter(c) || std::string_view("-_./:@+").find(c) != std::string_view::npos;
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), fine)) return false;
  const size_t name = text.rfind('/') + 1;  // 0 when there is none
  const size_t mark = text.find_first_of(":@", name);
  return mark != std::string_view::npos && mark > name && mark + 1 < text.size();
}

bool IsAmount(std::string_view text) {
  constexpr std::string_view kUnits[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                         "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  return number.find_first_of("0123456789") != std::string_view::npos &&
         std::count(number.begin(), number.end(), '.') <= 1 &&
         std::find(std::begin(kUnits), std::end(kUnits), text.substr(end)) != std::end(kUnits);
}

}  // namespace mindgate::deploy
