#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/byte_budget.h"
#include "http/front_end.h"
#include "http/router.h"

namespace mindgate::http {

// The port of probes and metrics: the connection layer without TLS. Answers come from its loop's
// own thread and from a byte budget of its own, so that no flood of reviews turns a probe away.
class ProbePort {
 public:
  struct Options {
    std::string listen = ":8080";
    size_t max_connections = 64;
    ConnectionSettings settings{};
    const Clock* clock = nullptr;
    std::function<void(std::string_view what)> on_bug;
    std::function<bool()> closing = [] { return false; };  // whether answers end connections
  };
  // Listens: who connects waits until Serve.
  static Result<std::unique_ptr<ProbePort>> Open(Options options,
                                                 std::vector<Router::Route> routes);

  void Serve() { front_end_->Serve(); }
  void Stop() { front_end_->Stop(); }
  void Wake() { front_end_->Wake(); }
  uint16_t port() const { return front_end_->port(); }
  const LayerStats& stats() const { return front_end_->stats(); }

 private:
  ProbePort(Options options, std::vector<Router::Route> routes);

  const Options options_;
  ByteBudget budget_{4 * 1024 * 1024};
  const Router router_;
  std::unique_ptr<FrontEnd> front_end_;
};

// Of /metrics, in Prometheus text format.
Response MetricsText(std::string text);

}  // namespace mindgate::http
