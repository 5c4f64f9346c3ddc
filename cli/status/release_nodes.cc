#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/console/terminal.h"
#include "cli/status/release.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/raw_objects.h"
#include "watcher/rescheduling/isolation.h"

namespace mindgate::cli {
namespace {

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

}  // namespace

int RunReleaseNodes(const ReleaseOptions& options, Streams& io) {
  if (const auto problem = ProblemOf(options, kNodeWords, io)) {
    PrintError(io.err, *problem);
    return kExitUnusable;
  }
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, {}, io);
  if (connection == nullptr) return kExitUnusable;
  kube::Client& client = connection->client();
  size_t missing = 0;
  const auto tainted = options.names.empty() ? ListTainted(client, options.label_selector)
                                             : ReadNamed(client, options.names, missing, io);
  if (!tainted) {
    PrintError(io.err, tainted.error().message);
    return kExitUnusable;
  }
  return ReleaseEach(
      tainted->size(), missing, [&] { return IsConfirmed(*tainted, io); },
      [&](size_t i) { return Release(client, (*tainted)[i], options.dry_run); }, options,
      kNodeWords, io);
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
