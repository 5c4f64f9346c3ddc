#include "policies/chip_table.h"

namespace mindgate::policies {

const schemas::GroupChips* ChipTable::Of(const schemas::PodGroupView& group) const {
  if (groups_.empty()) {
    groups_.reserve(view_.pod_groups.size());
    for (const schemas::PodGroupView& each : view_.pod_groups) {
      groups_.push_back(schemas::ReadGroupChips(view_, each, config_));
    }
  }
  const auto& chips = groups_[static_cast<size_t>(&group - view_.pod_groups.data())];
  return chips ? &*chips : nullptr;
}

}  // namespace mindgate::policies
