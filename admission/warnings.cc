#include <algorithm>

#include "admission/admit.h"
#include "admission/existing.h"
#include "base/text.h"

namespace mindgate::admission {
namespace {

constexpr std::string_view kEllipsis = "...";

std::string Cut(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = text.rfind(' ', limit - kEllipsis.size());
  if (end == std::string::npos || end < limit / 2) {
    end = limit - kEllipsis.size();
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // never inside a character
  }
  text.resize(end);
  return text + std::string(kEllipsis);
}

// What is cut of a long message is never that it was so before.
std::string WarningOf(const policies::Finding& finding) {
  // Control characters would make the API server drop the whole warning.
  std::string text = OneLine(policies::TitleOf(*finding.rule) + ": " + finding.message);
  if (!finding.existed) return Cut(std::move(text), kMaxWarning);
  text.resize(text.size() - kExisted.size());
  return Cut(std::move(text), kMaxWarning - kExisted.size()) + std::string(kExisted);
}

}  // namespace

std::string ExplainCommand(const std::vector<const policies::Rule*>& rules, size_t limit) {
  std::string command = "kubectl mindgate explain";
  for (size_t i = 0; i < rules.size(); ++i) {
    if (std::find(rules.begin(), rules.begin() + static_cast<ptrdiff_t>(i), rules[i]) !=
        rules.begin() + static_cast<ptrdiff_t>(i)) {
      continue;
    }
    if (i > 0 && command.size() + 1 + rules[i]->id.size() > limit) break;
    command += " " + std::string(rules[i]->id);
  }
  return command;
}

std::vector<std::string> Warnings(std::span<const policies::Finding> findings) {
  std::vector<std::string> warnings;
  std::vector<const policies::Rule*> rules;
  for (const policies::Finding& finding : findings) {
    if (finding.mode != schemas::Mode::kWarn) continue;
    std::string text = WarningOf(finding);
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) {
      warnings.push_back(std::move(text));
      rules.push_back(finding.rule);
    }
  }
  if (warnings.empty()) return warnings;
  std::string last = "more: ";
  if (warnings.size() >= kMaxWarnings) {
    const size_t left_out = warnings.size() - kMaxWarnings + 1;
    last = "and " + std::to_string(left_out) +
           (left_out == 1 ? " more warning: " : " more warnings: ");
    warnings.resize(kMaxWarnings - 1);
  }
  warnings.push_back(last + ExplainCommand(rules, kMaxWarning - last.size()));
  return warnings;
}

}  // namespace mindgate::admission
