#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "watcher/fail_closed/registration.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/single_loop.h"

namespace mindgate::watcher::fail_closed {

// Runs the registration: every second until the webhook has answered, and every ten seconds after.
class Controller final : public watcher::Controller {
 public:
  struct Options {
    std::string ns;  // of mindgate
    WebhookConfigurations webhooks;
    std::function<std::optional<Term>()> term;
    uint64_t seed = 1;
  };

  // `client` as for LeaderClient. All must outlive it.
  Controller(kube::Client& client, const Clock& clock, log::Logger& logger, Options options);

  std::string_view name() const override { return "fail-closed"; }
  bool wanted() const override { return true; }
  void Run(const std::stop_token& stop) override { loop_.Run(stop); }
  void EnqueueAll() override { loop_.Enqueue(); }
  // A leader is not ready before the webhook has answered, so that `helm install --wait` waits.
  std::string unready() const override;
  void AddMetrics(std::vector<prometheus::MetricFamily>&) const override {}

 private:
  enum class State { kClosed, kUnanswered, kFailing };

  ReconcileResult Reconcile(const Term& term);

  kube::Client& client_;
  log::Logger& logger_;
  Registration registration_;  // in the thread of the loop
  std::atomic<State> state_ = State::kClosed;
  SingleLoop loop_;
};

}  // namespace mindgate::watcher::fail_closed
