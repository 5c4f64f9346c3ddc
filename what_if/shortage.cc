#include "what_if/shortage.h"

#include <vector>

#include "base/text.h"

namespace mindgate::what_if {

std::string ShortageText(const Shortage& shortage) {
  const bool one = shortage.pods == 1;
  std::string text = "room for " + std::to_string(shortage.pods) + " more pod" + (one ? "" : "s");
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

}  // namespace mindgate::what_if
