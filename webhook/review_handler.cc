#include "webhook/review_handler.h"

#include "base/text.h"
#include "base/threads.h"

namespace mindgate::webhook {

Watchdog::Decision::Decision(Watchdog& watchdog, const Review& review)
    : watchdog_(watchdog), review_(review), since_(watchdog.clock_.Now()) {
  const MutexLock lock(watchdog_.mutex_);
  after_ = watchdog_.first_;
  if (after_ != nullptr) after_->before_ = this;
  watchdog_.first_ = this;
}

Watchdog::Decision::~Decision() {
  const MutexLock lock(watchdog_.mutex_);
  (before_ == nullptr ? watchdog_.first_ : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

std::vector<Watchdog::Overdue> Watchdog::Longer(std::chrono::milliseconds limit, bool report) {
  const auto now = clock_.Now();
  std::vector<Overdue> overdue;
  const MutexLock lock(mutex_);
  for (Decision* decision = first_; decision != nullptr; decision = decision->after_) {
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - decision->since_);
    if (taken < limit) continue;
    overdue.push_back({.kind = decision->review_.kind,
                       .about = About(decision->review_),
                       .uid = std::string(ForLog(decision->review_.uid)),
                       .taken = taken,
                       .first = !decision->reported_});
    decision->reported_ = decision->reported_ || report;
  }
  return overdue;
}

std::string About(const Review& review) {
  return std::string(ForLog(review.kind)) + " " + std::string(ForLog(review.request.ns)) + "/" +
         std::string(ForLog(review.name));
}

namespace {

static_assert(http::kBodyRoom >= json::Text::kPadding);

// What a body may take while it is decoded and decided, in bytes for each of its own.
constexpr size_t kBytesAByte = 4;

int64_t Microseconds(Clock::Instant from, Clock::Instant to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

}  // namespace

ReviewHandler::ReviewHandler(const ServerOptions& options, const ServerInputs& inputs,
                             Metrics& metrics, http::LayerStats& stats, RefusalCounts& refusals,
                             http::ByteBudget& budget, Watchdog& watchdog)
    : options_(options),
      inputs_(inputs),
      metrics_(metrics),
      stats_(stats),
      refusals_(refusals),
      budget_(budget),
      watchdog_(watchdog),
      // A rollout of thousands of pods must not make the log the most expensive part of a review.
      admitted_(20, 100, inputs.clock),
      others_(100, 10, inputs.clock),
      skipped_(5, 100, inputs.clock) {}

void ReviewHandler::OnBug(std::string_view what) {
  metrics_.CountBug();
  stats_.Add(http::Refusal::kInternal);
  if (!others_.Admit()) return;
  inputs_.logger.Error("internal error while answering a request", {{"what", what}});
}

http::Response ReviewHandler::Refuse(Hook hook, Refusal refusal, std::string_view detail,
                                     const http::Request& request) {
  refusals_.Add(refusal);
  return Refused(hook, InfoOf(refusal), detail, request);
}

http::Response ReviewHandler::Refuse(Hook hook, http::Refusal refusal, std::string_view detail,
                                     const http::Request& request) {
  stats_.Add(refusal);
  return Refused(hook, InfoOf(refusal), detail, request);
}

http::Response ReviewHandler::Refused(Hook hook, const http::RefusalInfo& info,
                                      std::string_view detail, const http::Request& request) {
  if (others_.Admit()) {
    inputs_.logger.Warning("request refused", {{"path", PathOf(hook)},
                                               {"reason", info.name},
                                               {"detail", detail},
                                               {"traceparent", request.traceparent}});
  }
  return http::RefusalResponse(info, detail);
}

// No decision was made, so none is answered: the API server does what the webhook's failurePolicy
// says. Without Retry-After, since the same request would meet the same bug.
http::Response ReviewHandler::Bug(Hook hook, const Review& review, std::string_view what) {
  metrics_.CountBug();
  stats_.Add(http::Refusal::kInternal);
  if (others_.Admit()) {
    inputs_.logger.Error("internal error while deciding a review",
                         {{"uid", ForLog(review.uid)}, {"path", PathOf(hook)}, {"what", what}});
  }
  return http::RefusalResponse(http::Refusal::kInternal, "uid " + Quote(review.uid));
}

void ReviewHandler::LogAnswer(Hook hook, const http::Request& request, const Review& review,
                              const admission::Verdict& verdict, std::string_view generation,
                              int64_t microseconds) {
  const bool denied = verdict.outcome == admission::Outcome::kDenied;
  if (!inputs_.logger.Wants(log::Level::kInfo) || !(denied ? others_ : admitted_).Admit()) return;
  const std::string rules = RuleList(verdict.findings);
  inputs_.logger.Info("review", {{"uid", ForLog(review.uid)},
                                 {"path", PathOf(hook)},
                                 {"operation", schemas::OperationName(review.request.operation)},
                                 {"kind", ForLog(review.kind)},
                                 {"namespace", ForLog(review.request.ns)},
                                 {"name", ForLog(review.name)},
                                 {"user", ForLog(review.user)},
                                 {"dry_run", review.request.dry_run},
                                 {"outcome", admission::OutcomeName(verdict.outcome)},
                                 {"findings", static_cast<int64_t>(verdict.findings.size())},
                                 {"rules", rules},
                                 {"operations", static_cast<int64_t>(verdict.patch.size())},
                                 {"generation", generation},
                                 {"microseconds", microseconds},
                                 {"traceparent", request.traceparent}});
}

void ReviewHandler::AddNamespaceLabels(schemas::AdmissionRequest& request) const {
  auto labels = inputs_.namespace_labels(request.ns);
  request.knows_namespace_labels = labels.has_value();
  if (labels) request.namespace_labels = *std::move(labels);
}

// Nothing is refused for that, so somebody must be able to see it.
void ReviewHandler::LogSkipped(const Review& review, const admission::Verdict& verdict) {
  if (verdict.skipped.empty() || !skipped_.Admit()) return;
  const policies::Skipped& first = verdict.skipped.front();
  inputs_.logger.Warning("policies were skipped",
                         {{"uid", ForLog(review.uid)},
                          {"kind", ForLog(review.kind)},
                          {"namespace", ForLog(review.request.ns)},
                          {"name", ForLog(review.name)},
                          {"policies", static_cast<int64_t>(verdict.skipped.size())},
                          {"first", first.rule->id},
                          {"reason", ForLog(first.reason)}});
}

http::Response ReviewHandler::Handle(Hook hook, const http::Request& request) {
  const auto config = inputs_.config.Get();
  if (config == nullptr) return Refuse(hook, Refusal::kNotReady, "", request);
  const Clock& clock = inputs_.clock;
  const auto start = clock.Now();
  const size_t needed = request.body.size() * kBytesAByte;
  if (!budget_.Resize(0, needed)) return Refuse(hook, http::Refusal::kNoMemory, "", request);
  const http::ByteLease lease(budget_, needed);
  const auto decoder = decoders_.Borrow();  // the review points into it
  auto review = DecodeReview(*decoder, json::Text::InPlace(request.body), clock.WallNow());
  if (!review) return Refuse(hook, review.error().refusal, review.error().detail, request);
  if (hook == Hook::kProbe) {
    http::Response answer;
    answer.body = EncodeProbeAnswer(*review);
    return answer;
  }
  const Watchdog::Decision watched(watchdog_, *review);
  const auto objects = inputs_.objects();
  review->request.objects = objects.get();
  if (!review->request.ns.empty()) AddNamespaceLabels(review->request);
  const auto decoded = clock.Now();
  review->request.is_over = [&clock, end = start + options_.max_decision_time] {
    return clock.Now() > end;
  };

  admission::Options options;
  options.mutate = hook == Hook::kMutate;
  options.evaluate = hook == Hook::kValidate;
  options.apply = false;
  const admission::Verdict verdict = options_.decide(review->request, *config, options);
  const auto decided = clock.Now();
  metrics_.CountReview(hook, *review, verdict);
  if (verdict.gave_up) {
    return Refuse(hook, http::Refusal::kTooLate,
                  "the decision on " + About(*review) + " was given up", request);
  }
  if (verdict.outcome == admission::Outcome::kError) {
    return Bug(hook, *review,
               verdict.findings.empty() ? "no reason given" : verdict.findings.front().message);
  }
  http::Response response;
  response.body = EncodeAnswer(*review, hook, verdict, config->generation);
  const auto encoded = clock.Now();

  metrics_.Observe(Stage::kDecode, decoded - start);
  metrics_.Observe(Stage::kDecide, decided - decoded);
  metrics_.Observe(Stage::kEncode, encoded - decided);
  LogAnswer(hook, request, *review, verdict, config->generation, Microseconds(start, encoded));
  LogSkipped(*review, verdict);
  return response;
}

}  // namespace mindgate::webhook
