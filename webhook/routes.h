#pragma once

#include <functional>
#include <string>

#include "webhook/decoder_pool.h"
#include "webhook/http_layer.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

namespace mindgate::webhook {

// One answer to a review: decode, decide, encode, with counts and one line in the log. Safe from
// many threads.
class ReviewHandler {
 public:
  // All outlive the handler. `stats` counts what is refused.
  ReviewHandler(const ServerOptions& options, const ServerInputs& inputs, Metrics& metrics,
                LayerStats& stats);

  HttpResponse Handle(Hook hook, const HttpRequest& request);

  // A bug that shows outside Handle.
  void OnBug(std::string_view what);

 private:
  HttpResponse Decide(Hook hook, const HttpRequest& request);
  HttpResponse Refuse(Hook hook, Refusal refusal, std::string_view detail,
                      const HttpRequest& request);
  HttpResponse Bug(Hook hook, const Review& review, std::string_view what);

  const ServerOptions& options_;
  const ServerInputs& inputs_;
  Metrics& metrics_;
  LayerStats& stats_;
  DecoderPool decoders_{kNotDecoded};
  log::Sampler admitted_;  // the many
  log::Sampler others_;    // the few that someone will ask about
};

// `/livez` and `/readyz`. `verbose` lists each check with its state.
HttpResponse Readiness(const ServerInputs& inputs, bool draining, bool verbose);

// Seconds since 1970 at which the serving certificate expires, 0 without one.
int64_t CertificateExpiry(const certs::TlsMaterial* material);

// The `?timeout=` of a target as kube-apiserver writes it ("5s"); zero when there is none or it is
// something else.
std::chrono::seconds TimeoutOf(std::string_view target);

}  // namespace mindgate::webhook
