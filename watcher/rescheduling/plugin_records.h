#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "json/value.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {

// The ConfigMap in which MindCluster's plugin tells what it restarted, and its key (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/cache.go). Other ConfigMaps and keys that old
// documents name are not written any more.
inline constexpr std::string_view kRecordsNamespace = "mindx-dl";
inline constexpr std::string_view kRecordsName = "job-reschedule-reason";
inline constexpr std::string_view kRecordsKey = "recent-reschedule-records";

// When the plugin restarted the job the last time; nothing when its records do not say, or cannot
// be understood. Its name for a job is "<namespace>/<PodGroup>", and the PodGroup of an owner ends
// with that one's uid.
std::optional<Time> LastRestart(const json::Value& config_map, const JobKey& job);

}  // namespace mindgate::watcher::rescheduling
