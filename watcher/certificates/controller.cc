#include "watcher/certificates/controller.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "certs/certificate.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using kube::Answer;
using kube::Reason;
namespace resources = kube::resources;

constexpr const char* kApiVersion = "v1";
constexpr const char* kSecretType = "kubernetes.io/tls";

tl::unexpected<kube::Fault> FailedBecause(const std::string& what, const Error& error) {
  return kube::Failed(Reason::kInvalid, what + ": " + error.message());
}

// The certificates of `bundle`, followed by those that are only in `published`; both PEM.
std::string WithOthers(const std::string& bundle, const std::string& published) {
  std::string all = bundle;
  const auto others = certs::ReadCertificates(published);
  if (!others) return all;
  for (const certs::CertificatePtr& other : *others) {
    const std::string pem = certs::WriteCertificate(other.get());
    if (all.find(pem) == std::string::npos) all += pem;
  }
  return all;
}

bool IsOwnedBy(const Json& object, const Json& owner) {
  const Json* owners = json::FindPath(object, {"metadata", "ownerReferences"});
  return json::IsArray(owners) && std::any_of(owners->begin(), owners->end(), [&](const Json& one) {
           return json::FindString(one, "uid") == json::FindString(owner, "uid");
         });
}

}  // namespace

// The current Secret; null if it does not exist.
struct CertificateManager::Stored {
  Json secret;
  certs::Files files;
  bool force_serving = false;
  bool force_authority = false;
  std::optional<Time> trust_others_until{};
};

CertificateManager::CertificateManager(const Clock& clock, log::Logger& logger,
                                       CertificateManagerOptions options)
    : clock_(clock), logger_(logger), options_(std::move(options)) {
  options_.policy.dns_names = certs::ServiceNames(options_.service, options_.ns);
}

Answer<Time> CertificateManager::Reconcile(LeaderClient& client) {
  auto stored = Read(client);
  if (!stored) return tl::unexpected(stored.error());
  const std::string what = "Secret " + options_.ns + "/" + options_.secret;
  const Time now = clock_.WallNow();
  const bool trust_others = stored->trust_others_until && now < *stored->trust_others_until;
  auto state = certs::ReadState(stored->files);
  if (!state) {
    return FailedBecause(
        what + " cannot be used; restore its content, or delete it to create a new CA",
        state.error());
  }
  if (state->authority.certificate != nullptr) {
    if (auto published = Publish(*state, trust_others, client); !published) {
      return tl::unexpected(published.error());
    }
  }
  certs::RotationPolicy policy = options_.policy;
  policy.force_serving = stored->force_serving;
  policy.force_authority = stored->force_authority;
  const certs::Plan plan = certs::MakePlan(*state, policy, now);
  const bool asked = policy.force_serving || policy.force_authority;
  const bool outdated = stored->trust_others_until && !trust_others;
  if (plan.steps.empty() && !asked && !outdated) {
    return trust_others ? std::min(plan.next, *stored->trust_others_until) : plan.next;
  }
  if (stored->secret.is_null()) {
    const auto others = AnyPublished(client);
    if (!others) return tl::unexpected(others.error());
    if (*others) stored->trust_others_until = now + options_.policy.publish;
  }
  if (outdated) stored->trust_others_until.reset();

  state = certs::Carry(*std::move(state), plan, policy, now);
  if (!state) return FailedBecause(what, state.error());
  if (auto written = Write(*stored, *state, client); !written) {
    return tl::unexpected(written.error());
  }
  for (const certs::PlannedStep& step : plan.steps) {
    logger_.Info("certificates changed", {{"secret", options_.ns + "/" + options_.secret},
                                          {"step", certs::StepName(step.step)},
                                          {"reason", step.reason}});
  }
  const auto until = stored->trust_others_until;
  if (auto published = Publish(*state, until.has_value(), client); !published) {
    return tl::unexpected(published.error());
  }
  const Time next = certs::MakePlan(*state, options_.policy, now).next;
  return until ? std::min(next, *until) : next;
}

Answer<CertificateManager::Stored> CertificateManager::Read(LeaderClient& client) {
  Stored stored;
  auto secret = client.Get(resources::kSecrets, options_.ns, options_.secret);
  if (!secret) {
    if (secret.error().reason == Reason::kNotFound) return stored;
    return tl::unexpected(secret.error());
  }
  stored.secret = *std::move(secret);
  for (const char* name : certs::kStateFiles) {
    const auto text = json::FindString(json::Find(stored.secret, "data"), name);
    if (!text) continue;
    if (auto bytes = certs::DecodeBase64(*text)) stored.files[name] = *std::move(bytes);
  }
  const auto annotation = [&stored](const char* key) {
    return json::AsString(json::FindPath(stored.secret, {"metadata", "annotations", key}));
  };
  const auto until = annotation(kTrustOthersAnnotation);
  // What is not a time has passed: it is removed, and nothing but our own CA is trusted.
  if (until) stored.trust_others_until = ParseTimestamp(*until).value_or(Time{});
  const auto asked = annotation(kRotateAnnotation);
  stored.force_serving = asked == "serving";
  stored.force_authority = asked == "ca";
  if (asked && !stored.force_serving && !stored.force_authority) {
    logger_.Warning("annotation " + std::string(kRotateAnnotation) +
                        " has an unknown value and is ignored: write \"serving\" or \"ca\"",
                    {{"value", *asked}});
  }
  return stored;
}

Answer<void> CertificateManager::Write(const Stored& stored, const certs::State& state,
                                       LeaderClient& client) {
  Json secret = stored.secret;
  const bool is_new = secret.is_null();
  if (is_new) {
    secret = {{"apiVersion", kApiVersion},
              {"kind", resources::kSecrets.kind},
              {"type", kSecretType},
              {"metadata",
               {{"name", options_.secret},
                {"namespace", options_.ns},
                {"labels", {{schemas::kManagedBy, "mindgate"}}}}}};
  }
  // Other data is kept; a Secret is small enough to be written whole.
  Json& data = secret["data"];
  if (!data.is_object()) data = Json::object();
  const certs::Files files = certs::WriteState(state);
  for (const char* name : certs::kStateFiles) {
    const auto file = files.find(name);
    if (file == files.end()) {
      data.erase(name);
    } else {
      data[name] = certs::EncodeBase64(file->second);
    }
  }
  Json& annotations = secret["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  if (stored.force_serving || stored.force_authority) annotations.erase(kRotateAnnotation);
  annotations.erase(kTrustOthersAnnotation);
  if (stored.trust_others_until) {
    annotations[kTrustOthersAnnotation] = FormatTime(*stored.trust_others_until);
  }
  const kube::WriteOptions options{.field_manager = kBundleFieldManager};
  const auto answer =
      is_new ? client.Create(resources::kSecrets, options_.ns, secret, options)
             // Includes the resourceVersion that was read: a concurrent write is a conflict.
             : client.Update(resources::kSecrets, options_.ns, options_.secret, secret, options);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Answer<Json> CertificateManager::OwnerReference(LeaderClient& client) {
  if (namespace_uid_.empty()) {
    const auto ns = client.Get(resources::kNamespaces, {}, options_.ns);
    if (!ns && ns.error().reason != Reason::kForbidden) return tl::unexpected(ns.error());
    if (!ns) {
      if (!reported_no_owner_) {
        logger_.Warning(
            "cannot set an owner on the webhook configurations: they will outlive this namespace, "
            "and then reject what they validate; allow this ServiceAccount to get its namespace",
            {{"namespace", options_.ns}, {"fault", ns.error().message}});
      }
      reported_no_owner_ = true;
      return Json();
    }
    namespace_uid_ = json::AsString(json::FindPath(*ns, {"metadata", "uid"})).value_or("");
    if (namespace_uid_.empty()) return Json();
  }
  // The configurations do not delay deletion of the namespace.
  return Json({{"apiVersion", resources::kNamespaces.api_version()},
               {"kind", resources::kNamespaces.kind},
               {"name", options_.ns},
               {"uid", namespace_uid_},
               {"blockOwnerDeletion", false}});
}

Answer<bool> CertificateManager::AnyPublished(LeaderClient& client) {
  for (const WebhookConfiguration& each : options_.webhooks.All()) {
    const auto configuration = each.Read(client);
    if (!configuration) return tl::unexpected(configuration.error());
    const Json* webhooks = json::Find(*configuration, "webhooks");
    if (!json::IsArray(webhooks)) continue;
    for (const Json& webhook : *webhooks) {
      const auto bundle = json::AsString(json::FindPath(webhook, {"clientConfig", "caBundle"}));
      if (bundle && !bundle->empty()) return true;
    }
  }
  return false;
}

Answer<void> CertificateManager::Publish(const certs::State& state, bool trust_others,
                                         LeaderClient& client) {
  const std::string bundle = certs::Bundle(state);
  const auto owner = OwnerReference(client);
  if (!owner) return tl::unexpected(owner.error());
  // A failure must not affect the other configurations.
  Answer<void> first_fault;
  for (const WebhookConfiguration& each : options_.webhooks.All()) {
    auto published = PublishIn(each, bundle, trust_others, *owner, client);
    if (!published && first_fault) first_fault = std::move(published);
  }
  return first_fault;
}

Answer<void> CertificateManager::PublishIn(const WebhookConfiguration& where,
                                           const std::string& bundle, bool trust_others,
                                           const Json& owner, LeaderClient& client) {
  const auto& [resource, name] = where;
  const auto configuration = where.Read(client);
  if (!configuration) return tl::unexpected(configuration.error());
  if (configuration->is_null()) return {};
  const Json* webhooks = json::Find(*configuration, "webhooks");
  Json entries = Json::array();
  bool differs = !owner.is_null() && !IsOwnedBy(*configuration, owner);
  if (json::IsArray(webhooks)) {
    for (const Json& webhook : *webhooks) {
      const auto entry = json::FindString(webhook, "name");
      if (!entry) continue;
      const auto published =
          json::AsString(json::FindPath(webhook, {"clientConfig", "caBundle"})).value_or("");
      const auto known = trust_others ? certs::DecodeBase64(published) : std::nullopt;
      const std::string wanted = certs::EncodeBase64(known ? WithOthers(bundle, *known) : bundle);
      differs |= published != wanted;
      entries.push_back({{"name", *entry}, {"clientConfig", {{"caBundle", wanted}}}});
    }
  }
  if (!differs) return {};
  Json metadata = {{"name", name}};
  if (!owner.is_null()) metadata["ownerReferences"] = Json::array({owner});
  const Json wanted = {{"apiVersion", resource.api_version()},
                       {"kind", resource.kind},
                       {"metadata", std::move(metadata)},
                       {"webhooks", std::move(entries)}};
  const auto applied =
      client.Apply(resource, {}, name, wanted, true, {.field_manager = kBundleFieldManager});
  if (!applied) {
    // Deleted since it was read: apply tries to create it, which is rejected as incomplete.
    if (applied.error().reason == Reason::kInvalid) {
      const auto again = where.Read(client);
      if (again && again->is_null()) return {};
    }
    return tl::unexpected(applied.error());
  }
  logger_.Info("CA published", {{"kind", resource.kind}, {"name", name}});
  return {};
}

namespace {

// How soon a changed field or a deleted Secret is restored. Three reads.
constexpr std::chrono::seconds kLookEvery(10);

}  // namespace

CertificateController::CertificateController(kube::Client& client, const Clock& clock,
                                             log::Logger& logger, Options options)
    : client_(client),
      logger_(logger),
      manager_(clock, logger, options.manager),
      loop_(clock, {.name = "certificates",
                    .seed = options.seed,
                    .term = std::move(options.term),
                    .reconcile = [this](const Term& term) { return Reconcile(term); },
                    .forget = [this] { failing_ = false; }}) {}

ReconcileResult CertificateController::Reconcile(const Term& term) {
  LeaderClient client(client_, term);
  const auto next = manager_.Reconcile(client);
  if (!term.holds()) return {};
  failing_ = !next;
  if (next) return {.requeue_after = kLookEvery};
  logger_.Error(
      "certificates cannot be managed now: will retry",
      {{"reason", kube::ReasonName(next.error().reason)}, {"fault", next.error().message}});
  ReconcileResult result;
  result.Fail(next.error());
  return result;
}

}  // namespace mindgate::watcher
