#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/value.h"
#include "schemas/workload.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {

// Pods that manifests may add: a snapshot has room for many more, and no cluster for as many new
// ones at once.
inline constexpr int64_t kMaxPlannedPods = 10'000;

// An object as it would be stored, after admission.
struct ManifestObject {
  const json::Value* object = nullptr;
  std::string ns;
};

struct Applied {
  ClusterSnapshot snapshot;
  std::vector<std::string> problems;  // what could not be taken into account, for people
  size_t workloads = 0;               // objects that make pods
};

// The snapshot with the pods and PodGroups that the controllers of these objects would make, none
// of them placed yet, and with the scaling rules among them. An object that the cluster has already
// takes the place of its pods there. Objects of other kinds change nothing. `options` are those
// with which the objects were admitted.
Applied Apply(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& objects,
              const schemas::ViewOptions& options = {});

}  // namespace mindgate::what_if
