#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "cli/console/streams.h"
#include "kube/access.h"
#include "kube/client.h"
#include "kube/transport.h"

namespace mindgate::cli {

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

}  // namespace mindgate::cli
