#pragma once

#include <optional>
#include <string>

#include "watcher/simulation/scenario.h"

namespace mindgate::watcher::simulation {

// What the text of a rule means to the services under it.
struct RuleLook {
  std::optional<schemas::ScalingRule> rule;
  std::string no_rule;  // why there is none
  std::string told;     // for the timeline
};
RuleLook LookAt(const RuleSpec& spec);

// Why there is no rule while its ConfigMap is not there.
std::string MissingRule(const RuleKey& key);

// "2 of 3 runs: 1 of g0 and 1 of g1".
std::string ShapeText(const scaling::Service& service, const scaling::Decision& decision);

}  // namespace mindgate::watcher::simulation
