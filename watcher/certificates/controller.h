#pragma once

#include <atomic>
#include <string>

#include "watcher/certificates/manager.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/reconcile_loop.h"

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
  void Run(const std::stop_token& stop) override;
  void EnqueueAll() override { loop_.Enqueue(secret_); }
  std::string unready() const override { return failing_ ? "certificates cannot be managed" : ""; }
  void AddMetrics(std::vector<prometheus::MetricFamily>&) const override {}

 private:
  // Namespace and name of the Secret.
  struct Key {
    std::string ns;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
    friend const std::string& NamespaceOf(const Key& key) { return key.ns; }
  };

  ReconcileResult Reconcile(const Term& term);

  kube::Client& client_;
  log::Logger& logger_;
  const Key secret_;
  CertificateManager manager_;  // in the thread of the loop
  std::atomic<bool> failing_ = false;
  ReconcileLoop<Key> loop_;
};

}  // namespace mindgate::watcher
