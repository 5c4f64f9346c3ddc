#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"
#include "deploy/plan.h"
#include "kube/client.h"

namespace mindgate::cli {

// What of an application finds no room on the cluster as it is now: with the pods that run there,
// gangs, taints, node selectors and super pods, as `mindgate what-if --manifest` places it. Notes,
// since others may leave; its own pods of before do. `objects`: those of the application, and the
// runtime that they name. A cluster that may not be read is a note as well. Writes nothing.
std::vector<deploy::Blocker> LackOfRoom(kube::Client& client, Time now,
                                        const deploy::Application& application,
                                        const std::vector<json::Json>& objects,
                                        const std::stop_token& stop);

}  // namespace mindgate::cli
