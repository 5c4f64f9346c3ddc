#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "watcher/frame/leader_client.h"

// Training jobs with subHealthyStrategy graceExit mount ConfigMap reset-config-<job> of their
// namespace. GracefulExit in its reset.json is 1 while the job should save what it has and end, and
// checkCode is the SHA-256 of that text (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/reschedule.go,
// updateResetConfigMapWithGraceExit).
namespace mindgate::watcher::rescheduling {

// A merge patch that makes it so, and fails when the ConfigMap has changed meanwhile; nothing: it
// is so, or it has no reset.json that we understand. Only the number and the code change: the
// plugin writes all of the ConfigMap anew, and loses restartType and labels of others.
std::optional<json::Json> GracefulExitPatch(const json::Value& config_map, bool exits);

// Reads, patches, and does so again when somebody else was faster. Success without a ConfigMap too:
// such a job does not ask for it.
kube::Answer<void> SetGracefulExit(LeaderClient& client, std::string_view ns, std::string_view job,
                                   bool exits);

}  // namespace mindgate::watcher::rescheduling
