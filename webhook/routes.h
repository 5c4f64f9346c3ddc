#pragma once

#include <functional>
#include <string>

#include "webhook/byte_budget.h"
#include "webhook/decoder_pool.h"
#include "webhook/framing.h"
#include "webhook/metrics.h"
#include "webhook/response.h"
#include "webhook/server.h"

namespace mindgate::webhook {

// One answer to a review: decode, decide, encode, with counts and one line in the log. Safe from
// many threads.
class ReviewHandler {
 public:
  // All outlive the handler. `stats` counts what is refused; what a body is decoded to is charged
  // to `budget`.
  ReviewHandler(const ServerOptions& options, const ServerInputs& inputs, Metrics& metrics,
                LayerStats& stats, ByteBudget& budget);

  // What it throws is a bug, to be caught by the caller and told to OnBug.
  Response Handle(Hook hook, const Request& request);

  void OnBug(std::string_view what);

 private:
  Response Refuse(Hook hook, Refusal refusal, std::string_view detail, const Request& request);
  Response Bug(Hook hook, const Review& review, std::string_view what);

  const ServerOptions& options_;
  const ServerInputs& inputs_;
  Metrics& metrics_;
  LayerStats& stats_;
  ByteBudget& budget_;
  DecoderPool decoders_{kNotDecoded};
  log::Sampler admitted_;  // the many
  log::Sampler others_;    // the few that someone will ask about
};

// `/livez` and `/readyz`. `verbose` lists each check with its state.
Response Readiness(const ServerInputs& inputs, bool draining, bool verbose);

// Seconds since 1970 at which the serving certificate expires, 0 without one.
int64_t CertificateExpiry(const certs::TlsMaterial* material);

// The `timeout` of a query as kube-apiserver writes it ("timeout=5s"); zero when there is none or
// it is something else.
std::chrono::seconds TimeoutOf(std::string_view query);

}  // namespace mindgate::webhook
