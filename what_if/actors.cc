#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "what_if/snapshot.h"

namespace mindgate::what_if {
namespace {

using schemas::EnforcementMode;
using schemas::ReschedulingMode;
using std::chrono::seconds;
using watcher::rescheduling::FaultType;

constexpr seconds kPluginKeeps{300};
constexpr int64_t kPercent = 100;

constexpr std::pair<ReschedulingMode, std::string_view> kModes[] = {
    {ReschedulingMode::kOff, "off"},
    {ReschedulingMode::kObserve, "observe"},
    {ReschedulingMode::kTakeover, "takeover"},
    {ReschedulingMode::kEnforce, "enforce"}};

// Reads members that may be missing.
class Members {
 public:
  Members(const json::Value& written, std::vector<std::string>& wrong)
      : written_(written), wrong_(wrong) {}

  void Read(std::string_view key, seconds& value) {
    int64_t count = value.count();
    Read(key, 0, kMaxDuration.count(), count);
    value = seconds(count);
  }
  void Read(std::string_view key, int64_t least, int64_t most, int64_t& value) {
    const json::Value* member = json::Find(written_, key);
    const auto number = json::AsInt(member);
    if (number && *number >= least && *number <= most) {
      value = *number;
    } else if (member != nullptr) {
      wrong_.emplace_back(key);
    }
  }
  void Read(std::string_view key, bool& value) {
    const json::Value* member = json::Find(written_, key);
    if (const auto is = json::AsBool(member)) {
      value = *is;
    } else if (member != nullptr) {
      wrong_.emplace_back(key);
    }
  }
  void Read(std::string_view key, ReschedulingMode& value) {
    const json::Value* member = json::Find(written_, key);
    const auto name = json::AsString(member);
    const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                    [&](const auto& one) { return name && one.second == *name; });
    if (mode != std::end(kModes)) {
      value = mode->first;
    } else if (member != nullptr) {
      wrong_.emplace_back(key);
    }
  }

 private:
  const json::Value& written_;
  std::vector<std::string>& wrong_;
};

// Until the plugin examines the job again; nothing: it does at once. With pod-rescheduling or
// process-recover pods that fail are noticed meanwhile.
std::optional<seconds> PluginReturns(FaultType reason,
                                     const watcher::rescheduling::FaultPolicy& policy,
                                     const PluginMemory& memory, const WatcherSettings& settings,
                                     Time now) {
  if (!memory.restarted || !memory.incomplete) return std::nullopt;
  if (reason == FaultType::kPodFailed && policy.begins_with_faulty_pods()) return std::nullopt;
  const seconds left = memory.restarted->time + MemoryOfPlugin(settings) - now;
  if (left <= seconds(0)) return std::nullopt;
  return std::min(left, MemoryOfPlugin(settings));
}

// Nothing: it does not act.
std::optional<seconds> WatcherActs(const WatcherSettings& settings, bool too_many_faults) {
  if (too_many_faults) return std::nullopt;
  switch (settings.rescheduling) {
    case ReschedulingMode::kEnforce:
      return settings.settle;
    case ReschedulingMode::kTakeover:
      return settings.takeover_after;
    case ReschedulingMode::kOff:
    case ReschedulingMode::kObserve:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ActorName(Actor actor) {
  switch (actor) {
    case Actor::kNobody:
      return "nobody";
    case Actor::kPlugin:
      return "plugin";
    case Actor::kWatcher:
      return "watcher";
    case Actor::kKubernetes:
      return "kubernetes";
    case Actor::kOwner:
      return "owner";
    case Actor::kDrain:
      return "drain";
  }
  return "";
}

std::string_view ActorText(Actor actor) {
  switch (actor) {
    case Actor::kNobody:
      return "nobody";
    case Actor::kPlugin:
      return "MindCluster's plugin";
    case Actor::kWatcher:
      return "mindgate";
    case Actor::kKubernetes:
      return "Kubernetes";
    case Actor::kOwner:
      return "its controller";
    case Actor::kDrain:
      return "the drain";
  }
  return "";
}

std::string WhenText(const Due& due) {
  if (due.within <= seconds(0)) return "at once";
  return "in " + FormatDuration(due.within) + " at the latest";
}

WatcherSettings SettingsOf(const schemas::Config& config) {
  const schemas::Rescheduling& rescheduling = config.rescheduling;
  const schemas::ElasticScaling& scaling = config.elastic_scaling;
  return {.rescheduling = rescheduling.mode,
          .takeover_after = rescheduling.takeover_after,
          .settle = rescheduling.settle,
          .max_faulty_nodes = rescheduling.max_faulty_nodes,
          .rebalances = scaling.mode == EnforcementMode::kEnforce &&
                        scaling.rebalance == EnforcementMode::kEnforce,
          .rebalance_after = scaling.rebalance_after,
          .grace_over_time = config.grace_over_time};
}

json::Json SettingsJson(const WatcherSettings& settings) {
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes), [&](const auto& one) {
    return one.first == settings.rescheduling;
  });
  return {{"rescheduling", mode->second},
          {"takeoverAfter", settings.takeover_after.count()},
          {"settle", settings.settle.count()},
          {"maxFaultyNodes", settings.max_faulty_nodes},
          {"rebalances", settings.rebalances},
          {"rebalanceAfter", settings.rebalance_after.count()},
          {"graceOverTime", settings.grace_over_time.count()}};
}

WatcherSettings ReadSettings(const json::Value& written, std::vector<std::string>& wrong) {
  WatcherSettings settings;
  Members members(written, wrong);
  members.Read("rescheduling", settings.rescheduling);
  members.Read("takeoverAfter", settings.takeover_after);
  members.Read("settle", settings.settle);
  members.Read("maxFaultyNodes", 1, kPercent, settings.max_faulty_nodes);
  members.Read("rebalances", settings.rebalances);
  members.Read("rebalanceAfter", settings.rebalance_after);
  members.Read("graceOverTime", settings.grace_over_time);
  return settings;
}

seconds MemoryOfPlugin(const WatcherSettings& settings) {
  return kPluginKeeps + settings.grace_over_time;
}

Due DueOf(const watcher::rescheduling::Response& response,
          const watcher::rescheduling::FaultPolicy& policy, const PluginMemory& memory,
          const WatcherSettings& settings, bool too_many_faults, Time now) {
  if (response.step == watcher::rescheduling::Step::kNothing ||
      response.step == watcher::rescheduling::Step::kFails) {
    return {};
  }
  const auto returns = PluginReturns(response.reason, policy, memory, settings, now);
  if (!returns) return {.by = Actor::kPlugin};
  const std::string since = "MindCluster's plugin has been restarting the job since " +
                            FormatTime(memory.restarted->time) + " and examines it again ";
  const auto acts = WatcherActs(settings, too_many_faults);
  if (acts && *acts < *returns) {
    return {Actor::kWatcher, *acts, since + "in " + FormatDuration(*returns) + " at the latest"};
  }
  return {Actor::kPlugin, *returns, since + "then"};
}

}  // namespace mindgate::what_if
