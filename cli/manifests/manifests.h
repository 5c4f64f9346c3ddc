#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "admission/export/cel_text.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "cli/manifests/report_ci.h"
#include "json/value.h"
#include "offline/decide.h"
#include "offline/evaluate.h"
#include "offline/fix.h"
#include "schemas/config.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

struct ApplyOptions {
  offline::InputOptions input;
  // Or "json", "name", "jsonpath", "patch", "diff", "table", or one of ReportFormats.
  OutputFormat output = "yaml";
  bool strict = false;
  bool print_denied =
      false;  // in yaml, name and patch output, which otherwise hold admitted objects only
  bool only_findings = false;  // in outputs that list findings, without objects that have none
  bool summary = false;        // the table counts findings instead of listing them
  ColorMode color = ColorMode::kAuto;
};

// Runs admission on manifests. Results on `io.out`; faults, denials and warnings on `io.err` where
// the output does not hold them itself. Returns the exit code.
int RunApply(const ApplyOptions& options, Streams& io);

struct FixCommandOptions {
  offline::InputOptions input;
  bool in_place = false;
  DryRun dry_run = DryRun::kNone;  // with in_place: write nothing, print the difference
  bool strict = false;
  OutputFormat output = "diff";  // or "json", "jsonpath"
  ColorMode color = ColorMode::kAuto;
};

// Writes into manifests what admission would add, and corrections that leave no choice. What is
// left to do by hand is on `io.err`, or in the JSON. Returns the exit code.
int RunFix(const FixCommandOptions& options, Streams& io);

// Replaces a file by its fixed text, whole or not at all, with its mode and owner. Of a symbolic
// link the file that it leads to is replaced. Fails when the file has changed since it was read, is
// read-only, or is not a regular file.
Result<void> WriteFixed(const offline::FixedFile& file);

struct TestOptions {
  std::vector<std::string> paths;
  std::vector<std::string> policies{};  // beside those that suites name
  std::string output = "text";          // or "junit"
  ColorMode color = ColorMode::kAuto;
  Time now{};  // for suites without a time
};

// Runs policy test suites. Returns 1 if a case fails, 2 if a suite is invalid; the others still
// run.
int RunTest(const TestOptions& options, Streams& io);

struct CaseFailure {
  std::string what;  // "outcome", "patch", ...
  std::string text;  // lines; a unified diff from expected to actual where possible
};

struct CaseResult {
  std::string name;
  int line = 0;
  std::vector<CaseFailure> failures;
};

struct SuiteResult {
  std::string file;
  std::string name;
  std::vector<CaseResult> cases;
  std::string unusable;  // why the suite cannot run

  size_t Failures() const;
};

void PrintResults(const std::vector<SuiteResult>& suites, const Paint& paint, std::ostream& out);

// For PrintJunit.
std::vector<JunitSuite> JunitOf(const std::vector<SuiteResult>& suites);

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

// Of `export vap` and `export map`.
struct ExportPolicyOptions {
  std::vector<std::string> rules = {};     // vap: ids or names; empty: all that can be exported
  std::vector<std::string> mutators = {};  // map: names; empty: all that can be exported
  std::string version = "v1beta1";         // map: of admissionregistration.k8s.io
  std::string config_file = {};            // empty: the defaults
  std::vector<std::string> policies{};  // vap: files and folders, beside those of the configuration
  std::string namespace_selector = {};  // as kubectl writes it; empty: every namespace
  std::vector<std::string> excluded_namespaces = {};
  std::vector<std::string> controller_namespaces = {};
  std::vector<std::string> controller_users = {};
  bool list = false;
  ColorMode color = ColorMode::kAuto;
  Time now{};
};

// Prints ValidatingAdmissionPolicies with bindings for the rules that CEL can express and for
// policies of the site's own that a cluster can evaluate, as YAML; with `list`, all of both, and
// why some of them are not printed.
int RunExportVap(const ExportPolicyOptions& options, Streams& io);

// Prints MutatingAdmissionPolicies with bindings that write what mutators write, as YAML; with
// `list`, all mutators and why some of them are not printed.
int RunExportMap(const ExportPolicyOptions& options, Streams& io);

// What both commands share. Nothing when the selector cannot be read; `err` says
// why.
std::optional<exported::ExportOptions> ClusterOptions(const ExportPolicyOptions& options,
                                                      std::ostream& err);
void AddClusterOptions(CLI::App& command, ExportPolicyOptions& options);
void PrintDocuments(std::span<const nlohmann::ordered_json> documents, std::ostream& out);
void AddExportMap(CLI::App& parent, Streams& io, int& exit_code);

// Validates a mindgate.yaml and prints every error with excerpt and caret. Warns about exceptions
// that have expired at `now` or expire within a month. "-" is standard input.
// Its policies are those that it names, and those in `policies` (files and folders).
int RunConfigValidate(const std::string& path, const std::vector<std::string>& policies, Time now,
                      Streams& io);

// Prints the JSON Schema of a file format, with the rules and mutators of this binary: "config"
// (mindgate.yaml), "suite" or "scenario".
int RunConfigSchema(const std::string& format, Streams& io);

// Prints a commented mindgate.yaml with all defaults.
int RunConfigDefaults(Streams& io);

}  // namespace mindgate::cli
