#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "watcher/fail_closed/registration.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/reconcile_loop.h"

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
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override { loop_.Enqueue(key_); }
  // A leader is not ready before the webhook has answered, so that `helm install --wait` waits.
  std::string unready() const override;
  void AddMetrics(std::vector<prometheus::MetricFamily>&) const override {}

 private:
  // All configurations at once.
  struct Key {
    std::string ns;
    friend auto operator<=>(const Key&, const Key&) = default;
    friend const std::string& NamespaceOf(const Key& key) { return key.ns; }
  };

  enum class State { kClosed, kUnanswered, kFailing };

  ReconcileResult Reconcile(const Term& term);

  kube::Client& client_;
  log::Logger& logger_;
  const Key key_;
  Registration registration_;  // in the thread of the loop
  std::atomic<State> state_ = State::kClosed;
  ReconcileLoop<Key> loop_;
};

}  // namespace mindgate::watcher::fail_closed
