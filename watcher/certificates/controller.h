#pragma once

#include <atomic>
#include <string>

#include "watcher/certificates/manager.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/single_loop.h"

namespace mindgate::watcher {

// Runs the certificate manager: every ten seconds, and sooner after a failure.
class CertificateController final : public Controller {
 public:
  struct Options {
    CertificateManagerOptions manager;
    std::function<std::optional<Term>()> term;
    uint64_t seed = 1;
  };

  // `client` as for LeaderClient. All must outlive it.
  CertificateController(kube::Client& client, const Clock& clock, log::Logger& logger,
                        Options options);

  std::string_view name() const override { return "certificates"; }
  bool wanted() const override { return true; }
  void Run(const std::stop_token& stop) override { loop_.Run(stop); }
  void EnqueueAll() override { loop_.Enqueue(); }
  std::string unready() const override { return failing_ ? "certificates cannot be managed" : ""; }
  void AddMetrics(std::vector<prometheus::MetricFamily>&) const override {}

 private:
  ReconcileResult Reconcile(const Term& term);

  kube::Client& client_;
  log::Logger& logger_;
  CertificateManager manager_;  // in the thread of the loop
  std::atomic<bool> failing_ = false;
  SingleLoop loop_;
};

}  // namespace mindgate::watcher
