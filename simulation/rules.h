#pragma once

#include <string>

#include "simulation/scenario.h"
#include "watcher/scaling/instances.h"

namespace mindgate::simulation {

// What the text of a rule means to the services under it.
struct RuleLook {
  watcher::scaling::RuleState state;  // as the watcher reads its ConfigMap
  std::string text;                   // for the timeline
};
RuleLook LookAt(const RuleSpec& spec);

// "2 of 3 runs: 1 of g0 and 1 of g1".
std::string ShapeText(const watcher::scaling::Service& service,
                      const watcher::scaling::Decision& decision);

}  // namespace mindgate::simulation
