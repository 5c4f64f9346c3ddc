#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "admission/admit.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/reloader.h"
#include "base/snapshot.h"
#include "base/version.h"
#include "certs/tls_material.h"
#include "http/connection.h"
#include "http/tls_context.h"
#include "schemas/config.h"
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
  // The largest body with what it is decoded to (http::ByteBudget::kLarge), or 150 of 60 KB with
  // theirs. With the 24 MiB of handshakes and 1,800 idle connections of 14 to 22 KB, the whole
  // stays below 128 MiB.
  size_t bytes_in_flight = size_t{48} << 20;
  http::ClientAuth client_auth;
  http::ConnectionSettings connections;  // `port` is set per port
  // Time that a decision needs at least; with less left the caller is told to try again.
  std::chrono::milliseconds decision_time{5};
  // When a decision is given up: ten times what the worst object of 3 MiB takes.
  std::chrono::milliseconds max_decision_time{2'500};
  // A thread at work for so long hangs, for decisions give up long before: the replica is not
  // ready, and then not live, so that the kubelet restarts it.
  std::chrono::milliseconds stuck_after{5'000};
  std::chrono::milliseconds dead_after{15'000};
  // A connection that has been idle for so long is closed in a drain. An API server takes the one
  // it used last, so that the older an idle connection is, the less likely does a request cross its
  // end, which the API server counts as a failed call.
  std::chrono::milliseconds min_idle_before_close{1'000};
  // How long to keep serving after SIGTERM: until every node has removed this replica from the
  // Service's endpoints.
  std::chrono::milliseconds drain_delay{5'000};
  // When it ends even with connections open; under the 30 s of a Pod's default grace period.
  std::chrono::milliseconds drain_time{25'000};
  Build build;  // that runs, for the metrics
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

}  // namespace mindgate::webhook
