#pragma once

#include <string>

#include "watcher/scaling/instances.h"
#include "watcher/simulation/scenario.h"

namespace mindgate::watcher::simulation {

// What the text of a rule means to the services under it.
struct RuleLook {
  scaling::RuleState state;  // as the watcher reads its ConfigMap
  std::string told;          // for the timeline
};
RuleLook LookAt(const RuleSpec& spec);

// "2 of 3 runs: 1 of g0 and 1 of g1".
std::string ShapeText(const scaling::Service& service, const scaling::Decision& decision);

}  // namespace mindgate::watcher::simulation
