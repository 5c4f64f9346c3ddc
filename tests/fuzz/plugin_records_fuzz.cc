// Any bytes as what MindCluster's plugin wrote of its restarts: no crash, a time only for a job
// that the text names, the newest of that job's records and no other, and the same when it is
// written again.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fuzz/require.h"
#include "json/decode.h"
#include "watcher/rescheduling/plugin.h"

namespace {

using namespace mindgate;
using json::Json;
using testing::Require;
using watcher::rescheduling::JobKey;
using watcher::rescheduling::LastRestart;

std::optional<Time> Read(const std::string& text, const JobKey& job) {
  const Json config_map = {{"data", {{std::string(watcher::rescheduling::kRecordsKey), text}}}};
  return LastRestart(json::Document(config_map).root(), job);
}

// All times of a job, over the tree that the other decoder makes.
bool HasRecord(const Json& of_job, Time time) {
  const auto records = of_job.find("RescheduleRecords");
  return std::any_of(records->begin(), records->end(), [&](const Json& record) {
    const auto stamp = record.is_object() ? record.find("RescheduleTimeStamp") : record.end();
    return record.is_object() && stamp != record.end() && stamp->is_number_integer() &&
           *stamp == time.time_since_epoch().count();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto tree = json::Decode(text);
  const JobKey nobody{"default", "a job that no text names"};
  Require(!Read(text, nobody) || (tree && tree->contains(nobody.ns + "/" + nobody.pod_group)));
  if (!tree || !tree->is_object()) return 0;
  size_t jobs = 0;
  for (const auto& [id, of_job] : tree->items()) {
    // What a ConfigMap says is decoded anew for each job: as many as an input can pay for.
    if (++jobs > 8) break;
    const size_t slash = id.find('/');
    if (slash == std::string::npos) continue;
    const JobKey job{id.substr(0, slash), id.substr(slash + 1)};
    const auto last = Read(text, job);
    if (!last) continue;
    Require(HasRecord(of_job, *last));
    for (const Json& record : of_job["RescheduleRecords"]) {
      const Json alone = {{id, {{"RescheduleRecords", {record}}}}};
      Require(Read(alone.dump(), job).value_or(*last) <= *last);
    }
    const Json again = {
        {id,
         {{"RescheduleRecords", {{{"RescheduleTimeStamp", last->time_since_epoch().count()}}}}}}};
    Require(Read(again.dump(), job) == last);
    Require(!Read(again.dump(), nobody) || nobody == job);
  }
  return 0;
}
