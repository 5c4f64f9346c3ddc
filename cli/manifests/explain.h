#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "cli/manifests/apply.h"
#include "json/json.h"
#include "offline/decide.h"
#include "schemas/config.h"

namespace mindgate::cli {

struct ExplainOptions {
  offline::InputOptions input;  // with files: explains the effect on them
  // Else rules and mutators, by ID or name, or as rule/NAME and mutator/NAME; or one of "rules",
  // "mutators" and "keys", which lists those. Empty: lists all.
  std::vector<std::string> topics;
  std::vector<std::string> fault_codes;  // explains these codes of MindCluster instead
  bool argocd = false;                   // prints settings for Argo CD instead
  bool all = false;                      // for files: also rules that passed or do not apply
  std::string output = "text";           // or "json"
  std::string markdown_folder;           // writes the generated pages there instead
  ColorMode color = ColorMode::kAuto;
};

// Explains the effect of each rule on objects, or prints the documentation of rules.
int RunExplain(const ExplainOptions& options, Streams& io);

// What fault codes of MindCluster mean, and what they lead to by the labels of a job. Output "text"
// or "json". Returns kExitUnusable for a code that MindCluster does not ship.
int ExplainFaults(const std::vector<std::string>& codes, const std::string& output, ColorMode color,
                  Streams& io);

// For decisions made with Options::explain: prints every change, every withheld edit and every rule
// that did not pass, each with its reason. Other rules are counted or, with `all`, listed. Lines
// are wrapped at `width` columns. Inputs with a fault are left out.
void PrintExplanation(const std::vector<offline::Decision>& decisions, bool all, const Paint& paint,
                      size_t width, std::ostream& out);

nlohmann::ordered_json ExplanationJson(const std::vector<offline::Decision>& decisions,
                                       const offline::Skipped& skipped);

struct KindsOptions {
  std::string config_file = {};  // whose kinds are listed too; empty: none
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Lists the kinds that mindgate handles (schemas/kinds.h, schemas/site_kinds.h): which profile of
// mindgate.yaml is theirs, what their controllers make, and which registration of the chart sends
// them. Returns kExitUnusable if the configuration is invalid.
int RunKinds(const KindsOptions& options, Streams& io);

// `ignoreDifferences` of an Application of Argo CD: what it must not compare of objects into which
// admission writes. Its differ drops what a cluster adds to maps, and to the lists of Kubernetes'
// own kinds; an item in a list of a custom resource it takes for a difference (argo-cd:
// gitops-engine/pkg/diff, threeWayMergePatch).
json::Json ArgocdSettings(const schemas::Config& config);

}  // namespace mindgate::cli
