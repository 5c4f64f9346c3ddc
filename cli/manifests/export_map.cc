#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/columns.h"
#include "cli/console/commands.h"
#include "cli/manifests/export.h"
#include "export/injections.h"
#include "export/mutating_policy.h"
#include "mutators/mutator.h"
#include "offline/evaluate.h"

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

}  // namespace mindgate::cli
