#include "webhook/routes.h"

#include "base/text.h"
#include "certs/load.h"

namespace mindgate::webhook {
namespace {

// The longest name that Kubernetes has, about. Nobody else's text makes a line of the log long.
constexpr size_t kMaxLogged = 256;

std::string_view ForLog(std::string_view text) { return text.substr(0, kMaxLogged); }

static_assert(kBodyRoom >= json::Text::kPadding);

// What a body may take while it is decoded and decided, in bytes for each of its own.
constexpr size_t kBytesAByte = 4;

std::string About(const Review& review) {
  return std::string(ForLog(review.kind)) + " " + std::string(ForLog(review.request.ns)) + "/" +
         std::string(ForLog(review.name));
}

// The newest attempt to load something, one line: "", or what is wrong with it.
std::string Fault(const ReloadStatus& status) {
  return status.error.empty() ? ""
                              : "; refused: " + status.error.substr(0, status.error.find('\n'));
}

int64_t Microseconds(Clock::Instant from, Clock::Instant to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

}  // namespace

ReviewHandler::ReviewHandler(const ServerOptions& options, const ServerInputs& inputs,
                             Metrics& metrics, LayerStats& stats, ByteBudget& budget)
    : options_(options),
      inputs_(inputs),
      metrics_(metrics),
      stats_(stats),
      budget_(budget),
      // A rollout of thousands of pods must not make the log the most expensive part of a review.
      admitted_(20, 100, inputs.clock),
      others_(100, 10, inputs.clock) {}

void ReviewHandler::OnBug(std::string_view what) {
  metrics_.CountBug();
  stats_.Add(Refusal::kInternal);
  if (!others_.Admit()) return;
  inputs_.logger.Error("internal error while answering a request", {{"what", what}});
}

Response ReviewHandler::Refuse(Hook hook, Refusal refusal, std::string_view detail,
                               const Request& request) {
  stats_.Add(refusal);
  if (others_.Admit()) {
    inputs_.logger.Warning("request refused", {{"path", PathOf(hook)},
                                               {"reason", InfoOf(refusal).name},
                                               {"detail", detail},
                                               {"traceparent", request.traceparent}});
  }
  return RefusalResponse(refusal, detail);
}

// No decision was made, so none is answered: the API server does what the webhook's failurePolicy
// says. Without Retry-After, since the same request would meet the same bug.
Response ReviewHandler::Bug(Hook hook, const Review& review, std::string_view what) {
  metrics_.CountBug();
  stats_.Add(Refusal::kInternal);
  if (others_.Admit()) {
    inputs_.logger.Error("internal error while deciding a review",
                         {{"uid", ForLog(review.uid)}, {"path", PathOf(hook)}, {"what", what}});
  }
  return RefusalResponse(Refusal::kInternal, "uid " + Quote(review.uid));
}

Response ReviewHandler::Handle(Hook hook, const Request& request) {
  const auto config = inputs_.config.Get();
  if (config == nullptr) return Refuse(hook, Refusal::kNotReady, "", request);
  const Clock& clock = inputs_.clock;
  const auto start = clock.Now();
  const size_t needed = request.body.size() * kBytesAByte;
  if (!budget_.Resize(0, needed)) return Refuse(hook, Refusal::kNoMemory, "", request);
  const ByteLease lease(budget_, needed);
  const auto decoder = decoders_.Borrow();  // the review points into it
  auto review = DecodeReview(*decoder, json::Text::InPlace(request.body), clock.WallNow());
  if (!review) return Refuse(hook, review.error().refusal, review.error().detail, request);
  const auto objects = inputs_.objects();
  review->request.objects = objects.get();
  const auto decoded = clock.Now();
  review->request.is_over = [&clock, end = start + options_.max_decision_time] {
    return clock.Now() > end;
  };

  admission::Options options;
  options.mutate = hook == Hook::kMutate;
  options.judge = hook == Hook::kValidate;
  options.apply = false;
  const admission::Verdict verdict = options_.decide(review->request, *config, options);
  const auto decided = clock.Now();
  metrics_.CountReview(hook, *review, verdict);
  if (verdict.gave_up) {
    return Refuse(hook, Refusal::kTooLate, "the decision on " + About(*review) + " was given up",
                  request);
  }
  if (verdict.outcome == admission::Outcome::kError) {
    return Bug(hook, *review,
               verdict.findings.empty() ? "no reason given" : verdict.findings.front().message);
  }
  Response response;
  response.body = EncodeAnswer(*review, hook, verdict, config->generation);
  const auto encoded = clock.Now();

  metrics_.Observe(Stage::kDecode, decoded - start);
  metrics_.Observe(Stage::kDecide, decided - decoded);
  metrics_.Observe(Stage::kEncode, encoded - decided);
  const bool denied = verdict.outcome == admission::Outcome::kDenied;
  if (inputs_.logger.Wants(log::Level::kInfo) && (denied ? others_ : admitted_).Admit()) {
    const std::string rules = RuleList(verdict.findings);
    inputs_.logger.Info("review", {{"uid", ForLog(review->uid)},
                                   {"path", PathOf(hook)},
                                   {"operation", schemas::OperationName(review->request.operation)},
                                   {"kind", ForLog(review->kind)},
                                   {"namespace", ForLog(review->request.ns)},
                                   {"name", ForLog(review->name)},
                                   {"user", ForLog(review->user)},
                                   {"dry_run", review->dry_run},
                                   {"outcome", admission::OutcomeName(verdict.outcome)},
                                   {"findings", static_cast<int64_t>(verdict.findings.size())},
                                   {"rules", rules},
                                   {"operations", static_cast<int64_t>(verdict.patch.size())},
                                   {"generation", config->generation},
                                   {"microseconds", Microseconds(start, encoded)},
                                   {"traceparent", request.traceparent}});
  }
  return response;
}

Response Readiness(const ServerInputs& inputs, bool draining, bool verbose) {
  const auto config = inputs.config.Get();
  const auto tls = inputs.tls.Get();
  const bool ready = config != nullptr && tls != nullptr && !draining;
  std::string text;
  if (verbose || !ready) {
    const auto check = [&text](bool good, std::string_view name, const std::string& detail) {
      text += good ? "[+]" : "[-]";
      text += name;
      text += good ? " ok" : " failed";
      text += (detail.empty() ? "" : ": ") + detail + "\n";
    };
    check(config != nullptr, "configuration",
          (config == nullptr ? "none loaded yet" : "generation " + config->generation) +
              Fault(inputs.config_status()));
    check(
        tls != nullptr, "certificate",
        (tls == nullptr ? "none loaded yet"
                        : "expires " + FormatTime(certs::ExpiryOf(*tls).serving.value_or(Time()))) +
            Fault(inputs.certificate_status()));
    // Never a reason to be not ready: without it, decisions rest on what objects say themselves.
    if (const std::string objects = inputs.objects_status(); !objects.empty()) {
      text += "[ ]lookups " + objects + "\n";
    }
    check(!draining, "serving", draining ? "shutting down" : "");
  }
  text += ready ? "ok\n" : "not ready\n";
  return PlainText(ready ? 200 : 503, std::move(text));
}

int64_t CertificateExpiry(const certs::TlsMaterial* material) {
  if (material == nullptr) return 0;
  const auto end = certs::ExpiryOf(*material).serving;
  return end ? end->time_since_epoch().count() : 0;
}

std::chrono::seconds TimeoutOf(std::string_view query) {
  std::string_view text = QueryValue(query, "timeout").value_or("");
  if (!text.ends_with('s')) return {};
  text.remove_suffix(1);
  // More than four digits is more than the 30 s that a webhook may ask for, by far.
  if (text.size() > 4 || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return std::chrono::seconds(ParseGoInt(text).value_or(0));
}

}  // namespace mindgate::webhook
