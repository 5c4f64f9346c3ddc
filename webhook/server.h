#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "admission/admit.h"
#include "base/log.h"
#include "base/result.h"
#include "base/snapshot.h"
#include "base/threads.h"
#include "base/time.h"
#include "base/version.h"
#include "certs/certificate.h"
#include "http/connection.h"
#include "http/event_loop.h"
#include "http/request.h"
#include "http/response.h"
#include "http/transport.h"
#include "schemas/config.h"
#include "webhook/admission_review.h"

namespace mindgate::webhook {

// The largest body that a loop's thread decides itself. The loop's other connections wait
// meanwhile, and a review of this size takes no longer than a handshake, which the loop does itself
// as well: half a millisecond. Ordinary reviews have 10 KB.
inline constexpr size_t kMaxInlineBytes = 32 * 1024;

// How long a loop decides while other connections wait: half of what one in a hundred reviews may
// take.
inline constexpr std::chrono::milliseconds kMaxTurn{1};

enum class Executor {
  kLoop,  // where the request was read: no other thread is woken
  kPool,
};

// Where a review is decided. In the loop if its body is small, for handing it to another thread and
// the answer back takes more CPU than the decision; but nobody waits in a loop for longer than
// kMaxTurn and one decision.
Executor ExecutorOf(size_t body_bytes, const http::Arrival& arrival, size_t max_inline_bytes);

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
  // Time that a decision needs at least; with less left the caller is asked to try again.
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
  // The labels of a namespace, as they are known now; nothing: they are not.
  std::function<std::optional<schemas::NamespaceLabels>(std::string_view ns)> namespace_labels =
      [](std::string_view) { return std::nullopt; };
  // The state of these lookups, for /readyz?verbose; empty: nothing is looked up.
  std::function<std::string()> objects_status = [] { return std::string(); };
  // Objects that these lookups know of and do not keep, for the metrics.
  std::function<size_t()> objects_left_out = [] { return size_t{0}; };
};

// One request that waits for a decision.
struct Job {
  http::Request request;
  Clock::Instant arrived;
  Clock::Instant deadline;  // the caller's, or the connection's when that is earlier
  http::Responder responder;
};

// A fixed number of threads and a bounded queue. Decisions are made here and not in the event
// loops, so that a review of 7 MiB delays no handshake, and a full queue is noticed and answered at
// once. Safe from many threads.
class WorkPool {
 public:
  // `work` must not throw.
  WorkPool(size_t threads, size_t capacity, std::function<void(Job)> work);
  ~WorkPool();  // stops

  // False when the queue is full or the pool has stopped.
  bool TryPush(Job job);

  // Lets jobs under way end and drops those that wait.
  void Stop();

  size_t waiting() const;
  size_t capacity() const { return capacity_; }

 private:
  void Loop();

  const size_t capacity_;
  const std::function<void(Job)> work_;
  mutable Mutex mutex_;
  ConditionVariable ready_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
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
  const http::LayerStats& stats() const;  // of the admission port
  const RefusalCounts& refusals() const;
  std::string Metrics() const;

  // Not ready from here on, every answer closes its connection.
  void BeginDrain();
  // Takes the drain further, to be called now and then; true when it is over. All the while
  // connections that have been idle for `min_idle_before_close` end. First it serves on for
  // drain_delay; then it takes no more connections and answers those requests that still come with
  // 503 and `Retry-After: 0`. Over when no connection is left or drain_time has passed.
  bool DrainStep();

  // Logs each decision that hangs, once; to be called every second or so.
  void LogHanging();
  // Whether a thread hangs, which would never be joined.
  bool hangs() const;

  // Makes the loops check the clock: for tests that move it.
  void Wake();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Serves until `stop_fd` (a signalfd, or anything of which one read is one request to stop) says
// stop, then drains. 0 after a complete drain, 1 with connections left. On a second stop, or when a
// thread hangs after the drain, calls `exit_now(1)`, which does not return but in tests. `started`
// is called once it serves.
Result<int> Run(ServerOptions options, const ServerInputs& inputs, int stop_fd,
                const std::function<void(int)>& exit_now,
                const std::function<void(const Server&)>& started);

// `/readyz`. `hangs` says which decision or thread hangs, empty if none does. `verbose` lists each
// check with its state.
http::Response Readiness(const ServerInputs& inputs, const std::string& hangs, bool draining,
                         bool verbose);

}  // namespace mindgate::webhook
