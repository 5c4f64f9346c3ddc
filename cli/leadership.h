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
  bool elect = false;  // if false, this replica always leads
  std::string lease = "mindgate-watcher";
  std::string identity;  // empty: the host name and a random number
};

void AddLeadershipFlags(CLI::App& command, LeadershipOptions& options);

// Leader election. The Lease has its own connection, so that slow requests do not delay its
// renewal. Thread-safe.
class Leadership {
 public:
  // In the default namespace of `access`. `clock` and `logger` must outlive it.
  Leadership(const kube::Access& access, LeadershipOptions options, const Clock& clock,
             log::Logger& logger);
  // Releases the Lease. All work that requires leadership must have finished.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // Starts leader election. `on_change` is called from another thread; never if
  // LeadershipOptions::elect is false.
  void Start(std::function<void(bool leading)> on_change = {});

  // False as soon as the renewal is overdue.
  bool leading() const;
  const std::string& identity() const { return options_.identity; }
  // The wall-clock time at which leadership began; nothing while not leading.
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
