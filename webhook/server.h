#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "admission/admit.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/reloader.h"
#include "base/result.h"
#include "base/snapshot.h"
#include "certs/tls_material.h"
#include "schemas/config.h"
#include "webhook/front_end.h"
#include "webhook/place.h"

namespace mindgate::webhook {

struct ServerOptions {
  std::string listen = ":9443";
  std::string probe_listen = ":8080";
  size_t io_threads = 2;
  // A decision takes 100 us: four threads serve more than an API server asks, and each holds the
  // tree of one body, at worst 60 MB.
  size_t work_threads = std::clamp(std::thread::hardware_concurrency(), 2u, 4u);
  // Bodies up to this size may be decided in a loop's thread (place.h); 0: none.
  size_t max_inline_bytes = kMaxInlineBytes;
  // A review takes well under a millisecond: more waiting than this is a burst that a repeat serves
  // better.
  size_t queue = 256;
  size_t max_connections = 2048;
  size_t max_probe_connections = 64;
  size_t bytes_in_flight = size_t{64}
                           << 20;  // nine bodies of the largest size, or a thousand of 60 KB
  ClientAuth client_auth;
  ConnectionSettings connections;  // `port` is set per port
  // Time that a decision needs at least; with less left the caller is told to try again.
  std::chrono::milliseconds decision_time{5};
  // When a decision is given up: ten times what the worst object of 3 MiB takes.
  std::chrono::milliseconds max_decision_time{2'500};
  // A connection that has been idle for so long is closed in a drain. An API server takes the one
  // it used last, so that the older an idle connection is, the less likely does a request cross its
  // end, which the API server counts as a failed call.
  std::chrono::milliseconds min_idle_before_close{1'000};
  // How long to keep serving after SIGTERM: until every node has removed this replica from the
  // Service's endpoints.
  std::chrono::milliseconds drain_delay{5'000};
  // When it ends even with connections open; under the 30 s of a Pod's default grace period.
  std::chrono::milliseconds drain_time{25'000};
  std::string version;  // of the build, for the metrics
  // The decision itself; tests put faults here.
  std::function<admission::Verdict(const schemas::AdmissionRequest&, const schemas::Config&,
                                   const admission::Options&)>
      decide = admission::Admit;
};

// What a server reads but does not own; outlives it. Empty snapshots mean not ready.
struct ServerInputs {
  const Snapshot<schemas::Config>& config;
  const Snapshot<certs::TlsMaterial>& tls;
  const Clock& clock;
  log::Logger& logger;
  // How loading them went: a Reloader's status(), for /readyz?verbose and the metrics.
  std::function<ReloadStatus()> config_status = [] { return ReloadStatus(); };
  std::function<ReloadStatus()> certificate_status = [] { return ReloadStatus(); };
  // Other objects of the cluster that decisions may read, as they are known now; null: none.
  std::function<std::shared_ptr<const schemas::ObjectLookup>()> objects = [] { return nullptr; };
  // The state of these lookups, for /readyz?verbose; empty: nothing is looked up.
  std::function<std::string()> objects_status = [] { return std::string(); };
  // Objects that these lookups know of and do not keep, for the metrics.
  std::function<size_t()> objects_left_out = [] { return size_t{0}; };
};

// The admission port and the probe port, from the first connection to the last. Public functions
// are for one thread.
class Server {
 public:
  // Serves when it returns; /readyz says no until configuration and certificate are there.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, const ServerInputs& inputs);
  ~Server();  // ends at once

  uint16_t port() const;
  uint16_t probe_port() const;
  const LayerStats& stats() const;  // of the admission port
  std::string Metrics() const;

  // Not ready from here on, every answer closes its connection.
  void BeginDrain();
  // Takes the drain further, to be called now and then; true when it is over. All the while
  // connections that have been idle for `min_idle_before_close` end. First it serves on for
  // drain_delay; then it takes no more connections and answers those requests that still come with
  // 503 and `Retry-After: 0`. Over when no connection is left or drain_time has passed.
  bool DrainStep();

  // Makes the loops check the clock: for tests that move it.
  void Wake();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Serves until `stop_fd` (a signalfd, or anything of which one read is one request to stop) says
// stop, then drains. 0 after a complete drain, 1 with connections left. On a second stop calls
// `exit_now(1)`, which does not return but in tests. `started` is called once it serves.
Result<int> Run(ServerOptions options, const ServerInputs& inputs, int stop_fd,
                const std::function<void(int)>& exit_now,
                const std::function<void(const Server&)>& started);

}  // namespace mindgate::webhook
