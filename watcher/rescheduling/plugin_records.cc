#include "watcher/rescheduling/plugin_records.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "faults/device_report.h"
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

}  // namespace mindgate::watcher::rescheduling
