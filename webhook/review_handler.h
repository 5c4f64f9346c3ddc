#pragma once

#include <functional>
#include <string>

#include "http/byte_budget.h"
#include "http/framing.h"
#include "http/layer_stats.h"
#include "http/response.h"
#include "webhook/decoder_pool.h"
#include "webhook/metrics.h"
#include "webhook/refusal.h"
#include "webhook/server_options.h"
#include "webhook/watchdog.h"

namespace mindgate::webhook {

// One answer to a review: decode, decide, encode, with counts and one line in the log. Safe from
// many threads.
class ReviewHandler {
 public:
  // All outlive the handler. `stats` and `refusals` count what is refused; what a body is decoded
  // to is charged to `budget`.
  ReviewHandler(const ServerOptions& options, const ServerInputs& inputs, Metrics& metrics,
                http::LayerStats& stats, RefusalCounts& refusals, http::ByteBudget& budget,
                Watchdog& watchdog);

  // What it throws is a bug, to be caught by the caller and told to OnBug.
  http::Response Handle(Hook hook, const http::Request& request);

  void OnBug(std::string_view what);

 private:
  http::Response Refuse(Hook hook, Refusal refusal, std::string_view detail,
                        const http::Request& request);
  http::Response Refuse(Hook hook, http::Refusal refusal, std::string_view detail,
                        const http::Request& request);
  http::Response Refused(Hook hook, const http::RefusalInfo& info, std::string_view detail,
                         const http::Request& request);
  http::Response Bug(Hook hook, const Review& review, std::string_view what);

  const ServerOptions& options_;
  const ServerInputs& inputs_;
  Metrics& metrics_;
  http::LayerStats& stats_;
  RefusalCounts& refusals_;
  http::ByteBudget& budget_;
  Watchdog& watchdog_;
  DecoderPool decoders_{kNotDecoded};
  log::Sampler admitted_;  // the many
  log::Sampler others_;    // the few that someone will ask about
};

}  // namespace mindgate::webhook
