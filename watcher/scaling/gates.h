#pragma once

#include <cstddef>
#include <string>

#include "json/json.h"

namespace mindgate::watcher::scaling {

// Our gate before a pod.
struct Gate {
  std::string ns;
  std::string pod;
  std::string uid;   // of the pod
  size_t place = 0;  // in spec.schedulingGates
};

// The JSON Patch that takes it away. kube::Reason::kInvalid is the answer when the pod is another
// one by now, or has no such gate there any more.
json::Json GateRemoval(const Gate& gate);

}  // namespace mindgate::watcher::scaling
