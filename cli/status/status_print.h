#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "doctor/installation.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"

// The output of `status`.
namespace mindgate::cli {

// One service, and the decision that the watcher would make now.
struct Standing {
  watcher::scaling::ServiceKey service;
  size_t shapes = 0;
  watcher::scaling::Decision decision;
};

struct StatusReport {
  doctor::WatcherState watcher;
  std::vector<Standing> standings;
  Time now{};
};

void PrintStatusTable(const StatusReport& report, bool wide, const Paint& paint, std::ostream& out);

nlohmann::ordered_json StatusJson(const StatusReport& report);

// "3h12m", as in kubectl.
std::string AgeText(std::chrono::seconds age);

}  // namespace mindgate::cli
