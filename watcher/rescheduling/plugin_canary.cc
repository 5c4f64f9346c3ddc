#include "watcher/rescheduling/plugin_canary.h"

#include <algorithm>
#include <utility>

#include "watcher/rescheduling/plugin_records.h"

namespace mindgate::watcher::rescheduling {

// Takes what was faulty into `over` when it is to be compared.
std::optional<Time> PluginCanary::Note(const JobKey& key, const Job& job,
                                       const std::vector<FaultType>& types, Time now,
                                       Faulty& over) {
  const MutexLock lock(mutex_);
  const bool any = std::any_of(types.begin(), types.end(),
                               [](FaultType type) { return type != FaultType::kHealthy; });
  if (any) {
    Spell& spell = jobs_[key];
    spell.quiet_since.reset();
    for (size_t i = 0; i < types.size() && spell.faulty.size() <= kMostPods; ++i) {
      if (types[i] != FaultType::kHealthy) spell.faulty.emplace(job.tasks[i].pod, now);
    }
    return std::nullopt;
  }
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return std::nullopt;
  Spell& spell = found->second;
  if (!spell.quiet_since) spell.quiet_since = now;
  if (const Time end = *spell.quiet_since + kQuiet; end > now) return end;
  if (spell.faulty.size() <= kMostPods) over = std::move(spell.faulty);
  jobs_.erase(found);
  return std::nullopt;
}

std::optional<Time> PluginCanary::Look(LeaderClient& client, const JobKey& key, const Job& job,
                                       const std::vector<FaultType>& types, Time now) {
  Faulty faulty;
  const std::optional<Time> again = Note(key, job, types, now, faulty);
  if (faulty.empty()) return again;
  Time first = Time::max();
  for (const auto& [pod, since] : faulty) first = std::min(first, since);
  const auto records = ReadRecords(client);
  if (!records) {
    // There are none before the plugin restarts the first job.
    if (records.error().reason == kube::Reason::kNotFound) return std::nullopt;
    logger_.Warning(
        "what Volcano's plugin recorded of a job cannot be compared",
        {{"namespace", key.ns}, {"pod_group", key.pod_group}, {"fault", records.error().message}});
    return std::nullopt;
  }
  const auto difference = Compare(RestartsSince(records->root(), key, first - kQuiet), faulty);
  if (!difference) return std::nullopt;
  {
    const MutexLock lock(mutex_);
    ++reported_;
  }
  DecisionRecord record;
  record.controller = "rescheduling";
  record.ns = key.ns;
  record.what = "the plugin differs";
  record.about = {{"podGroup", key.pod_group}};
  record.reason = "Volcano's plugin restarted this job, and " + DifferenceText(*difference) +
                  "; its version may decide by other rules than mindgate";
  record.regarding = job.regarding;
  record.type = kube::EventRecord::Type::kWarning;
  record.event_reason = "PluginDiffers";
  record.event_action = "Compare";
  decisions_.Tell(std::move(record));
  return std::nullopt;
}

void PluginCanary::Forget(const JobKey& key) {
  const MutexLock lock(mutex_);
  jobs_.erase(key);
}

void PluginCanary::Keep(const std::function<bool(const JobKey&)>& exists) {
  const MutexLock lock(mutex_);
  std::erase_if(jobs_, [&](const auto& job) { return !exists(job.first); });
}

uint64_t PluginCanary::reported() const {
  const MutexLock lock(mutex_);
  return reported_;
}

}  // namespace mindgate::watcher::rescheduling
