#include "what_if/shortage.h"

#include <vector>

#include "base/text.h"

namespace mindgate::what_if {

std::string ShortageText(const Shortage& shortage) {
  const bool one = shortage.pods == 1;
  std::string text = "room for " + Counted(shortage.pods, "more pod");
  if (shortage.npus > 0) {
    text +=
        " with " + std::to_string(shortage.npus) + " " + shortage.resource + (one ? "" : " each");
  }
  std::vector<std::string> labels;
  for (const auto& [key, value] : shortage.node_selector) labels.push_back(key + "=" + value);
  if (!labels.empty()) {
    text += std::string(one ? " on a node" : " on nodes") + " with " + Join(labels, ", ");
  }
  return text + (shortage.one_super_pod ? ", in one super pod" : "");
}

std::string LeftOutText(const Shortage& shortage) {
  // Tenants choose labels, so that there may be any number of reasons.
  constexpr size_t kMaxReasons = 8;
  std::string text = JoinFirst(shortage.left_out, kMaxReasons, ", ", [](const LeftOut& one) {
    return one.why + " on " + std::to_string(one.nodes);
  });
  for (const std::string& each : shortage.unknown) {
    text += (text.empty() ? "" : "; ") + each;
  }
  return text;
}

}  // namespace mindgate::what_if
