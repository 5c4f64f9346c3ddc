#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schemas/config.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"
#include "watcher/scaling/pod_group.h"
#include "why/facts.h"

namespace mindgate::why {

// What elastic scaling sees of a namespace: its pods and PodGroups under rules.
struct ScalingView {
  std::vector<watcher::scaling::PodPtr> pods{};
  std::vector<watcher::scaling::PodGroupPtr> pod_groups{};
  // By name; nothing for a ConfigMap that is not there. Without an entry: it could not be read.
  std::map<std::string, std::optional<watcher::scaling::RuleState>> rules{};
};

// What the watcher would decide about the pods of `facts` that are behind mindgate's gate.
void AddHeld(const ScalingView& view, const schemas::ElasticScaling& settings, Facts& facts);

}  // namespace mindgate::why
