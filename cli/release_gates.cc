#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/kube_flags.h"
#include "cli/version.h"
#include "kube/reflector.h"
#include "schemas/scheduling_gates.h"
#include "watcher/scaling/gates.h"

namespace mindgate::cli {
namespace {

using watcher::scaling::Gate;

struct ReleaseGatesOptions {
  kube::AccessFlags cluster = {};
  bool all_namespaces = false;
  bool dry_run = false;
};

// A pod behind a gate is Pending. Its labels may have changed since it got the gate.
kube::Answer<std::vector<Gate>> ListGates(kube::Client& client, const std::string& ns) {
  std::vector<Gate> gates;
  const json::Projection fields = kube::WithIdentity({{"spec", "schedulingGates"}});
  const auto listed = client.ListAll(
      kube::resources::kPods, ns, {.field_selector = "status.phase=Pending", .limit = 500}, &fields,
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

int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io) {
  const SystemClock clock;
  auto access = kube::FindAccess(options.cluster, clock);
  if (!access) {
    PrintError(io.err, access.error().message);
    return kExitUnusable;
  }
  const std::string ns = options.all_namespaces ? "" : access->default_namespace;
  const auto transport = kube::MakeTransport(*std::move(access), UserAgent());
  kube::RealSleeper sleeper;
  kube::Client client(*transport, sleeper);
  const auto gates = ListGates(client, ns);
  if (!gates) {
    PrintError(io.err, gates.error().message);
    return kExitUnusable;
  }
  size_t stayed = 0;
  for (const Gate& gate : *gates) {
    const auto opened = watcher::scaling::OpenGate(client, gate, options.dry_run, {});
    // A pod that is gone or open already needs nothing.
    if (!opened && opened.error().reason != kube::Reason::kNotFound &&
        opened.error().reason != kube::Reason::kInvalid) {
      PrintError(io.err, opened.error().message);
      ++stayed;
    } else {
      io.out << "pod/" << gate.pod << " in namespace " << gate.ns
             << (options.dry_run ? " would be released\n" : " released\n");
    }
  }
  if (gates->empty()) io.out << "no pod has a gate of mindgate\n";
  return stayed == 0 ? kExitDone : kExitDenied;
}

}  // namespace

void AddReleaseGates(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<ReleaseGatesOptions>();
  CLI::App* command = parent.add_subcommand(
      "release-gates", "Open the scheduling gates that a watcher which is gone left behind");
  AddKubeFlags(*command, options->cluster);
  command->add_flag("-A,--all-namespaces", options->all_namespaces, "Pods of all namespaces");
  command->add_flag("--dry-run", options->dry_run, "Only tell which");
  command->footer(
      R"(Pods under a scaling rule wait behind the gate mindgate.io/elastic-scaling while the watcher enforces
elastic scaling. Uninstalling the chart releases them; this does it by hand.
Exit codes: 0 all are open, 1 some could not be opened, 2 the cluster cannot be asked.
Examples:
  mindgate release-gates -A)");
  command->callback([options, &io, &exit_code] { exit_code = RunReleaseGates(*options, io); });
}

}  // namespace mindgate::cli
