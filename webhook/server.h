#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/layer_stats.h"
#include "http/response.h"
#include "webhook/refusal.h"
#include "webhook/server_options.h"

namespace mindgate::webhook {

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

// Seconds since 1970 at which the serving certificate expires, 0 without one.
int64_t CertificateExpiry(const certs::TlsMaterial* material);

}  // namespace mindgate::webhook
