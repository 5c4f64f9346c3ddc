#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "cli/connection.h"
#include "kube/access.h"
#include "kube/election.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

struct LeadershipOptions {
  bool elect = false;  // without it, this replica leads as long as it runs
  std::string lease = "mindgate-watcher";
  std::string identity;  // empty: the host's name and something random
};

void AddLeadershipFlags(CLI::App& command, LeadershipOptions& options);

// Whether this replica is the one that acts. The Lease has a connection of its own: whatever else
// is slow, it is renewed in time. Safe from many threads.
class Leadership {
 public:
  // In the default namespace of `access`. `clock` and `logger` must outlive it.
  Leadership(const kube::Access& access, LeadershipOptions options, const Clock& clock,
             log::Logger& logger);
  // Gives the Lease away. Whoever acts must have ended before.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // Tries for the Lease from now on. `on_change` is called from another thread, with
  // LeadershipOptions::elect off from this one.
  void Start(std::function<void(bool leading)> on_change = {});

  // By the clock: false as soon as the renewal is overdue.
  bool leading() const;
  const std::string& identity() const { return options_.identity; }
  // Since when, by the wall clock; nothing while it does not lead.
  std::optional<Time> since() const;

 private:
  const LeadershipOptions options_;
  const Clock& clock_;
  log::Logger& logger_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<kube::Elector> elector_;
  std::atomic<Time::rep> since_ = 0;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace mindgate::cli
