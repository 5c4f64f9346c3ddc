#include "schemas/reading.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/pointer.h"

namespace mindgate::schemas {

void Reading::Fault(std::string_view path, std::string message, std::string hint) {
  if (faults_.size() == kMaxKept) {
    ++dropped_;
  } else {
    faults_.push_back(Describe(path, std::move(message), std::move(hint)));
  }
}

void Reading::Warn(std::string_view path, std::string message, std::string hint) {
  if (warnings_.size() == kMaxKept) return;
  warnings_.push_back(Describe(path, "warning: " + std::move(message), std::move(hint)));
}

Reading::Found Reading::Describe(std::string_view path, std::string message,
                                 std::string hint) const {
  return {std::string(path),
          {At(path), json::FieldPath(root_, path), std::move(message), std::move(hint)}};
}

json::Issues Reading::Faults() const {
  json::Issues issues = ByPlace(faults_);
  issues.Drop(dropped_);
  return issues;
}

json::Issues Reading::ByPlace(std::vector<Found> found) {
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    const json::Position& left = a.issue.at;
    const json::Position& right = b.issue.at;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  json::Issues issues;
  for (Found& each : found) issues.Add(std::move(each.issue));
  return issues;
}

}  // namespace mindgate::schemas
