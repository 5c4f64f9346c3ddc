#include "cli/manifests/export.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

#include "base/clock.h"
#include "base/problem.h"
#include "base/text.h"
#include "cli/console/columns.h"
#include "cli/console/commands.h"
#include "export/policy.h"
#include "json/yaml.h"
#include "offline/evaluate.h"
#include "policies/engine.h"

namespace mindgate::cli {
namespace {

using exported::ExportedRule;
using policies::Rule;

// Those of charts/mindgate/values.yaml: namespaces of the cluster, MindCluster and the frameworks.
constexpr std::array kExcluded = std::to_array<const char*>(
    {"kube-system", "kube-public", "kube-node-lease", "mindx-dl", "cluster-system", "npu-exporter",
     "volcano-system", "volcano-monitoring", "lws-system", "ome", "aibrix-system"});
constexpr std::array kControllers =
    std::to_array<const char*>({"kube-system", "mindx-dl", "volcano-system", "volcano-monitoring",
                                "lws-system", "ome", "aibrix-system"});

// One rule and its row; null pointer when it has none.
struct Candidate {
  const Rule* rule;
  const ExportedRule* row;
};

void PrintList(std::span<const Candidate> candidates, const schemas::Config& config,
               const Paint& paint, std::ostream& out) {
  Table table({TableCell("RULE"), TableCell("NAME"), TableCell("MODE"), TableCell("EXPORTED"),
               TableCell("REASON")});
  for (const auto& [rule, row] : candidates) {
    table.Add({TableCell(std::string(rule->id)), TableCell(std::string(rule->name)),
               TableCell(std::string(schemas::ModeName(policies::ModeFor(*rule, config, "")))),
               TableCell(row != nullptr ? "yes" : "no"),
               TableCell(std::string(exported::WhyNotExported(rule->id)))});
  }
  table.Print(paint, out);
}

// The rules that were asked for by name, all of them when none was. Nothing when a name is unknown
// or has no policy; `err` says which.
std::optional<std::vector<Candidate>> Wanted(const std::vector<std::string>& names,
                                             std::span<const Candidate> all, std::ostream& err) {
  if (names.empty()) return std::vector<Candidate>(all.begin(), all.end());
  std::vector<Candidate> wanted;
  bool sound = true;
  for (const std::string& name : names) {
    const Rule* rule = policies::FindRule(name);
    const auto found = std::ranges::find(all, rule, &Candidate::rule);
    if (rule == nullptr) {
      PrintError(err, "--rule " + Quote(name) + ": there is no such rule",
                 "`mindgate export vap --list` has all of them");
      sound = false;
    } else if (found->row == nullptr) {
      PrintError(
          err,
          "--rule " + std::string(rule->id) +
              " has no policy: " + std::string(exported::WhyNotExported(rule->id)),
          "leave it to mindgate's webhook, or to `mindgate apply` before objects are applied");
      sound = false;
    } else {
      wanted.push_back(*found);
    }
  }
  if (!sound) return std::nullopt;
  return wanted;
}

void WarnOfEnds(const schemas::Config& config, const exported::ExportOptions& options,
                std::ostream& err) {
  for (const size_t i : exported::ExportedExceptions(config, options)) {
    const schemas::Exception& exception = config.exceptions[i];
    err << "warning: exceptions[" << i << "] of " << exception.owner << " ends on "
        << FormatTime(exception.expires)
        << ", but a policy has no clock and keeps it: export the policies again after that day\n";
  }
}

}  // namespace

int RunExportVap(const ExportVapOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  const std::vector<ExportedRule> rows = exported::ExportedRules(*config);
  std::vector<Candidate> all;
  for (const Rule* rule : policies::Catalogue()) {
    const auto row = std::ranges::find(rows, rule->id, &ExportedRule::id);
    all.push_back({rule, row == rows.end() ? nullptr : &*row});
  }
  if (options.list) {
    PrintList(all, *config, Paint(options.color, io.out_is_terminal), io.out);
    return kExitDone;
  }
  const auto wanted = Wanted(options.rules, all, io.err);
  const auto selector = offline::ReadSelector(options.namespace_selector, io.err);
  if (!wanted || !selector) return kExitUnusable;
  const exported::ExportOptions export_options = {
      .controller_namespaces = options.controller_namespaces,
      .controller_users = options.controller_users,
      .excluded_namespaces = options.excluded_namespaces,
      .namespace_selector = *selector,
      .now = options.now};
  for (const auto& [rule, row] : *wanted) {
    if (row == nullptr) continue;
    for (const auto& document : exported::PoliciesOf(*rule, *row, *config, export_options)) {
      io.out << "---\n" << json::EncodeYaml(json::Json(document));
    }
  }
  WarnOfEnds(*config, export_options, io.err);
  return kExitDone;
}

void AddExport(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command = parent.add_subcommand(
      "export", "Print policies of Kubernetes for clusters without the webhook");
  command->require_subcommand(1);
  command->footer(R"(Example:
  mindgate export vap > policies.yaml)");
  auto options = std::make_shared<ExportVapOptions>();
  options->excluded_namespaces.assign(kExcluded.begin(), kExcluded.end());
  options->controller_namespaces.assign(kControllers.begin(), kControllers.end());
  options->controller_users = {"system:kube-controller-manager"};
  CLI::App* vap =
      command->add_subcommand("vap", "Print rules as ValidatingAdmissionPolicies with bindings");
  vap->add_option("--rule", options->rules, "Rule by id or name; repeat it for several")
      ->type_name("RULE")
      ->envname("MINDGATE_EXPORT_RULE");
  vap->add_option("--config", options->config_file,
                  "Configuration file, whose modes, overrides and exceptions are exported")
      ->type_name("FILE")
      ->envname("MINDGATE_CONFIG");
  vap->add_option("--namespace-selector", options->namespace_selector,
                  "Labels of the namespaces in which objects are judged, such as team=serving")
      ->type_name("SELECTOR")
      ->envname("MINDGATE_NAMESPACE_SELECTOR");
  vap->add_option("--exclude-namespace", options->excluded_namespaces,
                  "Namespace in which nothing is judged; repeat it for several. The default are "
                  "those of the cluster, MindCluster and the frameworks, as in the chart")
      ->type_name("NAMESPACE")
      ->envname("MINDGATE_EXCLUDE_NAMESPACE");
  vap->add_option("--controller-namespace", options->controller_namespaces,
                  "Namespace whose ServiceAccounts are controllers: what they make of an object is "
                  "not judged again. The default are those of the chart")
      ->type_name("NAMESPACE")
      ->envname("MINDGATE_CONTROLLER_NAMESPACE");
  vap->add_option("--controller-user", options->controller_users, "Other user that is a controller")
      ->type_name("USER")
      ->capture_default_str()
      ->envname("MINDGATE_CONTROLLER_USER");
  vap->add_flag("--list", options->list, "List all rules, and why some of them have no policy")
      ->envname("MINDGATE_EXPORT_LIST");
  AddColorOption(*vap, options->color);
  vap->footer(
      R"(A rule that is off has no policy. Policies need Kubernetes 1.30; they see one object and nothing else.
Examples:
  mindgate export vap > policies.yaml
  mindgate export vap --config mindgate.yaml | kubectl apply -f -
  mindgate export vap --rule fault-scheduling-value --rule MG105 | kubectl apply -f -
  mindgate export vap --list)");
  vap->callback([options, &io, &exit_code] {
    options->now = SystemClock().WallNow();
    exit_code = RunExportVap(*options, io);
  });
}

}  // namespace mindgate::cli
