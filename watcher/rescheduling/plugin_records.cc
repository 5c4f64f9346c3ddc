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

// Calls `each` with the time and the record of each restart of the job, newest first.
template <typename Each>
void ForEachRecord(const Value& config_map, const JobKey& job, const Each& each) {
  const auto text = json::FindString(json::Find(config_map, "data"), kRecordsKey);
  if (!text || text->empty()) return;
  const auto document = json::Document::Decode(*text);
  if (!document) return;
  const Value* of_job = json::Find(document->root(), job.ns + "/" + job.pod_group);
  const Value* records = json::Find(of_job, "RescheduleRecords");
  if (!json::IsArray(records)) return;
  size_t count = 0;
  for (const Value& record : *records) {
    if (++count > kMaxRecords) return;
    const auto time = faults::TimeOfSeconds(json::Find(record, "RescheduleTimeStamp"));
    if (time) each(*time, record);
  }
}

}  // namespace

kube::Answer<json::Document> ReadRecords(LeaderClient& client) {
  static const json::Projection fields({{"data", std::string(kRecordsKey)}});
  return client.Read(kube::resources::kConfigMaps, kRecordsNamespace, kRecordsName, fields);
}

std::optional<Time> LastRestart(const Value& config_map, const JobKey& job) {
  std::optional<Time> last;
  ForEachRecord(config_map, job,
                [&](Time time, const Value&) { last = std::max(last.value_or(time), time); });
  return last;
}

PluginRestarts RestartsSince(const Value& config_map, const JobKey& job, Time since) {
  PluginRestarts restarts;
  ForEachRecord(config_map, job, [&](Time time, const Value& record) {
    if (time < since) return;
    const Value* tasks = json::Find(record, "ReasonOfTask");
    if (!json::IsArray(tasks)) return;
    ++restarts.records;
    size_t count = 0;
    for (const Value& task : *tasks) {
      std::string pod = json::TextAt(task, {"PodName"});
      const bool is_name = !pod.empty() && pod.size() <= kMaxName;
      if (++count > kMaxTasks || !is_name) {
        restarts.complete = false;
        continue;
      }
      restarts.faulty.insert(std::move(pod));
    }
    if (count >= kMaxTasks) restarts.complete = false;
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
