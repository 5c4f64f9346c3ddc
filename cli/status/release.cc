#include "cli/status/release.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/raw_objects.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/scaling/pod.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using watcher::scaling::Gate;

struct ReleaseWords {
  std::string_view object;       // "pod"
  std::string_view what;         // "gate", of mindgate
  std::string_view consequence;  // "a pod starts as soon as its gate is open"
  std::string_view untouched;    // "no gate was opened"

  std::string objects() const { return std::string(object) + "s"; }
};

// The outcome for one object.
struct Released {
  std::string ns{};  // empty: it is in none
  std::string name{};
  std::string outcome{};  // "released", "would be released", "gone", "failed"
  std::string error{};    // of one that failed; reported already
};

// "pod/a in namespace b", "node/n".
std::string TitleOf(const ReleaseWords& words, const std::string& ns, const std::string& name) {
  return std::string(words.object) + "/" + name + (ns.empty() ? "" : " in namespace " + ns);
}

OrderedJson JsonOf(const std::vector<Released>& objects, DryRun dry_run,
                   const ReleaseWords& words) {
  OrderedJson list = OrderedJson::array();
  for (const Released& object : objects) {
    OrderedJson entry = OrderedJson::object();
    if (!object.ns.empty()) entry["namespace"] = object.ns;
    entry["name"] = object.name;
    entry["outcome"] = object.outcome;
    if (!object.error.empty()) entry["error"] = object.error;
    list.push_back(std::move(entry));
  }
  return {{"dryRun", DryRunName(dry_run)}, {words.objects(), std::move(list)}};
}

// Returns what PrintOutput does.
int PrintReleased(const std::vector<Released>& objects, const ReleaseOptions& options,
                  const ReleaseWords& words, Streams& io) {
  const auto names = [&] {
    std::vector<std::string> lines;
    for (const Released& object : objects) {
      if (object.outcome != "failed") lines.push_back(TitleOf(words, "", object.name));
    }
    return lines;
  };
  const auto text = [&](std::ostream& out, bool) {
    for (const Released& object : objects) {
      if (object.outcome == "failed") continue;  // already reported on standard error
      out << TitleOf(words, object.ns, object.name) << " "
          << (object.outcome == "gone" ? "skipped: it was deleted or already released"
                                       : object.outcome)
          << (options.dry_run == DryRun::kServer ? " (server dry run)" : "") << "\n";
    }
    if (objects.empty() && options.names.empty()) {
      out << "no " << words.objects() << " have a " << words.what << " of mindgate\n";
    }
  };
  return PrintOutput(options.output,
                     {.document = [&] { return JsonOf(objects, options.dry_run, words); },
                      .names = names,
                      .text = text},
                     io);
}

// What is wrong with the options; nothing if they are valid.
std::optional<Problem> ProblemOf(const ReleaseOptions& options, const ReleaseWords& words,
                                 const Streams& io) {
  const int ways = static_cast<int>(!options.names.empty()) +
                   static_cast<int>(!options.label_selector.empty()) +
                   static_cast<int>(options.all);
  const std::string objects = words.objects();
  if (ways == 0) {
    return Problem{"no " + objects + " are selected, and " + std::string(words.consequence),
                   "give " + std::string(words.object) +
                       " names, -l SELECTOR or --all; --dry-run lists " + "the " + objects};
  }
  if (ways > 1) {
    return Problem{"names, -l and --all cannot be combined", "use only one of them"};
  }
  if (options.dry_run == DryRun::kNone && !options.yes && !io.in_is_terminal) {
    return Problem{"cannot ask for confirmation: standard input is not a terminal",
                   "use --yes to skip the question, or --dry-run to list the " + objects};
  }
  return std::nullopt;
}

constexpr ReleaseWords kGateWords = {.object = "pod",
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
                 schemas::IndexOfScalingGate(json::FindPath(pod, {"spec", "schedulingGates"}));
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
  for (const Gate& gate : gates) pods.push_back(TitleOf(kGateWords, gate.ns, gate.pod));
  return IsConfirmed(pods,
                     gates.size() == 1
                         ? "Open the gate of this pod?"
                         : "Open the gates of these " + std::to_string(gates.size()) + " pods?",
                     io);
}

Released Release(kube::Client& client, const Gate& gate, DryRun dry_run) {
  Released released{.ns = gate.ns, .name = gate.pod, .outcome = "would be released"};
  if (dry_run == DryRun::kClient) return released;
  const watcher::scaling::GateCalls calls{
      .patch = [&](const json::Json& operations) -> kube::Answer<void> {
        const auto patched = client.Patch(kube::resources::kPods, gate.ns, gate.pod, operations,
                                          {.dry_run = dry_run == DryRun::kServer});
        if (!patched) return tl::make_unexpected(patched.error());
        return {};
      },
      .read =
          [&](const json::Projection& fields) {
            return client.Get(kube::resources::kPods, gate.ns, gate.pod, fields);
          }};
  const auto opened = watcher::scaling::OpenGate(gate, calls);
  if (!opened) {
    released.outcome = "failed";
    released.error = opened.error().message;
  } else if (!*opened) {
    released.outcome = "gone";
  } else if (dry_run == DryRun::kNone) {
    released.outcome = "released";
  }
  return released;
}

// How often a node is read again that somebody changes meanwhile. Kubelets write one every few
// minutes, and more than a few writers at once are not to be expected.
constexpr int kMaxTries = 5;

constexpr ReleaseWords kNodeWords = {
    .object = "node",
    .what = "taint",
    .consequence = "pods may be placed on a node as soon as its taint is gone",
    .untouched = "no taint was removed"};

struct TaintedNode {
  std::string name{};
  json::Json removal{};  // a JSON Patch
};

std::optional<json::Json> RemovalOf(const json::Value& node) {
  return watcher::rescheduling::TaintPatch(node, false);
}

kube::Answer<std::vector<TaintedNode>> ListTainted(kube::Client& client,
                                                   const std::string& selector) {
  std::vector<TaintedNode> nodes;
  const json::Projection fields = kube::WithIdentity({{"spec", "taints"}});
  const auto listed = client.ListAll(
      kube::resources::kNodes, "", {.label_selector = selector}, &fields,
      {.started = [&nodes] { nodes.clear(); },
       .item =
           [&nodes](const json::Value& node) {
             auto removal = RemovalOf(node);
             if (!removal) return;
             nodes.push_back({json::TextAt(node, {"metadata", "name"}), *std::move(removal)});
           }});
  if (!listed) return tl::make_unexpected(listed.error());
  return nodes;
}

// Reads each, and adds to `missing` those that are not there or have no taint, after reporting
// them.
kube::Answer<std::vector<TaintedNode>> ReadNamed(kube::Client& client,
                                                 const std::vector<std::string>& names,
                                                 size_t& missing, Streams& io) {
  std::vector<TaintedNode> nodes;
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const auto node = client.Get(kube::resources::kNodes, "", name);
    if (!node && node.error().reason != kube::Reason::kNotFound) {
      return tl::make_unexpected(node.error());
    }
    auto removal = node ? RemovalOf(json::Document(*node).root()) : std::nullopt;
    if (removal) {
      nodes.push_back({name, *std::move(removal)});
      continue;
    }
    PrintError(io.err,
               "node " + Quote(name) + (node ? " has no taint of mindgate" : " does not exist"));
    ++missing;
  }
  return nodes;
}

bool IsConfirmed(const std::vector<TaintedNode>& nodes, Streams& io) {
  std::vector<std::string> titles;
  for (const TaintedNode& node : nodes) titles.push_back(TitleOf(kNodeWords, "", node.name));
  const std::string taint(schemas::kFaultyTaint);
  return IsConfirmed(
      titles,
      "Remove the taint " + taint +
          (nodes.size() == 1 ? " from this node?"
                             : " from these " + std::to_string(nodes.size()) + " nodes?"),
      io);
}

Released Release(kube::Client& client, const TaintedNode& node, DryRun dry_run) {
  Released released{.name = node.name, .outcome = "would be released"};
  if (dry_run == DryRun::kClient) return released;
  json::Json removal = node.removal;
  for (int tries = 1;; ++tries) {
    const auto patched = client.Patch(kube::resources::kNodes, "", node.name, removal,
                                      {.dry_run = dry_run == DryRun::kServer});
    if (patched) {
      if (dry_run == DryRun::kNone) released.outcome = "released";
      return released;
    }
    kube::Fault fault = patched.error();
    // Of another resourceVersion by now: what is there now decides.
    if (fault.reason == kube::Reason::kInvalid || fault.reason == kube::Reason::kConflict) {
      const auto now = client.Get(kube::resources::kNodes, "", node.name);
      if (now) {
        auto again = RemovalOf(json::Document(*now).root());
        if (!again) {
          released.outcome = "gone";
          return released;
        }
        if (tries < kMaxTries) {
          removal = *std::move(again);
          continue;
        }
      } else {
        fault = now.error();
      }
    }
    released.outcome = fault.reason == kube::Reason::kNotFound ? "gone" : "failed";
    if (released.outcome == "failed") released.error = fault.message;
    return released;
  }
}

// What the options select; `missing`: names of which there is none, reported already.
template <typename Object>
struct Releasable {
  std::vector<Object> objects{};
  size_t missing = 0;
};

kube::Answer<Releasable<Gate>> SelectReleasable(Connection& connection,
                                                const ReleaseGatesOptions& options, Streams& io) {
  auto gates = ListGates(connection.client(), options.all_namespaces ? "" : connection.ns(),
                         options.label_selector);
  if (!gates) return tl::make_unexpected(gates.error());
  size_t missing = 0;
  if (!options.names.empty()) missing = KeepNamed(options.names, connection.ns(), *gates, io);
  return Releasable<Gate>{*std::move(gates), missing};
}

kube::Answer<Releasable<TaintedNode>> SelectReleasable(Connection& connection,
                                                       const ReleaseOptions& options, Streams& io) {
  size_t missing = 0;
  auto nodes = options.names.empty() ? ListTainted(connection.client(), options.label_selector)
                                     : ReadNamed(connection.client(), options.names, missing, io);
  if (!nodes) return tl::make_unexpected(nodes.error());
  return Releasable<TaintedNode>{*std::move(nodes), missing};
}

// Selects, asks for confirmation where the options want it, releases one by one, and prints the
// outcomes, or that nothing was found where no names were given.
template <typename Options>
int RunRelease(const Options& options, const ReleaseWords& words,
               const std::optional<Problem>& problem, Streams& io) {
  if (problem) {
    PrintError(io.err, *problem);
    return kExitUnusable;
  }
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, {}, io);
  if (connection == nullptr) return kExitUnusable;
  const auto selected = SelectReleasable(*connection, options, io);
  if (!selected) {
    PrintError(io.err, selected.error().message);
    return kExitUnusable;
  }
  const bool asks = options.dry_run == DryRun::kNone && !options.yes && !selected->objects.empty();
  if (asks && !IsConfirmed(selected->objects, io)) {
    io.err << "canceled: " << words.untouched << "\n";
    return kExitDenied;
  }
  std::vector<Released> objects;
  bool all = selected->missing == 0;
  for (const auto& object : selected->objects) {
    objects.push_back(Release(connection->client(), object, options.dry_run));
    if (objects.back().error.empty()) continue;
    PrintError(io.err, objects.back().error);
    all = false;
  }
  const int code = PrintReleased(objects, options, words, io);
  if (code != kExitDone) return code;
  return all ? kExitDone : kExitDenied;
}

}  // namespace

int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io) {
  const bool is_ambiguous = options.all_namespaces && !options.names.empty();
  return RunRelease(
      options, kGateWords,
      is_ambiguous ? Problem{"names cannot be combined with -A: the same name may exist in several "
                             "namespaces",
                             "replace -A with -n NAMESPACE"}
                   : ProblemOf(options, kGateWords, io),
      io);
}

int RunReleaseNodes(const ReleaseOptions& options, Streams& io) {
  return RunRelease(options, kNodeWords, ProblemOf(options, kNodeWords, io), io);
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

void AddReleaseNodes(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = parent.add_subcommand(
      "release-nodes", "Remove the taints of nodes that no watcher removes any more");
  command->add_option("NODE", options->names, "Names of nodes")->type_name("");
  AddClusterFlags(*command, options->cluster);
  AddFlag(*command, "-l,--selector", options->label_selector, "Label selector for nodes",
          "RELEASE_NODES_SELECTOR", "SELECTOR");
  AddSwitch(*command, "--all", options->all, "Select all nodes", "RELEASE_NODES_ALL");
  AddDryRun(*command, options->dry_run,
            "Remove nothing: none, client (the default without a value) or server. client lists "
            "the nodes, server also validates the change on the API server",
            "RELEASE_NODES_DRY_RUN", true);
  AddSwitch(*command, "-y,--yes", options->yes, "Do not ask for confirmation", "RELEASE_NODES_YES");
  AddOutputOption(*command, options->output, {"text", "name", "yaml", "json", "jsonpath"},
                  "RELEASE_NODES_OUTPUT");
  command->footer(
      R"(With rescheduling.isolateNodes the watcher puts the taint mindgate.io/faulty:NoSchedule on nodes that are
unhealthy. Uninstalling the chart removes these taints; this command removes them by hand, after isolateNodes was
switched off for one. Other taints stay. A watcher that still isolates nodes puts the taint back on unhealthy ones.
It asks for confirmation on a terminal.
Exit codes: 0 all taints are gone, 1 some stay or a named node has none, 2 invalid arguments or the cluster cannot be
reached.
Examples:
  mindgate release-nodes --all --dry-run
  mindgate release-nodes --all
  mindgate release-nodes node-1 node-2 --yes)");
  command->callback([options, &io, &exit_code] { exit_code = RunReleaseNodes(*options, io); });
}

}  // namespace mindgate::cli
