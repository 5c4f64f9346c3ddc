#include <CLI/CLI.hpp>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <utility>

#include "audit/collections.h"
#include "base/files.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/status/status.h"
#include "offline/evaluate.h"
#include "offline/inputs.h"

namespace mindgate::cli {
namespace {

// The rights of what is written: names and labels of all namespaces are in it.
constexpr unsigned kFileMode = 0600;

std::optional<std::string> TakeText(kube::Client& client, Time now,
                                    const what_if::SnapshotOptions& options, Streams& io) {
  auto text = what_if::TakeSnapshot(client, now, options, {});
  if (text) return *std::move(text);
  PrintError(io.err,
             (options.scaling_rules ? "the cluster cannot be read: " : "faults cannot be read: ") +
                 text.error().message,
             "it takes the rights to list ConfigMaps in mindx-dl and, without ClusterD, in "
             "kube-system and the namespaces of rescheduling.publicFaults, nodes, and the pods and "
             "PodGroups of all namespaces" +
                 std::string(options.scaling_rules
                                 ? ", and to read ConfigMaps with scaling rules in theirs"
                                 : ""));
  return std::nullopt;
}

// At most one byte more than a snapshot may have.
std::string ReadAll(std::istream& in) {
  std::string text;
  char chunk[64 * 1024];
  while (text.size() <= what_if::kMaxSnapshot &&
         (in.read(chunk, sizeof chunk) || in.gcount() > 0)) {
    text.append(chunk, static_cast<size_t>(in.gcount()));
  }
  return text;
}

}  // namespace

std::optional<what_if::ClusterSnapshot> UnderstandSnapshot(const std::string& text,
                                                           const std::string& name, Streams& io) {
  auto snapshot = what_if::ReadSnapshot(text);
  if (snapshot) return *std::move(snapshot);
  io.err << json::Render(snapshot.error(), name, text);
  return std::nullopt;
}

what_if::SnapshotOptions SnapshotOptionsOf(const doctor::WatcherState& watcher) {
  what_if::SnapshotOptions options{.public_faults = watcher.config.rescheduling.public_faults};
  options.watcher = what_if::SettingsOf(watcher.config);
  if (!watcher.leader && !watcher.leader_is_unknown) {  // nobody acts
    options.watcher.rescheduling = schemas::ReschedulingMode::kOff;
    options.watcher.rebalances = false;
  }
  return options;
}

std::optional<what_if::ClusterSnapshot> ReadCluster(kube::Client& client, Time now,
                                                    const what_if::SnapshotOptions& options,
                                                    Streams& io) {
  const auto text = TakeText(client, now, options, io);
  if (!text) return std::nullopt;
  return UnderstandSnapshot(*text, "the cluster", io);
}

std::optional<what_if::ClusterSnapshot> ReadSnapshotFile(const std::string& path, Streams& io) {
  if (path == "-") return UnderstandSnapshot(ReadAll(io.in), offline::kStdin, io);
  const auto text = mindgate::ReadFile(path, what_if::kMaxSnapshot);
  if (text) return UnderstandSnapshot(*text, path, io);
  PrintError(io.err, "snapshot " + path + ": " + text.error().message(),
             "create one with `mindgate snapshot -o " + path + "`");
  return std::nullopt;
}

int RunSnapshot(const SnapshotCommandOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  const Time now = clock.WallNow();
  kube::Client& client = connection->client();
  doctor::WatcherState watcher = WatcherOf(client, now);
  if (!options.config_file.empty()) watcher.config = *config;
  what_if::SnapshotOptions what = SnapshotOptionsOf(watcher);
  if (options.workloads) what.workloads = audit::AllCollections(watcher.config.kinds);
  auto text = TakeText(client, now, what, io);
  if (!text) return kExitUnusable;
  if (options.output == "-") {
    io.out << *text;
    return kExitDone;
  }
  const std::string folder = FolderOf(options.output);
  const std::string name = options.output.substr(options.output.rfind('/') + 1);
  const auto written = WriteFiles(folder, {{name, *std::move(text), kFileMode}});
  if (written) return kExitDone;
  PrintError(io.err, "snapshot " + options.output + ": " + written.error().message());
  return kExitDenied;
}

void AddSnapshot(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<SnapshotCommandOptions>();
  CLI::App* command =
      parent.add_subcommand("snapshot", "Save what decisions need of a cluster, for what-if");
  AddFlag(*command, "-o,--output", options->output, "File to write, or - for standard output",
          "SNAPSHOT_OUTPUT", "FILE");
  AddSwitch(*command, "--workloads", options->workloads,
            "Save whole workloads as well, with their environment variables, for `mindgate audit`",
            "SNAPSHOT_WORKLOADS");
  AddFlag(*command, "--config", options->config_file,
          "Configuration file, whose kinds are among the workloads (default: that of the running "
          "mindgate)",
          "CONFIG", "FILE");
  AddClusterFlags(*command, options->cluster);
  command->footer(
      R"(The snapshot is one JSON document with nodes, pods, PodGroups, fault reports and scaling rules of all namespaces,
and of each only what decisions about faults, placement and scaling read, with what MindCluster's plugin noted
of its restarts and what mindgate's watcher does. It holds no Secrets and, without --workloads, no environment
variables and no volumes. Only its owner can read the file. `mindgate what-if --snapshot` reads it, and with
workloads also `mindgate audit --snapshot`.
Exit codes: 0 success, 1 the file cannot be written, 2 the cluster cannot be read.

Examples:
  mindgate snapshot -o cluster.json
  mindgate what-if --node npu-3 --snapshot cluster.json
  mindgate snapshot --workloads -o cluster.json && mindgate audit -A --snapshot cluster.json
  mindgate snapshot | mindgate what-if --drain pool=blue --snapshot -)");
  command->callback([options, &io, &exit_code] { exit_code = RunSnapshot(*options, io); });
}

}  // namespace mindgate::cli
