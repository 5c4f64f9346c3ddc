#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/application.h"
#include "deploy/render.h"

namespace mindgate::deploy {

// What one role of an application needs of the nodes.
struct RoleNeeds {
  std::string role;  // "engine", "prefill"
  std::string npu_resource;
  int64_t pods = 0;
  int64_t npus_per_pod = 0;
  StringMap node_selector;
};

// Of the pods with NPUs that controllers make of the objects (schemas/children.h), as the objects
// stand; an object whose runtime fills in what is missing says nothing of it.
std::vector<RoleNeeds> NeedsOf(const std::vector<RenderedObject>& objects);

}  // namespace mindgate::deploy
