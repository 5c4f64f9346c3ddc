#include "cli/leadership.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <random>
#include <utility>

#include "base/thread.h"
#include "cli/flags.h"

namespace mindgate::cli {
namespace {

std::string Identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return std::string(host.data()) + "_" + std::to_string(random());
}

LeadershipOptions WithIdentity(LeadershipOptions options) {
  if (options.identity.empty()) options.identity = Identity();
  return options;
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

Leadership::Leadership(const kube::Access& access, LeadershipOptions options, const Clock& clock,
                       log::Logger& logger)
    : options_(WithIdentity(std::move(options))), clock_(clock), logger_(logger) {
  if (!options_.elect) return;
  // A request without an answer must leave time for the next.
  connection_ = std::make_unique<Connection>(
      access, kube::ClientOptions{.retries = 0, .timeout = std::chrono::seconds(10)},
      LogWarnings(logger));
  kube::Elector::Options election;
  election.ns = access.default_namespace;
  election.name = options_.lease;
  election.identity = options_.identity;
  election.failed = [&logger](const kube::Fault& fault) {
    logger.Warning("cannot renew the Lease",
                   {{"reason", kube::ReasonName(fault.reason)}, {"fault", fault.message}});
  };
  elector_ = std::make_unique<kube::Elector>(connection_->client(), connection_->sleeper(), clock,
                                             election, std::random_device()());
}

Leadership::~Leadership() { stop_.request_stop(); }

void Leadership::Start(std::function<void(bool)> on_change) {
  const auto changed = [this, on_change = std::move(on_change)](bool leads) {
    since_ = clock_.WallNow().time_since_epoch().count();
    logger_.Info(leads ? "leading" : "standing by",
                 {{"lease", options_.lease}, {"identity", options_.identity}});
    if (on_change) on_change(leads);
  };
  if (!options_.elect) {
    since_ = clock_.WallNow().time_since_epoch().count();
    return;
  }
  thread_ = StartThread("election", [this, changed] { elector_->Run(stop_.get_token(), changed); });
}

bool Leadership::leading() const { return elector_ == nullptr || elector_->leading(); }

std::optional<Time> Leadership::since() const {
  if (!leading() || since_ == 0) return std::nullopt;
  return Time(Time::duration(since_.load()));
}

}  // namespace mindgate::cli
