#pragma once

#include <stop_token>

#include "kube/client.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// Takes our gate from the pod, whose PodState::gate says where it is. kInvalid: the pod is another
// one by now, or has no such gate there any more.
kube::Answer<void> OpenGate(kube::Client& client, const PodState& pod, bool dry_run,
                            const std::stop_token& stop);

}  // namespace mindgate::watcher::scaling
