#pragma once

#include <chrono>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/what_if/what_if_each.h"
#include "schemas/config.h"
#include "what_if/drain_order.h"
#include "what_if/forecast.h"

namespace mindgate::cli {

struct WhatIfReport {
  Time taken{};                        // the snapshot
  std::vector<std::string> supposed;   // sentences
  std::vector<std::string> manifests;  // as named
  const what_if::Answer& answer;
  std::chrono::seconds grace_over_time = schemas::Config().grace_over_time;
  bool wide = false;                            // all instances, not only what stays down
  std::optional<what_if::DrainOrder> drains{};  // one after the other
};

// The words of the text and of the page, without colors.
std::string InstanceTitle(const what_if::InstanceForecast& instance);
std::string InstanceVerdict(const what_if::InstanceForecast& instance);
// What is shown of an instance: pairs of a word and a sentence.
std::vector<std::pair<std::string, std::string>> InstanceRows(
    const what_if::InstanceForecast& instance, std::chrono::seconds grace_over_time);
std::string ShapeChange(const what_if::ServiceForecast& service);
std::string GroupChanges(const what_if::ServiceForecast& service);
void PrintDrainOrder(const what_if::DrainOrder& drains, bool wide, std::ostream& out);
nlohmann::ordered_json DrainOrderJson(const what_if::DrainOrder& drains);
nlohmann::ordered_json ServiceJson(const what_if::ServiceForecast& service);
// "2 instances recover again, 1 does not. 1 service shrinks."
std::string Summary(const what_if::Forecast& forecast);
// "With chat.yaml applied", "If npu-3 is lost: ...".
std::string AppliedTitle(const WhatIfReport& report);
std::string SupposedTitle(const WhatIfReport& report);

void PrintWhatIf(const WhatIfReport& report, const Paint& paint, std::ostream& out);
void PrintWhatIfJson(const WhatIfReport& report, std::ostream& out);

// One HTML page that needs nothing else: no script, no style sheet, no image, no link. All text is
// escaped.
std::string WhatIfPage(const WhatIfReport& report);

// What each single loss costs: a picture of the cluster, and the worst.
std::string EachPage(const EachReport& report);

}  // namespace mindgate::cli
