#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "certs/rotate.h"
#include "kube/client.h"

namespace mindgate::watcher {

// Asks for a renewal that is not due: "serving" or "ca" as its value, on the Secret. The manager
// takes it away when it has done so.
inline constexpr const char* kRotateAnnotation = "mindgate.io/rotate";

// Owns exactly the caBundle fields and one ownerReference, so that whoever owns the rest of a
// webhook configuration, Helm or GitOps, has nothing to quarrel about.
inline constexpr const char* kBundleFieldManager = "mindgate-certs";

struct CertificateManagerOptions {
  std::string ns;
  std::string secret = "mindgate-tls";
  std::string service = "mindgate-webhook";      // in `ns`; the certificate is for its names
  std::vector<std::string> mutating_webhooks;    // names of MutatingWebhookConfigurations
  std::vector<std::string> validating_webhooks;  // and of ValidatingWebhookConfigurations
  certs::RotationPolicy policy{};                // its names come from the service
};

// Keeps the serving Secret of the webhook, and publishes the CA in caBundle of its webhook
// configurations. For one leader at a time; should there be two, the Secret's resourceVersion lets
// only one write. The keys are in the Secret and nowhere else, so that any replica can go on.
//
// A CA signs only after it was published: while publishing fails, nothing is renewed. When the
// Secret was lost, servers hold the old certificate until kubelet has brought them the new one: for
// `policy.publish`, what clients trusted before is published beside the new CA.
//
// The configurations are made dependents of the namespace: a webhook that went with its namespace
// must not be called for ever, and what it validated be refused. The garbage collector takes them.
class CertificateManager {
 public:
  // The rest must outlive it.
  CertificateManager(kube::Client& client, const Clock& clock, log::Logger& logger,
                     CertificateManagerOptions options);

  // Looks at the Secret and the configurations, and does what is due. Returns when the next step of
  // the rotation is. A configuration that is not there is none to publish in. Safe to repeat after
  // any fault.
  kube::Answer<Time> Reconcile(const std::stop_token& stop);

 private:
  struct Stored;

  kube::Answer<Stored> Read(const std::stop_token& stop);
  kube::Answer<void> Write(const Stored& stored, const certs::State& state,
                           const std::stop_token& stop);
  // What makes an object a dependent of our namespace; null where that may not be read.
  kube::Answer<json::Json> OwnerReference(const std::stop_token& stop);
  kube::Answer<void> Publish(const certs::State& state, const std::stop_token& stop);
  kube::Answer<void> PublishIn(const kube::Resource& resource, const std::string& name,
                               const std::string& bundle, const json::Json& owner,
                               const std::stop_token& stop);

  kube::Client& client_;
  const Clock& clock_;
  log::Logger& logger_;
  CertificateManagerOptions options_;
  Time trust_others_until_{};
  std::string namespace_uid_;  // empty: not known yet. It lasts as long as we do
  bool told_of_no_owner_ = false;
};

}  // namespace mindgate::watcher
