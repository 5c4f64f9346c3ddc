#include "policies/chip_table.h"

#include <algorithm>

#include "policies/places.h"

namespace mindgate::policies {
namespace {

// The first template that asks for whole cards decides who counts them.
std::optional<schemas::GroupChips> CountedByVolcano(const RuleContext& context,
                                                    const schemas::PodGroupView& group) {
  const auto& templates = context.view.templates;
  const auto first =
      std::find_if(group.templates.begin(), group.templates.end(),
                   [&](size_t index) { return !templates[index].chips.resource.empty(); });
  if (first == group.templates.end() || !IsPlacedByVolcano(context, templates[*first])) {
    return std::nullopt;
  }
  return schemas::ReadGroupChips(context.view, group, context.config);
}

}  // namespace

const schemas::GroupChips* ChipTable::Of(const schemas::PodGroupView& group) const {
  if (groups_.empty()) {
    groups_.reserve(context_.view.pod_groups.size());
    for (const schemas::PodGroupView& each : context_.view.pod_groups) {
      groups_.push_back(CountedByVolcano(context_, each));
    }
  }
  const auto& chips = groups_[static_cast<size_t>(&group - context_.view.pod_groups.data())];
  return chips ? &*chips : nullptr;
}

}  // namespace mindgate::policies
