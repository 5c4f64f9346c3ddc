#pragma once

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "cli/console/connection.h"
#include "kube/access.h"
#include "watcher/frame/leadership.h"

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

// Leadership with a connection of its own, so that slow requests do not delay the renewal.
class ConnectedLeadership {
 public:
  // The Lease is in the default namespace of `access`. `clock` and `logger` must outlive it.
  ConnectedLeadership(const kube::Access& access, const LeadershipOptions& options,
                      const Clock& clock, log::Logger& logger);

  watcher::Leadership& operator*() { return leadership_; }
  watcher::Leadership* operator->() { return &leadership_; }

 private:
  Connection connection_;
  watcher::Leadership leadership_;
};

}  // namespace mindgate::cli
