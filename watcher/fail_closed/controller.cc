#include "watcher/fail_closed/controller.h"

#include <chrono>
#include <utility>

namespace mindgate::watcher::fail_closed {
namespace {

// How soon an upgrade that adds a webhook is seen. One read for each configuration.
constexpr std::chrono::seconds kReadEvery(10);
constexpr std::chrono::seconds kAskEvery(1);

}  // namespace

Controller::Controller(kube::Client& client, const Clock& clock, log::Logger& logger,
                       Options options)
    : client_(client),
      logger_(logger),
      registration_(logger, options.ns, std::move(options.webhooks)),
      loop_(clock, {.name = "fail-closed",
                    .seed = options.seed,
                    .term = std::move(options.term),
                    .reconcile = [this](const Term& term) { return Reconcile(term); },
                    .forget = [this] { state_ = State::kClosed; }}) {}

std::string Controller::unready() const {
  switch (state_) {
    case State::kUnanswered:
      return "the API server has had no answer from the webhook yet";
    case State::kFailing:
      return "failurePolicy cannot be set to Fail";
    case State::kClosed:
      break;
  }
  return "";
}

ReconcileResult Controller::Reconcile(const Term& term) {
  LeaderClient client(client_, term);
  const auto closed = registration_.Reconcile(client);
  if (!term.holds()) return {};
  const State state = !closed ? State::kFailing : *closed ? State::kClosed : State::kUnanswered;
  const State before = state_.exchange(state);
  if (state == State::kClosed) return {.requeue_after = kReadEvery};
  if (state == State::kUnanswered) {
    if (before != state) {
      logger_.Info("webhooks have failurePolicy Ignore until the API server gets an answer");
    }
    return {.requeue_after = kAskEvery};
  }
  logger_.Error(
      "cannot set failurePolicy to Fail now: will retry",
      {{"reason", kube::ReasonName(closed.error().reason)}, {"fault", closed.error().message}});
  ReconcileResult result;
  result.Fail(closed.error());
  return result;
}

}  // namespace mindgate::watcher::fail_closed
