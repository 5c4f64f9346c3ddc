#include "watcher/fail_closed/registration.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::watcher::fail_closed {
namespace {

using json::Json;
using kube::Answer;

constexpr const char* kFieldManager = "mindgate-fail-closed";

// Names of the webhooks that are to fail closed and do not.
std::vector<std::string> Open(const Json& configuration) {
  const std::string listed =
      json::TextAt(configuration, {"metadata", "annotations", schemas::kFailClosed});
  const auto names = Split(listed, ',');
  std::vector<std::string> open;
  const Json* webhooks = json::Find(configuration, "webhooks");
  for (const Json& webhook : json::IsArray(webhooks) ? *webhooks : Json::array()) {
    std::string name = json::TextAt(webhook, {"name"});
    if (json::TextAt(webhook, {"failurePolicy"}) == "Ignore" &&
        std::ranges::count(names, name) > 0) {
      open.push_back(std::move(name));
    }
  }
  return open;
}

}  // namespace

Registration::Registration(log::Logger& logger, std::string ns, WebhookConfigurations webhooks)
    : logger_(logger), ns_(std::move(ns)), webhooks_(std::move(webhooks)) {}

Answer<bool> Registration::Reconcile(LeaderClient& client) {
  Answer<bool> all = true;
  for (const WebhookConfiguration& each : webhooks_.All()) {
    // A failure must not affect the other configurations.
    auto closed = ReconcileOne(each, client);
    if (all && (!closed || !*closed)) all = std::move(closed);
  }
  return all;
}

Answer<bool> Registration::ReconcileOne(const WebhookConfiguration& configuration,
                                        LeaderClient& client) {
  const auto found = configuration.Read(client);
  if (!found) return tl::unexpected(found.error());
  const std::vector<std::string> open = Open(*found);
  if (open.empty()) return true;
  auto answers = Answers(client);
  if (!answers || !*answers) return answers;
  if (const auto closed = Close(configuration, open, client); !closed) {
    return tl::unexpected(closed.error());
  }
  return true;
}

Answer<bool> Registration::Answers(LeaderClient& client) {
  const Json probe = {{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", {{"name", schemas::kProbeConfigMap}}}};
  const auto created = client.Create(kube::resources::kConfigMaps, ns_, probe,
                                     {.dry_run = true, .field_manager = kFieldManager});
  // The webhook of the probe has failurePolicy Ignore: without an answer, the dry run succeeds.
  if (created) return false;
  // As k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go words a denial.
  const std::string denial = "admission webhook \"" + std::string(schemas::kProbeWebhook);
  const kube::Fault& fault = created.error();
  const bool denied = fault.reason == kube::Reason::kForbidden &&
                      fault.message.find(denial) != std::string::npos &&
                      fault.message.find("denied the request") != std::string::npos;
  if (!denied) return tl::unexpected(fault);
  return true;
}

Answer<void> Registration::Close(const WebhookConfiguration& configuration,
                                 const std::vector<std::string>& webhooks, LeaderClient& client) {
  Json closed = Json::array();
  for (const std::string& name : webhooks) {
    closed.push_back({{"name", name}, {"failurePolicy", "Fail"}});
  }
  // The second apply gives the field up, which keeps Fail, its default: what Helm or a user
  // applies next does not conflict with this field manager.
  for (const Json& entries : {closed, Json::array()}) {
    const Json wanted = {{"apiVersion", configuration.resource.api_version()},
                         {"kind", configuration.resource.kind},
                         {"metadata", {{"name", configuration.name}}},
                         {"webhooks", entries}};
    const auto applied = client.Apply(configuration.resource, {}, configuration.name, wanted, true,
                                      {.field_manager = kFieldManager});
    if (!applied) return tl::unexpected(applied.error());
  }
  logger_.Info("the webhook answers: failurePolicy is now Fail",
               {{"kind", configuration.resource.kind},
                {"name", configuration.name},
                {"webhooks", Join(webhooks, ",")}});
  return {};
}

}  // namespace mindgate::watcher::fail_closed
