#include "watcher/rescheduling/plugin_records.h"

#include <algorithm>

#include "json/decode.h"
#include "watcher/faults/device_report.h"

namespace mindgate::watcher::rescheduling {

using json::Value;

std::optional<Time> LastRestart(const Value& config_map, const JobKey& job) {
  const auto text = json::FindString(json::Find(config_map, "data"), kRecordsKey);
  if (!text || text->empty()) return std::nullopt;
  const auto document = json::Document::Decode(*text);
  if (!document) return std::nullopt;
  const Value* of_job = json::Find(document->root(), job.ns + "/" + job.pod_group);
  const Value* records = json::Find(of_job, "RescheduleRecords");
  if (!json::IsArray(records)) return std::nullopt;
  std::optional<Time> last;
  for (const Value& record : *records) {
    const auto time = faults::TimeOfSeconds(json::Find(record, "RescheduleTimeStamp"));
    if (time) last = std::max(last.value_or(*time), *time);
  }
  return last;
}

}  // namespace mindgate::watcher::rescheduling
