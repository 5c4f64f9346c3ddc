#include "cli/release_gates.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/evaluate.h"
#include "cli/kube_flags.h"
#include "kube/reflector.h"
#include "schemas/scheduling_gates.h"
#include "watcher/scaling/gates.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using watcher::scaling::Gate;

// What became of a pod.
struct Released {
  Gate gate;
  std::string outcome;  // "released", "would be released", "gone", "failed"
  std::string error{};
};

// What is wrong with the arguments, and what to write instead; empty: nothing.
std::pair<std::string, std::string> FaultOf(const ReleaseGatesOptions& options) {
  const int ways = static_cast<int>(!options.names.empty()) +
                   static_cast<int>(!options.label_selector.empty()) +
                   static_cast<int>(options.all);
  if (ways == 0) {
    return {"nothing says whose gates to open, and an open gate lets a pod start at once",
            "write names of pods, -l SELECTOR, or --all; --dry-run tells which"};
  }
  if (ways > 1) {
    return {"names, -l and --all do not go together", "write one of them"};
  }
  if (options.all_namespaces && !options.names.empty()) {
    return {"names and -A do not go together: the same name may be in many namespaces",
            "leave out -A and name the namespace: -n NAMESPACE"};
  }
  if (options.dry_run == DryRun::kNone && !options.yes && !options.in_is_terminal) {
    return {"standard input is not a terminal, so nobody can be asked whether to open the gates",
            "write --yes, or --dry-run to see which"};
  }
  return {};
}

// A pod behind a gate is Pending. Its labels may have changed since it got the gate.
kube::Answer<std::vector<Gate>> ListGates(kube::Client& client, const std::string& ns,
                                          const std::string& selector) {
  std::vector<Gate> gates;
  const json::Projection fields = kube::WithIdentity({{"spec", "schedulingGates"}});
  const auto listed = client.ListAll(
      kube::resources::kPods, ns,
      {.label_selector = selector, .field_selector = "status.phase=Pending", .limit = 500}, &fields,
      [&gates] { gates.clear(); },
      [&gates](const json::Json& pod) {
        const auto place =
            schemas::PlaceOfScalingGate(json::FindPath(pod, {"spec", "schedulingGates"}));
        if (!place) return;
        const json::Json& metadata = pod.at("metadata");
        gates.push_back({metadata.value("namespace", ""), metadata.value("name", ""),
                         metadata.value("uid", ""), *place});
      });
  if (!listed) return tl::make_unexpected(listed.error());
  return gates;
}

// Leaves those that are named. Returns how many names have no gate, which are then said.
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
                           " waits behind no gate of mindgate, or is not there");
    ++missing;
  }
  return missing;
}

bool Confirmed(const std::vector<Gate>& gates, Streams& io) {
  for (const Gate& gate : gates) {
    io.err << "pod/" << gate.pod << " in namespace " << gate.ns << "\n";
  }
  io.err << "Open the gate" << (gates.size() == 1 ? " of this pod" : "s of these ")
         << (gates.size() == 1 ? "" : std::to_string(gates.size()) + " pods") << "? [y/N] "
         << std::flush;
  std::string answer;
  std::getline(io.in, answer);
  answer = ToLower(Trim(answer));
  return answer == "y" || answer == "yes";
}

Released Release(kube::Client& client, const Gate& gate, DryRun dry_run) {
  if (dry_run == DryRun::kClient) return {gate, "would be released"};
  const auto opened = watcher::scaling::OpenGate(client, gate, dry_run == DryRun::kServer, {});
  if (opened) return {gate, dry_run == DryRun::kServer ? "would be released" : "released"};
  // A pod that is gone or open already needs nothing.
  if (opened.error().reason == kube::Reason::kNotFound ||
      opened.error().reason == kube::Reason::kInvalid) {
    return {gate, "gone"};
  }
  return {gate, "failed", opened.error().message};
}

OrderedJson JsonOf(const std::vector<Released>& pods, DryRun dry_run) {
  OrderedJson list = OrderedJson::array();
  for (const Released& pod : pods) {
    OrderedJson entry = {
        {"namespace", pod.gate.ns}, {"name", pod.gate.pod}, {"outcome", pod.outcome}};
    if (!pod.error.empty()) entry["error"] = pod.error;
    list.push_back(std::move(entry));
  }
  return {{"dryRun", DryRunName(dry_run)}, {"pods", std::move(list)}};
}

void PrintText(const std::vector<Released>& pods, DryRun dry_run, std::ostream& out) {
  for (const Released& pod : pods) {
    if (pod.outcome == "failed") continue;  // which was said on standard error
    out << "pod/" << pod.gate.pod << " in namespace " << pod.gate.ns << " "
        << (pod.outcome == "gone" ? "needs nothing: it is gone, or open already" : pod.outcome)
        << (dry_run == DryRun::kServer ? " (server dry run)" : "") << "\n";
  }
  if (pods.empty()) out << "no pod has a gate of mindgate\n";
}

}  // namespace

int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io) {
  if (const auto [fault, fix] = FaultOf(options); !fault.empty()) {
    PrintError(io.err, fault, fix);
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
  size_t stayed = 0;
  if (!options.names.empty()) stayed = KeepNamed(options.names, connection->ns(), *gates, io);
  const bool asks = options.dry_run == DryRun::kNone && !options.yes && !gates->empty();
  if (asks && !Confirmed(*gates, io)) {
    io.err << "nothing was done\n";
    return kExitDenied;
  }
  std::vector<Released> pods;
  for (const Gate& gate : *gates) {
    pods.push_back(Release(client, gate, options.dry_run));
    if (pods.back().error.empty()) continue;
    PrintError(io.err, pods.back().error);
    ++stayed;
  }
  const int code = PrintOutput(options.output,
                               {.document = [&] { return JsonOf(pods, options.dry_run); },
                                .names =
                                    [&] {
                                      std::vector<std::string> names;
                                      for (const Released& pod : pods) {
                                        if (pod.outcome != "failed")
                                          names.push_back("pod/" + pod.gate.pod);
                                      }
                                      return names;
                                    },
                                .text =
                                    [&](std::ostream& out, bool) {
                                      if (!pods.empty() || options.names.empty())
                                        PrintText(pods, options.dry_run, out);
                                    }},
                               io);
  if (code != kExitDone) return code;
  return stayed == 0 ? kExitDone : kExitDenied;
}

void AddReleaseGates(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ReleaseGatesOptions>();
  CLI::App* command = parent.add_subcommand(
      "release-gates", "Open the scheduling gates that a watcher which is gone left behind");
  command->add_option("POD", options->names, "Pods whose gates to open")->type_name("");
  AddKubeFlags(*command, options->cluster);
  AddSwitch(*command, "-A,--all-namespaces", options->all_namespaces, "Pods of all namespaces",
            "RELEASE_GATES_ALL_NAMESPACES");
  AddFlag(*command, "-l,--selector", options->label_selector,
          "Pods that match this label selector, as in jobID=chat", "RELEASE_GATES_SELECTOR",
          "SELECTOR");
  AddSwitch(*command, "--all", options->all, "All pods of the namespace, with -A of the cluster",
            "RELEASE_GATES_ALL");
  AddDryRun(*command, options->dry_run,
            "Only tell which: none, client or server (alone: client; server asks the API server to "
            "check)",
            "RELEASE_GATES_DRY_RUN", true);
  AddSwitch(*command, "-y,--yes", options->yes, "Do not ask", "RELEASE_GATES_YES");
  AddOutputOption(*command, options->output, {"text", "name", "yaml", "json", "jsonpath"},
                  "RELEASE_GATES_OUTPUT");
  command->footer(
      R"(Pods under a scaling rule wait behind the gate mindgate.io/elastic-scaling while the watcher enforces
elastic scaling. Uninstalling the chart releases them; this does it by hand. On a terminal it asks first.
Exit codes: 0 all are open, 1 some could not be opened or you said no, 2 the cluster cannot be asked.
Examples:
  mindgate release-gates -A --all --dry-run
  mindgate release-gates -n serving -l jobID=chat
  mindgate release-gates -n serving chat-decode-0 chat-decode-1 --yes)");
  command->callback([options, &io, &exit_code] {
    options->in_is_terminal = ::isatty(STDIN_FILENO) == 1;
    exit_code = RunReleaseGates(*options, io);
  });
}

}  // namespace mindgate::cli
