#include "watcher/rescheduling/plugin.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "faults/node_faults.h"
#include "faults/reports.h"
#include "json/decode.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {

using json::Value;

namespace {

// As many as the plugin keeps of a job, and names of a restart (MaxRescheduleRecordsNum).
constexpr size_t kMaxRecords = 10;
constexpr size_t kMaxTasks = 10;
constexpr size_t kMaxName = 253;
constexpr size_t kPodsInText = 5;

// What the plugin wrote under a key of a ConfigMap; nothing: nothing that can be understood.
std::optional<json::Document> WrittenUnder(const Value& config_map, std::string_view key) {
  const auto text = json::FindString(json::Find(config_map, "data"), key);
  if (!text || text->empty()) return std::nullopt;
  auto document = json::Document::Decode(*text);
  if (!document) return std::nullopt;
  return *std::move(document);
}

// Calls `each` with the time and the record of each restart of a job, newest first.
template <typename Each>
void ForEachRecord(const Value* of_job, const Each& each) {
  const Value* records = json::Find(of_job, "RescheduleRecords");
  if (!json::IsArray(records)) return;
  size_t count = 0;
  for (const Value& record : *records) {
    if (++count > kMaxRecords) return;
    const auto time = faults::TimeOfSeconds(json::Find(record, "RescheduleTimeStamp"));
    if (time) each(*time, record);
  }
}

// Adds the names of the pods that a record calls faulty; false: there may be more.
bool AddFaulty(const Value& record, std::set<std::string>& faulty) {
  const Value* tasks = json::Find(record, "ReasonOfTask");
  bool complete = true;
  size_t count = 0;
  if (!json::IsArray(tasks)) return true;
  for (const Value& task : *tasks) {
    std::string pod = json::TextAt(task, {"PodName"});
    const bool is_name = !pod.empty() && pod.size() <= kMaxName;
    if (++count > kMaxTasks || !is_name) {
      complete = false;
      continue;
    }
    faulty.insert(std::move(pod));
  }
  return complete && count < kMaxTasks;
}

std::optional<PluginRestart> LastOf(const Value* of_job) {
  std::optional<PluginRestart> last;
  ForEachRecord(of_job, [&](Time time, const Value& record) {
    if (last && last->time >= time) return;
    last = PluginRestart{time, {}};
    AddFaulty(record, last->faulty);
  });
  return last;
}

std::string NameOf(const JobKey& job) { return job.ns + "/" + job.pod_group; }

}  // namespace

kube::Answer<json::Document> ReadRecords(LeaderClient& client) {
  static const json::Projection fields({{"data", std::string(kRecordsKey)}});
  return client.Read(kube::resources::kConfigMaps, kRecordsNamespace, kRecordsName, fields);
}

std::optional<Time> LastRestart(const Value& config_map, const JobKey& job) {
  const auto written = WrittenUnder(config_map, kRecordsKey);
  const auto last = written ? LastOf(json::Find(written->root(), NameOf(job))) : std::nullopt;
  return last ? std::optional(last->time) : std::nullopt;
}

std::map<std::string, PluginRestart, std::less<>> LastRestarts(const Value& config_map) {
  std::map<std::string, PluginRestart, std::less<>> restarts;
  const auto written = WrittenUnder(config_map, kRecordsKey);
  if (!written) return restarts;
  for (const auto& [job, records] : written->root().members()) {
    if (auto last = LastOf(&records)) restarts.emplace(job, *std::move(last));
  }
  return restarts;
}

std::map<std::string, int64_t, std::less<>> RetriesLeft(const Value& config_map) {
  std::map<std::string, int64_t, std::less<>> left;
  const auto written = WrittenUnder(config_map, kRetriesKey);
  if (!written) return left;
  for (const auto& [job, entry] : written->root().members()) {
    if (const auto times = json::AsInt(json::Find(entry, "Times"))) left.emplace(job, *times);
  }
  return left;
}

PluginRestarts RestartsSince(const Value& config_map, const JobKey& job, Time since) {
  PluginRestarts restarts;
  const auto written = WrittenUnder(config_map, kRecordsKey);
  if (!written) return restarts;
  ForEachRecord(json::Find(written->root(), NameOf(job)), [&](Time time, const Value& record) {
    if (time < since) return;
    if (!json::IsArray(json::Find(record, "ReasonOfTask"))) return;
    ++restarts.records;
    if (!AddFaulty(record, restarts.faulty)) restarts.complete = false;
  });
  return restarts;
}

std::optional<PluginDifference> Compare(const PluginRestarts& plugin,
                                        const std::map<std::string, Time>& faulty) {
  if (plugin.records == 0 || faulty.empty()) return std::nullopt;
  Time first = Time::max();
  for (const auto& [pod, since] : faulty) first = std::min(first, since);
  PluginDifference difference;
  for (const std::string& pod : plugin.faulty) {
    if (!faulty.contains(pod)) difference.only_plugin.insert(pod);
  }
  for (const auto& [pod, since] : faulty) {
    const bool is_expected = plugin.complete && since <= first + kFaultsComeTogether;
    if (is_expected && !plugin.faulty.contains(pod)) difference.only_ours.insert(pod);
  }
  if (difference == PluginDifference()) return std::nullopt;
  return difference;
}

std::string DifferenceText(const PluginDifference& difference) {
  std::vector<std::string> parts;
  if (!difference.only_plugin.empty()) {
    parts.push_back("it called " + JoinFirst(difference.only_plugin, kPodsInText) +
                    " faulty, and mindgate did not");
  }
  if (!difference.only_ours.empty()) {
    parts.push_back("mindgate called " + JoinFirst(difference.only_ours, kPodsInText) +
                    " faulty, and it did not");
  }
  return Join(parts, "; ");
}

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

std::optional<Time> PluginCanary::Observe(LeaderClient& client, const JobKey& key, const Job& job,
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
  DecisionRecord record{.kind = DecisionKind::kPluginDiffers, .ns = key.ns};
  record.about = {{"podGroup", key.pod_group}};
  record.reason = "Volcano's plugin restarted this job, and " + DifferenceText(*difference) +
                  "; its version may decide by other rules than mindgate";
  record.regarding = job.regarding;
  decisions_.Report(std::move(record));
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

namespace {

constexpr std::string_view kKey = "reset.json";
constexpr std::string_view kMember = "GracefulExit";
// The plugin's device plugin writes to it as well, whenever a chip is reset.
constexpr int kMostTries = 3;

// The text with the number in it; nothing: it is no object.
std::optional<std::string> With(std::string_view text, std::string_view number) {
  const auto document = json::Document::Decode(text);
  if (!document || !json::IsObject(&document->root())) return std::nullopt;
  std::string changed(text);
  if (const std::string_view value = faults::TextOfMember(text, kMember); !value.empty()) {
    changed.replace(static_cast<size_t>(value.data() - text.data()), value.size(), number);
    return changed;
  }
  const bool is_empty = document->root().empty();
  changed.insert(changed.rfind('}'),
                 (is_empty ? "\"" : ",\"") + std::string(kMember) + "\":" + std::string(number));
  return changed;
}

}  // namespace

std::optional<json::Json> GracefulExitPatch(const json::Value& config_map, bool exits) {
  const std::string text = json::TextAt(config_map, {"data", kKey});
  const std::string_view number = exits ? "1" : "0";
  const std::string_view there = faults::TextOfMember(text, kMember);
  if (there == number || (there.empty() && !exits)) return std::nullopt;
  std::optional<std::string> changed = With(text, number);
  if (!changed) return std::nullopt;
  const std::string code = faults::Sha256Hex(*changed);
  return json::Json{
      {"metadata",
       {{"resourceVersion", json::TextAt(config_map, {"metadata", "resourceVersion"})}}},
      {"data", {{std::string(kKey), *std::move(changed)}, {"checkCode", code}}}};
}

kube::Answer<void> SetGracefulExit(LeaderClient& client, std::string_view ns, std::string_view job,
                                   bool exits) {
  const std::string name = "reset-config-" + std::string(job);
  for (int tries = 1;; ++tries) {
    static const json::Projection fields({{"metadata", "resourceVersion"}, {"data", "reset.json"}});
    const auto config_map = client.Read(kube::resources::kConfigMaps, ns, name, fields);
    if (!config_map) {
      if (config_map.error().reason == kube::Reason::kNotFound) return {};
      return tl::make_unexpected(config_map.error());
    }
    const auto patch = GracefulExitPatch(config_map->root(), exits);
    if (!patch) return {};
    const auto patched = client.MergePatch(kube::resources::kConfigMaps, ns, name, *patch);
    if (patched) return {};
    if (patched.error().reason != kube::Reason::kConflict || tries == kMostTries) {
      return tl::make_unexpected(patched.error());
    }
  }
}

}  // namespace mindgate::watcher::rescheduling
