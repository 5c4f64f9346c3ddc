#pragma once

#include <chrono>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/terminal.h"
#include "kube/access.h"
#include "schemas/config.h"
#include "what_if/forecast.h"
#include "what_if/forecaster.h"
#include "what_if/hypothesis.h"
#include "what_if/snapshot.h"

namespace mindgate::cli {

// Whose single losses are supposed, each alone.
struct EachOptions {
  bool node = false;
  bool card = false;
  std::string label = {};  // of nodes, such as their rack; empty: it is not asked

  bool any() const { return node || card || !label.empty(); }
};

struct EachReport {
  Time taken{};                            // the snapshot
  std::vector<std::string> supposed{};     // what is so in any case, a sentence each
  std::string what;                        // "node", "card" or the label
  std::vector<what_if::Impact> impacts{};  // the worst first
  std::optional<what_if::DrainOrder> drains{};
  std::vector<std::string> problems{};
};

// What one loss stops: services and owners, each once.
std::vector<std::string> StoppedTexts(const what_if::Impact& impact);
// "8 huawei.com/Ascend910, 1 huawei.com/Ascend310P"; empty when none are missing.
std::string MissingText(const what_if::Impact& impact);
// "5 nodes", "1 value of rack".
std::string AllOf(const std::string& what, size_t count);

struct WhatIfOptions {
  kube::AccessFlags cluster = {};
  what_if::Question question = {};
  EachOptions each = {};                    // asked instead of `question`
  std::vector<std::string> manifests = {};  // files, folders, globs or "-"
  std::string snapshot = {};                // a file, or "-"; empty: the live cluster
  std::string config_file = {};             // for the admission of the manifests
  std::string output = "text";              // or "wide", "json", "html"
  ColorMode color = ColorMode::kAuto;
};

// Says what would become of a cluster. Returns kExitDenied if something stays down, is broken or
// shrinks, kExitUnusable if the question, the snapshot or a manifest is invalid.
int RunWhatIf(const WhatIfOptions& options, Streams& io);

struct SimulateOptions {
  std::vector<std::string> paths;  // files, folders, globs or "-"
  std::string output = "text";     // or "json"
};

// Runs scenarios against the watcher's decision logic and prints their timelines. Returns 1 if an
// expectation is not met, 2 if a scenario is invalid; the others still run.
int RunSimulate(const SimulateOptions& options, Streams& io);

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
