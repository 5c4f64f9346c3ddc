#pragma once

#include <string>
#include <string_view>

#include "schemas/versions.h"
#include "support/npu_manifests.h"

// What tests of rules about chips share.
namespace mindgate::testing {

// The key of a node selector, for its value to follow.
inline const std::string kType = "accelerator-type: ";

inline std::string WithPolicy(std::string_view policy, std::string_view chips, int replicas = 1) {
  return Deployment({.chips = std::string(chips), .annotations = kPolicy + std::string(policy)},
                    replicas);
}

inline schemas::Versions MindCluster(schemas::Version version) {
  schemas::Versions versions;
  versions.Set(schemas::Component::kMindCluster, version);
  return versions;
}

}  // namespace mindgate::testing
