#pragma once

#include <optional>
#include <vector>

#include "policies/rule.h"
#include "schemas/accelerator.h"

namespace mindgate::policies {

// What the NPU plugin counts in each PodGroup of a view: many rules ask, and most objects have no
// NPUs, so it is worked out when the first one asks. Lives no longer than the context;
// one thread at a time.
class ChipTable {
 public:
  explicit ChipTable(const RuleContext& context) : context_(context) {}

  // Of one of the view's groups; null pointer when no pod of it asks for whole cards, or Volcano
  // does not place them.
  const schemas::GroupChips* Of(const schemas::PodGroupView& group) const;

 private:
  const RuleContext& context_;
  mutable std::vector<std::optional<schemas::GroupChips>> groups_;  // as in the view
};

}  // namespace mindgate::policies
