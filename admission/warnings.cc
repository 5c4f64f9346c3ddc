#include "admission/warnings.h"

#include <algorithm>

#include "admission/admit.h"

namespace mindgate::admission {
namespace {

constexpr std::string_view kEllipsis = "...";

// Control characters would make the API server drop the whole warning.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string Cut(std::string text) {
  if (text.size() <= kMaxWarning) return text;
  size_t end = text.rfind(' ', kMaxWarning - kEllipsis.size());
  if (end == std::string::npos || end < kMaxWarning / 2) {
    end = kMaxWarning - kEllipsis.size();
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // never inside a character
  }
  text.resize(end);
  return text + std::string(kEllipsis);
}

}  // namespace

std::vector<std::string> Warnings(std::span<const policies::Finding> findings) {
  std::vector<std::string> warnings;
  for (const policies::Finding& finding : findings) {
    if (finding.mode != schemas::Mode::kWarn) continue;
    std::string text = Cut(OneLine(std::string(finding.rule->id) + " " +
                                   std::string(finding.rule->name) + ": " + finding.message));
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) {
      warnings.push_back(std::move(text));
    }
  }
  if (warnings.size() > kMaxWarnings) {
    const size_t left_out = warnings.size() - kMaxWarnings + 1;
    warnings.resize(kMaxWarnings - 1);
    warnings.push_back("and " + std::to_string(left_out) +
                       " more warnings; `mindgate apply -o table` shows all");
  }
  return warnings;
}

}  // namespace mindgate::admission
