#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

#include "admission/export/injections.h"
#include "admission/export/policy.h"
#include "admission/mutators/mutator.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/output.h"
#include "cli/manifests/manifests.h"
#include "json/yaml.h"
#include "offline/evaluate.h"
#include "policies/engine.h"
#include "policies/site/site_policies.h"

namespace mindgate::cli {
namespace {

using mutators::Mutator;

void PrintMutators(const schemas::Config& config, const Paint& paint, std::ostream& out) {
  Table table({TableCell("MUTATOR"), TableCell("ON"), TableCell("EXPORTED"), TableCell("REASON")});
  for (const Mutator& mutator : mutators::Mutators()) {
    const std::string_view why_not = exported::WhyNotInjected(mutator.name);
    table.Add({TableCell(std::string(mutator.name)),
               TableCell(config.disabled_mutators.contains(mutator.name) ? "no" : "yes"),
               TableCell(why_not.empty() ? "yes" : "no"), TableCell(std::string(why_not))});
  }
  table.Print(paint, out);
}

// Switches off all mutators but those that were asked for. False when one is unknown or has no
// policy; `err` says which.
bool Select(const std::vector<std::string>& names, schemas::Config& config, std::ostream& err) {
  bool sound = true;
  for (const std::string& name : names) {
    const auto all = mutators::Mutators();
    if (std::ranges::find(all, name, &Mutator::name) == all.end()) {
      PrintError(err, "--mutator " + Quote(name) + ": there is no such mutator",
                 "`mindgate export map --list` has all of them");
      sound = false;
    } else if (const auto why_not = exported::WhyNotInjected(name); !why_not.empty()) {
      PrintError(
          err, "--mutator " + name + " has no policy: " + std::string(why_not),
          "leave it to mindgate's webhook, or to `mindgate apply` before objects are applied");
      sound = false;
    }
  }
  if (names.empty()) return true;
  for (const Mutator& mutator : mutators::Mutators()) {
    if (std::ranges::find(names, mutator.name) == names.end()) {
      config.disabled_mutators.emplace(mutator.name);
    }
  }
  return sound;
}

}  // namespace

int RunExportMap(const ExportPolicyOptions& options, Streams& io) {
  auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  if (options.list) {
    PrintMutators(*config, Paint(options.color, io.out_is_terminal), io.out);
    return kExitDone;
  }
  const auto cluster = ClusterOptions(options, io.err);
  if (!Select(options.mutators, *config, io.err) || !cluster) return kExitUnusable;
  PrintDocuments(exported::MutatingPolicies(*config, *cluster, options.version), io.out);
  return kExitDone;
}

void AddExportMap(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ExportPolicyOptions>();
  CLI::App* map =
      parent.add_subcommand("map", "Print injections as MutatingAdmissionPolicies with bindings");
  map->add_option("--mutator", options->mutators, "Mutator by name; repeat it for several")
      ->allow_extra_args(false)
      ->type_name("MUTATOR")
      ->envname("MINDGATE_EXPORT_MUTATOR");
  SetChoices(*map->add_option("--api-version", options->version,
                              "Version of admissionregistration.k8s.io: v1 needs Kubernetes 1.36, "
                              "v1beta1 1.34, v1alpha1 1.33")
                  ->capture_default_str()
                  ->envname("MINDGATE_EXPORT_API_VERSION"),
             {exported::kMutatingVersions, std::end(exported::kMutatingVersions)});
  map->add_option("--config", options->config_file,
                  "Configuration file, whose mutators, profiles and namespaces are exported")
      ->type_name("FILE")
      ->envname("MINDGATE_CONFIG");
  AddClusterOptions(*map, *options);
  map->add_flag("--list", options->list, "List all mutators, and why some of them have no policy")
      ->envname("MINDGATE_EXPORT_LIST");
  AddColorOption(*map, options->color);
  map->footer(
      R"(What is written goes into Pods, Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs.
Examples:
  mindgate export map > injections.yaml
  mindgate export map --config mindgate.yaml --api-version v1 | kubectl apply -f -
  mindgate export map --mutator scheduler-name --mutator visible-devices
  mindgate export map --list)");
  map->callback([options, &io, &exit_code] { exit_code = RunExportMap(*options, io); });
}

namespace {

using exported::ExportedRule;
using policies::Rule;
using policies::site::SitePolicy;

// Those of charts/mindgate/values.yaml: namespaces of the cluster, MindCluster and the frameworks.
constexpr std::array kExcluded = std::to_array<const char*>(
    {"kube-system", "kube-public", "kube-node-lease", "mindx-dl", "cluster-system", "npu-exporter",
     "volcano-system", "volcano-monitoring", "lws-system", "ome", "aibrix-system"});
constexpr std::array kControllers =
    std::to_array<const char*>({"kube-system", "mindx-dl", "volcano-system", "volcano-monitoring",
                                "lws-system", "ome", "aibrix-system"});

// A rule and its row, or a policy of the site's own.
struct Candidate {
  const Rule* rule;
  const ExportedRule* row = nullptr;
  const SitePolicy* policy = nullptr;
  std::string_view why_not = {};  // empty: it is exported
};

std::vector<Candidate> CandidatesOf(const schemas::Config& config,
                                    std::span<const ExportedRule> rows) {
  std::vector<Candidate> all;
  for (const Rule* rule : policies::Catalogue()) {
    const auto row = std::ranges::find(rows, rule->id, &ExportedRule::id);
    all.push_back({.rule = rule,
                   .row = row == rows.end() ? nullptr : &*row,
                   .why_not = exported::WhyNotExported(rule->id)});
  }
  if (config.policies == nullptr) return all;
  for (const auto& policy : config.policies->policies()) {
    all.push_back({.rule = &policy->rule(),
                   .policy = policy.get(),
                   .why_not = exported::WhyNotExported(*policy)});
  }
  return all;
}

void PrintList(std::span<const Candidate> candidates, const schemas::Config& config,
               const Paint& paint, std::ostream& out) {
  Table table({TableCell("RULE"), TableCell("NAME"), TableCell("MODE"), TableCell("EXPORTED"),
               TableCell("REASON")});
  for (const Candidate& each : candidates) {
    table.Add({TableCell(std::string(each.rule->id)), TableCell(std::string(each.rule->name)),
               TableCell(std::string(schemas::ModeName(policies::ModeFor(*each.rule, config, "")))),
               TableCell(each.why_not.empty() ? "yes" : "no"),
               TableCell(std::string(each.why_not))});
  }
  table.Print(paint, out);
}

const Candidate* Named(std::string_view name, std::span<const Candidate> all) {
  const Rule* rule = policies::FindRule(name);
  const auto found = std::ranges::find_if(
      all, [&](const Candidate& each) { return each.rule == rule || each.rule->id == name; });
  return found == all.end() ? nullptr : &*found;
}

// The rules that were asked for by name, all of them when none was. Nothing when a name is unknown
// or has no policy; `err` says which.
std::optional<std::vector<Candidate>> Wanted(const std::vector<std::string>& names,
                                             std::span<const Candidate> all, std::ostream& err) {
  if (names.empty()) return std::vector<Candidate>(all.begin(), all.end());
  std::vector<Candidate> wanted;
  bool sound = true;
  for (const std::string& name : names) {
    const Candidate* found = Named(name, all);
    if (found == nullptr) {
      PrintError(err, "--rule " + Quote(name) + ": there is no such rule",
                 "`mindgate export vap --list` has all of them");
      sound = false;
    } else if (!found->why_not.empty()) {
      PrintError(
          err,
          "--rule " + std::string(found->rule->id) +
              " has no policy: " + std::string(found->why_not),
          "leave it to mindgate's webhook, or to `mindgate apply` before objects are applied");
      sound = false;
    } else {
      wanted.push_back(*found);
    }
  }
  if (!sound) return std::nullopt;
  return wanted;
}

// A site that has written a policy expects it to be in force.
void WarnOfMissing(std::span<const Candidate> wanted, std::ostream& err) {
  for (const Candidate& each : wanted) {
    if (each.policy == nullptr || each.why_not.empty()) continue;
    err << "warning: " << each.rule->id << " is not exported: " << each.why_not << "\n";
  }
}

// The API server looks for it in the namespace of each object, kubectl applies it to its own.
void WarnOfPlaces(std::span<const nlohmann::ordered_json> params, std::ostream& err) {
  for (const auto& param : params) {
    if (param.at("apiVersion") != "v1" || param.at("metadata").contains("namespace")) continue;
    err << "warning: the parameter " << param.at("kind").get<std::string>() << " "
        << param.at("metadata").at("name").get<std::string>()
        << " has no namespace: the API server expects it in the namespace of each object. Write "
           "paramRef.namespace, or apply it to all of these\n";
  }
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

std::optional<exported::ExportOptions> ClusterOptions(const ExportPolicyOptions& options,
                                                      std::ostream& err) {
  const auto selector = offline::ReadSelector(options.namespace_selector, err);
  if (!selector) return std::nullopt;
  return exported::ExportOptions{.controller_namespaces = options.controller_namespaces,
                                 .controller_users = options.controller_users,
                                 .excluded_namespaces = options.excluded_namespaces,
                                 .namespace_selector = *selector,
                                 .now = options.now};
}

void PrintDocuments(std::span<const nlohmann::ordered_json> documents, std::ostream& out) {
  for (const auto& document : documents) out << "---\n" << json::EncodeYaml(json::Json(document));
}

int RunExportVap(const ExportPolicyOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err, options.policies);
  if (!config) return kExitUnusable;
  const std::vector<ExportedRule> rows = exported::ExportedRules(*config);
  const std::vector<Candidate> all = CandidatesOf(*config, rows);
  if (options.list) {
    PrintList(all, *config, Paint(options.color, io.out_is_terminal), io.out);
    return kExitDone;
  }
  const auto wanted = Wanted(options.rules, all, io.err);
  const auto cluster = ClusterOptions(options, io.err);
  if (!wanted || !cluster) return kExitUnusable;
  std::vector<const SitePolicy*> own;
  for (const Candidate& each : *wanted) {
    if (each.row != nullptr) {
      PrintDocuments(exported::PoliciesOf(*each.rule, *each.row, *config, *cluster), io.out);
    } else if (each.policy != nullptr) {
      own.push_back(each.policy);
    }
  }
  const auto site = exported::SitePoliciesOf(own, *config, *cluster);
  PrintDocuments(site.params, io.out);
  PrintDocuments(site.policies, io.out);
  WarnOfMissing(*wanted, io.err);
  WarnOfPlaces(site.params, io.err);
  WarnOfEnds(*config, *cluster, io.err);
  return kExitDone;
}

void AddClusterOptions(CLI::App& command, ExportPolicyOptions& options) {
  options.excluded_namespaces.assign(kExcluded.begin(), kExcluded.end());
  options.controller_namespaces.assign(kControllers.begin(), kControllers.end());
  options.controller_users = {"system:kube-controller-manager"};
  command
      .add_option("--namespace-selector", options.namespace_selector,
                  "Labels of the namespaces whose objects policies see, such as team=serving")
      ->type_name("SELECTOR")
      ->envname("MINDGATE_NAMESPACE_SELECTOR");
  command
      .add_option("--exclude-namespace", options.excluded_namespaces,
                  "Namespace that policies leave alone; repeat it for several. The default are "
                  "those of the cluster, MindCluster and the frameworks, as in the chart")
      ->type_name("NAMESPACE")
      ->envname("MINDGATE_EXCLUDE_NAMESPACE");
  command
      .add_option("--controller-namespace", options.controller_namespaces,
                  "Namespace whose ServiceAccounts are controllers: policies leave alone what they "
                  "make of an object. The default are those of the chart")
      ->type_name("NAMESPACE")
      ->envname("MINDGATE_CONTROLLER_NAMESPACE");
  command
      .add_option("--controller-user", options.controller_users, "Other user that is a controller")
      ->type_name("USER")
      ->capture_default_str()
      ->envname("MINDGATE_CONTROLLER_USER");
}

void AddExport(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command = parent.add_subcommand(
      "export", "Print policies of Kubernetes for clusters without the webhook");
  command->require_subcommand(1);
  command->footer(R"(Examples:
  mindgate export vap > policies.yaml
  mindgate export map > injections.yaml)");
  auto options = std::make_shared<ExportPolicyOptions>();
  CLI::App* vap =
      command->add_subcommand("vap", "Print rules as ValidatingAdmissionPolicies with bindings");
  vap->add_option("--rule", options->rules,
                  "Rule by id or name, or policy/NAME of your own; repeat it for several")
      ->type_name("RULE")
      ->envname("MINDGATE_EXPORT_RULE");
  vap->add_option("--config", options->config_file,
                  "Configuration file, whose modes, overrides and exceptions are exported")
      ->type_name("FILE")
      ->envname("MINDGATE_CONFIG");
  AddPoliciesOption(*vap, options->policies);
  AddClusterOptions(*vap, *options);
  vap->add_flag("--list", options->list, "List all rules, and why some of them have no policy")
      ->envname("MINDGATE_EXPORT_LIST");
  AddColorOption(*vap, options->color);
  vap->footer(
      R"(A rule that is off has no policy. Policies need Kubernetes 1.30; they see one object and nothing else.
A policy of your own is printed with its bindings and parameters, unless it reads workload.
Examples:
  mindgate export vap > policies.yaml
  mindgate export vap --config mindgate.yaml | kubectl apply -f -
  mindgate export vap --rule fault-scheduling-value --rule MG105 | kubectl apply -f -
  mindgate export vap --policies policies/ --rule policy/short-names
  mindgate export vap --list)");
  vap->callback([options, &io, &exit_code] {
    options->now = SystemClock().WallNow();
    exit_code = RunExportVap(*options, io);
  });
  AddExportMap(*command, io, exit_code);
}

}  // namespace mindgate::cli
