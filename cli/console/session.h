#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "base/files.h"
#include "base/log.h"
#include "base/time.h"
#include "cli/console/terminal.h"
#include "kube/access.h"
#include "kube/client.h"
#include "kube/transport.h"
#include "watcher/frame/leadership.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// Shared by commands that run until SIGTERM or SIGINT.

struct LogOptions {
  std::string format = "json";  // or "text"
  std::string level = "info";   // or "debug", "warning", "error"
};

log::Format FormatOf(const LogOptions& options);
log::Level LevelOf(const LogOptions& options);

// Blocks SIGTERM and SIGINT in this thread and those it starts; call it before starting others.
// Each read of the returned descriptor yields one signal. Ignores SIGPIPE: a peer that closed its
// connection is a write error.
FileDescriptor CatchStopSignals();

// Waits for a signal. False on error.
bool AwaitStopSignal(int signals);

// Receives warnings of an API server. Thread-safe.
using WarningSink = std::function<void(const std::string&)>;

// "Warning: ..." on `err`, each text once, as kubectl does. `err` must outlive it.
WarningSink PrintWarnings(std::ostream& err);
// A line of the log, each text once. `logger` must outlive it.
WarningSink LogWarnings(log::Logger& logger);

// The connection to an API server, for all commands.
class Connection {
 public:
  // --request-timeout overrides the timeout of `options`.
  Connection(const kube::Access& access, kube::ClientOptions options, WarningSink warnings);

  kube::Client& client() { return client_; }
  kube::Sleeper& sleeper() { return sleeper_; }
  // The one of -n, else of the context.
  const std::string& ns() const { return ns_; }

 private:
  std::string ns_;
  std::unique_ptr<kube::Transport> transport_;
  kube::RealSleeper sleeper_;
  kube::Client client_;
};

// For interactive commands: few retries and a short timeout.
kube::ClientOptions ForPeople();

// Null on failure, after printing the reason to `io.err`. `clock` must outlive it.
std::unique_ptr<Connection> Connect(const kube::AccessFlags& flags, const Clock& clock,
                                    const kube::ClientOptions& options, Streams& io);

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
