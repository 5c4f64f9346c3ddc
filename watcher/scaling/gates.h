#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include "kube/client.h"

namespace mindgate::watcher::scaling {

// Our gate before a pod.
struct Gate {
  std::string ns;
  std::string pod;
  std::string uid;   // of the pod
  size_t place = 0;  // in spec.schedulingGates
};

// Takes it away. kInvalid: the pod is another one by now, or has no such gate there any more.
kube::Answer<void> OpenGate(kube::Client& client, const Gate& gate, bool dry_run,
                            const std::stop_token& stop);

}  // namespace mindgate::watcher::scaling
