#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "json/value.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {

// The ConfigMap in which MindCluster's plugin records what it restarted, and its key (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/cache.go). Other ConfigMaps and keys that old
// documents name are not written any more.
inline constexpr std::string_view kRecordsNamespace = "mindx-dl";
inline constexpr std::string_view kRecordsName = "job-reschedule-reason";
inline constexpr std::string_view kRecordsKey = "recent-reschedule-records";

// With what of it is understood here.
kube::Answer<json::Document> ReadRecords(LeaderClient& client);

// When the plugin restarted the job the last time; nothing when its records do not say, or cannot
// be understood. Its name for a job is "<namespace>/<PodGroup>", and the PodGroup of an owner ends
// with that one's uid.
std::optional<Time> LastRestart(const json::Value& config_map, const JobKey& job);

// The last restart of each job, by "<namespace>/<PodGroup>".
struct PluginRestart {
  Time time{};
  std::set<std::string> faulty{};  // pods that it called faulty, 10 at most
  bool operator==(const PluginRestart&) const = default;
};
std::map<std::string, PluginRestart, std::less<>> LastRestarts(const json::Value& config_map);

// The ConfigMap in which the plugin notes how many restarts of pods that failed it has left for
// each job, and its key (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/cache.go).
inline constexpr std::string_view kRetriesNamespace = "volcano-system";
inline constexpr std::string_view kRetriesName = "vcjob-fault-npu-cm";
inline constexpr std::string_view kRetriesKey = "remain-retry-times";

// These numbers, by "<namespace>/<PodGroup>"; what cannot be understood is left out.
std::map<std::string, int64_t, std::less<>> RetriesLeft(const json::Value& config_map);

// Which pods of a job the plugin called faulty; what it deleted besides it does not record.
struct PluginRestarts {
  size_t records = 0;
  std::set<std::string> faulty{};
  bool complete = true;  // there may be more: the plugin records no more than 10 pods of a restart
  bool operator==(const PluginRestarts&) const = default;
};

// Those that it recorded from `since` on. Of a job it keeps 10 records; what is more than that, or
// not understood, is left out. Pods' names are those of Kubernetes: up to 253 characters.
PluginRestarts RestartsSince(const json::Value& config_map, const JobKey& job, Time since);

// Where the two do not agree about the pods of a job.
struct PluginDifference {
  std::set<std::string> only_plugin{};  // that the plugin alone called faulty
  std::set<std::string> only_ours{};
  bool operator==(const PluginDifference&) const = default;
};

// Compares the records of one spell of faults, which ends when no pod of the job is faulty, with
// our own decisions in it: `faulty` are the pods that these called faulty, and since when. Nothing
// when they agree, and when either knows of no fault. Pods that we called faulty later than
// kFaultsComeTogether after the first ones are not expected in the records: the plugin does not
// examine a job again that it is restarting.
//
// A difference is no fault of the job. It shows that a version of the plugin decides by other rules
// than those that mindgate knows, or that the two read different reports.
inline constexpr std::chrono::seconds kFaultsComeTogether{1};
std::optional<PluginDifference> Compare(const PluginRestarts& plugin,
                                        const std::map<std::string, Time>& faulty);

// "it called p1, p2 faulty, and mindgate did not": for an Event. Of many pods the first few.
std::string DifferenceText(const PluginDifference& difference);

// Compares what the plugin recorded with what mindgate found, job by job, and reports where the
// plugin called other pods faulty: Event PluginDiffers. Compared are the pods that were faulty from
// a job's first fault until none has been for kQuiet. A job of which mindgate itself restarted
// something is not compared: the plugin may have seen the result. Safe from many threads, one at a
// time to a job.
class PluginCanary {
 public:
  // For as long the plugin may restart what is left, or a replacement be faulty as well.
  static constexpr std::chrono::seconds kQuiet{5};
  // Of a job; with more than these it is not compared.
  static constexpr size_t kMostPods = 1000;

  // Both must outlive it.
  PluginCanary(log::Logger& logger, DecisionListener& decisions)
      : logger_(logger), decisions_(decisions) {}

  // `types`: what is wrong with each of the job's pods now. Returns when it is to be called again;
  // nothing: with the next change.
  std::optional<Time> Observe(LeaderClient& client, const JobKey& key, const Job& job,
                              const std::vector<FaultType>& types, Time now);
  // The job is not compared until its next fault.
  void Forget(const JobKey& key);
  // Of jobs that `exists` denies nothing is kept.
  void Keep(const std::function<bool(const JobKey&)>& exists);

  // Jobs that were reported.
  uint64_t reported() const;

 private:
  using Faulty = std::map<std::string, Time>;  // pods, since when
  struct Spell {
    Faulty faulty{};
    std::optional<Time> quiet_since{};
  };

  std::optional<Time> Note(const JobKey& key, const Job& job, const std::vector<FaultType>& types,
                           Time now, Faulty& over);

  log::Logger& logger_;
  DecisionListener& decisions_;
  mutable Mutex mutex_;
  std::map<JobKey, Spell> jobs_ GUARDED_BY(mutex_);
  uint64_t reported_ GUARDED_BY(mutex_) = 0;
};

// Training jobs with subHealthyStrategy graceExit mount ConfigMap reset-config-<job> of their
// namespace. GracefulExit in its reset.json is 1 while the job should save what it has and end, and
// checkCode is the SHA-256 of that text (mind-cluster:
// component/ascend-for-volcano/internal/rescheduling/reschedule.go,
// updateResetConfigMapWithGraceExit).

// A merge patch that makes it so, and fails when the ConfigMap has changed meanwhile; nothing: it
// is so, or it has no reset.json that we understand. Only the number and the code change: the
// plugin writes all of the ConfigMap again, and loses restartType and labels of others.
std::optional<json::Json> GracefulExitPatch(const json::Value& config_map, bool exits);

// Reads, patches, and does so again when somebody else was faster. Success without a ConfigMap too:
// such a job does not ask for it.
kube::Answer<void> SetGracefulExit(LeaderClient& client, std::string_view ns, std::string_view job,
                                   bool exits);

}  // namespace mindgate::watcher::rescheduling
