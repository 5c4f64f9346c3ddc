#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/console/terminal.h"
#include "cli/status/release.h"
#include "kube/reflector.h"
#include "schemas/raw_objects.h"
#include "watcher/scaling/pod.h"

namespace mindgate::cli {
namespace {

using watcher::scaling::Gate;

constexpr ReleaseWords kWords = {.object = "pod",
                                 .what = "gate",
                                 .consequence = "a pod starts as soon as its gate is open",
                                 .untouched = "no gate was opened"};

// A gated pod is Pending. Its labels may have changed since it got the gate.
kube::Answer<std::vector<Gate>> ListGates(kube::Client& client, const std::string& ns,
                                          const std::string& selector) {
  std::vector<Gate> gates;
  const json::Projection fields = kube::WithIdentity({{"spec", "schedulingGates"}});
  const auto listed = client.ListAll(
      kube::resources::kPods, ns,
      {.label_selector = selector, .field_selector = "status.phase=Pending"}, &fields,
      {.started = [&gates] { gates.clear(); },
       .item =
           [&gates](const json::Value& pod) {
             const auto place =
                 schemas::PlaceOfScalingGate(json::FindPath(pod, {"spec", "schedulingGates"}));
             if (!place) return;
             const auto text = [&pod](std::string_view key) {
               return std::string(
                   json::AsString(json::FindPath(pod, {"metadata", key})).value_or(""));
             };
             gates.push_back({text("namespace"), text("name"), text("uid"), *place});
           }});
  if (!listed) return tl::make_unexpected(listed.error());
  return gates;
}

// Keeps the named pods. Reports names without a gate, and returns their number.
size_t KeepNamed(const std::vector<std::string>& names, const std::string& ns,
                 std::vector<Gate>& gates, Streams& io) {
  const std::set<std::string> wanted(names.begin(), names.end());
  std::erase_if(gates, [&](const Gate& gate) { return !wanted.contains(gate.pod); });
  size_t missing = 0;
  for (const std::string& name : wanted) {
    if (std::any_of(gates.begin(), gates.end(),
                    [&](const Gate& gate) { return gate.pod == name; })) {
      continue;
    }
    PrintError(io.err, "pod " + Quote(name) + " in namespace " + ns +
                           " does not exist or has no gate of mindgate");
    ++missing;
  }
  return missing;
}

bool IsConfirmed(const std::vector<Gate>& gates, Streams& io) {
  std::vector<std::string> pods;
  for (const Gate& gate : gates) pods.push_back(TitleOf(kWords, gate.ns, gate.pod));
  return IsConfirmed(pods,
                     gates.size() == 1
                         ? "Open the gate of this pod?"
                         : "Open the gates of these " + std::to_string(gates.size()) + " pods?",
                     io);
}

Released Release(kube::Client& client, const Gate& gate, DryRun dry_run) {
  Released released{.ns = gate.ns, .name = gate.pod, .outcome = "would be released"};
  if (dry_run == DryRun::kClient) return released;
  const auto opened =
      client.Patch(kube::resources::kPods, gate.ns, gate.pod, watcher::scaling::GateRemoval(gate),
                   {.dry_run = dry_run == DryRun::kServer});
  if (opened) {
    if (dry_run == DryRun::kNone) released.outcome = "released";
    return released;
  }
  // Nothing to do for a pod that is deleted or already released.
  const bool gone = opened.error().reason == kube::Reason::kNotFound ||
                    opened.error().reason == kube::Reason::kInvalid;
  released.outcome = gone ? "gone" : "failed";
  if (!gone) released.error = opened.error().message;
  return released;
}

}  // namespace

int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io) {
  const bool is_ambiguous = options.all_namespaces && !options.names.empty();
  const auto problem =
      is_ambiguous
          ? Problem{"names cannot be combined with -A: the same name may exist in several namespaces",
                    "replace -A with -n NAMESPACE"}
          : ProblemOf(options, kWords, io);
  if (problem) {
    PrintError(io.err, *problem);
    return kExitUnusable;
  }
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, {}, io);
  if (connection == nullptr) return kExitUnusable;
  kube::Client& client = connection->client();
  auto gates =
      ListGates(client, options.all_namespaces ? "" : connection->ns(), options.label_selector);
  if (!gates) {
    PrintError(io.err, gates.error().message);
    return kExitUnusable;
  }
  size_t missing = 0;
  if (!options.names.empty()) missing = KeepNamed(options.names, connection->ns(), *gates, io);
  return ReleaseEach(
      gates->size(), missing, [&] { return IsConfirmed(*gates, io); },
      [&](size_t i) { return Release(client, (*gates)[i], options.dry_run); }, options, kWords, io);
}

void AddReleaseGates(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ReleaseGatesOptions>();
  CLI::App* command =
      parent.add_subcommand("release-gates", "Open the scheduling gates of pods without a watcher");
  command->add_option("POD", options->names, "Names of pods")->type_name("");
  AddKubeFlags(*command, options->cluster);
  AddSwitch(*command, "-A,--all-namespaces", options->all_namespaces,
            "Select pods in all namespaces", "RELEASE_GATES_ALL_NAMESPACES");
  AddFlag(*command, "-l,--selector", options->label_selector,
          "Label selector for pods, such as jobID=chat", "RELEASE_GATES_SELECTOR", "SELECTOR");
  AddSwitch(*command, "--all", options->all,
            "Select all pods in the namespace or, with -A, in the cluster", "RELEASE_GATES_ALL");
  AddDryRun(*command, options->dry_run,
            "Open nothing: none, client (the default without a value) or server. client lists the "
            "pods, server also validates the change on the API server",
            "RELEASE_GATES_DRY_RUN", true);
  AddSwitch(*command, "-y,--yes", options->yes, "Do not ask for confirmation", "RELEASE_GATES_YES");
  AddOutputOption(*command, options->output, {"text", "name", "yaml", "json", "jsonpath"},
                  "RELEASE_GATES_OUTPUT");
  command->footer(
      R"(While the watcher enforces elastic scaling, pods under a scaling rule start with the scheduling gate
mindgate.io/elastic-scaling. Uninstalling the chart opens these gates; this command opens them by hand.
It asks for confirmation on a terminal.
Exit codes: 0 all gates are open, 1 some gates stay closed or a named pod has none, 2 invalid arguments or
the cluster cannot be reached.
Examples:
  mindgate release-gates -A --all --dry-run
  mindgate release-gates -n serving -l jobID=chat
  mindgate release-gates -n serving chat-decode-0 chat-decode-1 --yes)");
  command->callback([options, &io, &exit_code] { exit_code = RunReleaseGates(*options, io); });
}

}  // namespace mindgate::cli
