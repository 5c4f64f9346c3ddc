#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <set>
#include <string>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/status/status.h"
#include "what_if/survey.h"

namespace mindgate::cli {

// `status --faults`: the faulty nodes and chips that MindCluster reports, and the pods that use
// them. Returns kExitUnusable if the cluster cannot be read.
int RunFaultStatus(const StatusOptions& options, Streams& io);

// What of the survey concerns these pods and nodes.
what_if::Survey Concerning(what_if::Survey survey, const std::string& ns,
                           const std::set<std::string>& pods, const std::set<std::string>& nodes);
// `source` is what was asked for, `grace_over_time` that of the watcher.
void PrintFaultTable(const what_if::Survey& survey, schemas::FaultSource source,
                     std::chrono::seconds grace_over_time, Time now, const Paint& paint,
                     std::ostream& out);
nlohmann::ordered_json FaultJson(const what_if::Survey& survey);

}  // namespace mindgate::cli
