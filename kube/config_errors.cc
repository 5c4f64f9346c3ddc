#include "kube/config_errors.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace mindgate::kube {

void ConfigErrors::Add(const std::string& place, const std::string& what,
                       const std::string& instead) {
  std::string line = place.empty() ? what : place + ": " + what;
  if (!instead.empty()) line += " (" + instead + ")";
  lines_.push_back(std::move(line));
}

Fault ConfigErrors::AsFault() const {
  const size_t shown = std::min(lines_.size(), kMax);
  std::string message = Join(std::span(lines_).first(shown), "\n");
  if (shown < lines_.size()) {
    message += "\nand " + std::to_string(lines_.size() - shown) + " more";
  }
  return {.reason = Reason::kCredentials, .message = std::move(message)};
}

}  // namespace mindgate::kube
