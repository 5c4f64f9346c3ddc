#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "http/connection.h"
#include "http/request.h"
#include "http/response.h"
#include "webhook/admission_review.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

namespace mindgate::webhook {

// Knows the decisions under way, so that one that does not end is noticed. Safe from many threads.
class Watchdog {
 public:
  explicit Watchdog(const Clock& clock) : clock_(clock) {}

  // One decision, from its first moment to its last; allocates nothing.
  class Decision {
   public:
    // Both outlive it.
    Decision(Watchdog& watchdog, const Review& review);
    Decision(const Decision&) = delete;
    Decision& operator=(const Decision&) = delete;
    ~Decision();

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    const Review& review_;
    const Clock::Instant since_;
    // Guarded by the watchdog's mutex, which clang cannot follow along the list.
    bool reported_ = false;
    Decision* before_ = nullptr;
    Decision* after_ = nullptr;
  };

  struct Overdue {
    std::string kind;
    std::string about;  // "Deployment team-a/llm"
    std::string uid;
    std::chrono::milliseconds taken{0};
    bool first = false;  // it was not reported before
  };
  // Decisions that have taken `limit` or longer. `report` marks them as reported.
  std::vector<Overdue> Longer(std::chrono::milliseconds limit, bool report = false);

 private:
  const Clock& clock_;
  Mutex mutex_;
  Decision* first_ GUARDED_BY(mutex_) = nullptr;
};

// "Deployment team-a/llm", cut to what a line of the log may hold.
std::string About(const Review& review);

// The longest name that Kubernetes has, about. Nobody else's text makes a line of the log long.
inline constexpr size_t kMaxLogged = 256;

inline std::string_view ForLog(std::string_view text) { return text.substr(0, kMaxLogged); }

// One answer to a review: decode, decide, encode, with counts and one line in the log. Safe from
// many threads.
class ReviewHandler {
 public:
  // All outlive the handler. `stats` and `refusals` count what is refused; what a body is decoded
  // to is charged to `budget`.
  ReviewHandler(const ServerOptions& options, const ServerInputs& inputs, Metrics& metrics,
                http::LayerStats& stats, RefusalCounts& refusals, http::ByteBudget& budget,
                Watchdog& watchdog);

  // What it throws is a bug, to be caught by the caller and passed to OnBug.
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
  void LogAnswer(Hook hook, const http::Request& request, const Review& review,
                 const admission::Verdict& verdict, std::string_view generation,
                 int64_t microseconds);
  void AddNamespaceLabels(schemas::AdmissionRequest& request) const;
  void LogSkipped(const Review& review, const admission::Verdict& verdict);

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
  log::Sampler skipped_;   // policies, with every review while something is not known
};

}  // namespace mindgate::webhook
