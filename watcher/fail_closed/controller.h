#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/webhook_configurations.h"

namespace mindgate::watcher::fail_closed {

// A webhook with failurePolicy Fail that does not answer makes the API server reject what it
// validates. So that an installation rejects nothing before it works, and nothing at all where the
// API server cannot reach the webhook, its webhooks are registered with Ignore, and become Fail
// here (schemas::kFailClosed). Only an answer that went all the way counts: a ConfigMap is created
// in the namespace of mindgate, as a dry run, which the API server sends to the path /probe of the
// webhook, and which that denies. What is Fail stays so.
class Registration {
 public:
  // `ns` is the namespace of mindgate. `logger` must outlive it.
  Registration(log::Logger& logger, std::string ns, WebhookConfigurations webhooks);

  // Whether all webhooks that are to fail closed do; false: the webhook did not answer. A
  // configuration that does not exist is skipped. Safe to retry after any fault.
  kube::Answer<bool> Reconcile(LeaderClient& client);

 private:
  // Whether the API server gets an answer from the webhook now.
  kube::Answer<bool> Answers(LeaderClient& client);
  kube::Answer<void> Close(const WebhookConfiguration& configuration,
                           const std::vector<std::string>& webhooks, LeaderClient& client);

  log::Logger& logger_;
  const std::string ns_;
  const WebhookConfigurations webhooks_;
};

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
  bool enabled() const override { return true; }
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
