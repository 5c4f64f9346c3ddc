#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/json.h"
#include "json/value.h"
#include "schemas/config.h"
#include "watcher/rescheduling/plugin_records.h"
#include "watcher/rescheduling/policy.h"
#include "watcher/rescheduling/response.h"

// Who acts on the faults of a cluster, and when. Pure.
namespace mindgate::what_if {

enum class Actor : uint8_t {
  kNobody,
  kPlugin,      // MindCluster's plugin in Volcano
  kWatcher,     // mindgate's watcher
  kKubernetes,  // its controllers
  kOwner,       // the controller that made the pods
  kDrain,       // whoever drains the node
};
std::string_view ActorName(Actor actor);  // "plugin", as in JSON

// What mindgate's watcher does in a cluster, as far as forecasts need it. The default: no watcher
// runs.
struct WatcherSettings {
  schemas::ReschedulingMode rescheduling = schemas::ReschedulingMode::kOff;
  std::chrono::seconds takeover_after{30};
  std::chrono::seconds settle{2};
  int64_t max_faulty_nodes = 30;  // percent
  bool rebalances = false;        // elasticScaling.mode and elasticScaling.rebalance are enforce
  std::chrono::seconds rebalance_after{60};
  std::chrono::seconds grace_over_time{900};  // also of the plugin
  bool operator==(const WatcherSettings&) const = default;
};

WatcherSettings SettingsOf(const schemas::Config& config);

// As a snapshot has them. What is missing is the default; the names of members that have another
// value than they may are added to `wrong`.
json::Json SettingsJson(const WatcherSettings& settings);
WatcherSettings ReadSettings(const json::Value& written, std::vector<std::string>& wrong);

// When somebody acts, counted from when the fault is known.
struct Due {
  Actor by = Actor::kNobody;
  std::chrono::seconds within{0};  // at the latest; 0: at once
  std::string why{};               // it is not at once; a sentence without its full stop
  bool operator==(const Due&) const = default;
};

// What the plugin knows of a job from before.
struct PluginMemory {
  std::optional<watcher::rescheduling::PluginRestart> restarted{};  // the last time
  bool incomplete = false;                // fewer pods have a node than the job needs
  std::optional<int64_t> retries_left{};  // nothing: as its label says
};

// How long the plugin does not examine a job again that it restarted and that has not got its pods
// back: 300 s and grace-over-time (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/reschedule.go, synCacheFaultJobWithSession).
std::chrono::seconds MemoryOfPlugin(const WatcherSettings& settings);

// Who carries out a response about a job. Where the plugin and the watcher both may, the one that
// acts earlier, and of two at the same time the plugin. `too_many_faults`: the watcher restarts
// nothing (maxFaultyNodes).
Due DueOf(const watcher::rescheduling::Response& response,
          const watcher::rescheduling::FaultPolicy& policy, const PluginMemory& memory,
          const WatcherSettings& settings, bool too_many_faults, Time now);

// "MindCluster's plugin", "mindgate", "nobody".
std::string_view ActorText(Actor actor);

// "at once", "in 17m at the latest".
std::string WhenText(const Due& due);

}  // namespace mindgate::what_if
