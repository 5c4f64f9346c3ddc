#include "cli/console/leadership.h"

#include <CLI/CLI.hpp>
#include <random>

#include "cli/console/flags.h"
#include "kube/environment.h"
#include "watcher/frame/leader_client.h"

namespace mindgate::cli {
namespace {

std::string Identity() {
  std::random_device random;
  return kube::HostName() + "_" + std::to_string(random());
}

}  // namespace

void AddLeadershipFlags(CLI::App& command, LeadershipOptions& options) {
  AddSwitch(command, "--leader-elect", options.elect,
            "Use leader election: only the replica that holds the Lease acts", "LEADER_ELECT");
  AddFlag(command, "--lease", options.lease, "Name of the Lease, in the same namespace", "LEASE",
          "NAME");
  AddFlag(command, "--identity", options.identity,
          "Identity of this replica in the Lease (default: the host name and a random number)",
          "IDENTITY", "NAME");
}

ConnectedLeadership::ConnectedLeadership(const kube::Access& access,
                                         const LeadershipOptions& options, const Clock& clock,
                                         log::Logger& logger)
    : connection_(access, watcher::LeaderClient::kOptions, LogWarnings(logger)),
      leadership_(connection_.client(), connection_.sleeper(), clock, logger,
                  {.elect = options.elect,
                   .ns = access.default_namespace,
                   .lease = options.lease,
                   .identity = options.identity.empty() ? Identity() : options.identity},
                  std::random_device()()) {}

}  // namespace mindgate::cli
