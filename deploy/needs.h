#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/application.h"

namespace mindgate::deploy {

// What one role of an application needs of the nodes.
struct RoleNeeds {
  std::string role;  // "engine", "prefill"
  std::string npu_resource;
  int64_t pods = 0;
  int64_t npus_per_pod = 0;
  StringMap node_selector;
};

// Those with NPUs.
std::vector<RoleNeeds> NeedsOf(const Application& application);

}  // namespace mindgate::deploy
