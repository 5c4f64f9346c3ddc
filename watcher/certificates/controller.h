#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/time.h"
#include "certs/authority.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/webhook_configurations.h"

namespace mindgate::watcher {

// Annotation on the Secret that requests an early renewal; its value is "serving" or "ca". The
// manager removes it afterwards.
inline constexpr const char* kRotateAnnotation = "mindgate.io/rotate";

// Annotation on a Secret that replaced a lost one: until this time (RFC 3339), the CAs that clients
// trusted before are published together with the new one. Every replica that leads meanwhile reads
// it; it is removed afterwards.
inline constexpr const char* kTrustOthersAnnotation = "mindgate.io/trust-previous-until";

// Owns only the caBundle fields and one ownerReference, so that it does not conflict with the owner
// of the rest of a webhook configuration, such as Helm or GitOps.
inline constexpr const char* kBundleFieldManager = "mindgate-certs";

struct CertificateManagerOptions {
  std::string ns;
  std::string secret = "mindgate-tls";
  std::string service = "mindgate-webhook";  // in `ns`; the certificate covers its names
  WebhookConfigurations webhooks;
  certs::RotationPolicy policy{};  // names are set from the service
};

// Manages the Secret of the webhook, and publishes the CA in caBundle of its webhook
// configurations. Only the leader runs it; if there are two, the Secret's resourceVersion lets
// only one write. The keys are in the Secret alone, so that any replica can take over. A CA signs
// only after it was published: while publishing fails, nothing is renewed. If the Secret was lost,
// servers use the old certificate until the kubelet updates their volume, and the CAs that clients
// trusted before are published for `policy.publish` more. The namespace becomes
// the owner of the configurations, so that the garbage collector deletes them with it. Otherwise
// the API server would reject everything that the deleted webhook validated.
class CertificateManager {
 public:
  // All references must outlive it.
  CertificateManager(const Clock& clock, log::Logger& logger, CertificateManagerOptions options);

  // Reads the Secret and the configurations, and does what is due. Returns when the next rotation
  // step is due. A configuration that does not exist is skipped. Safe to retry after any fault.
  kube::Answer<Time> Reconcile(LeaderClient& client);

 private:
  struct Stored;

  kube::Answer<Stored> Read(LeaderClient& client);
  kube::Answer<void> Write(const Stored& stored, const certs::State& state, LeaderClient& client);
  // The ownerReference to our namespace; null without permission to read it.
  kube::Answer<json::Json> OwnerReference(LeaderClient& client);
  // Whether clients trust some CA now.
  kube::Answer<bool> AnyPublished(LeaderClient& client);
  // Keeps the CAs that are published now if `trust_others`.
  kube::Answer<void> Publish(const certs::State& state, bool trust_others, LeaderClient& client);
  kube::Answer<void> PublishIn(const WebhookConfiguration& where, const std::string& bundle,
                               bool trust_others, const json::Json& owner, LeaderClient& client);

  const Clock& clock_;
  log::Logger& logger_;
  CertificateManagerOptions options_;
  std::string namespace_uid_;  // empty: not known yet; never changes
  bool reported_no_owner_ = false;
};

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
  bool enabled() const override { return true; }
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
