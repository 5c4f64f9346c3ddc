#include "watcher/fail_closed/controller.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::fail_closed {
namespace {

using json::Json;
using kube::Answer;

constexpr const char* kFieldManager = "mindgate-fail-closed";

}  // namespace

Registration::Registration(log::Logger& logger, std::string ns, WebhookConfigurations webhooks)
    : logger_(logger), ns_(std::move(ns)), webhooks_(std::move(webhooks)) {}

Answer<bool> Registration::Reconcile(LeaderClient& client) {
  // A failure must not affect the other configurations.
  Answer<void> first_fault;
  const auto fail = [&first_fault](const kube::Fault& fault) {
    if (first_fault) first_fault = tl::unexpected(fault);
  };
  std::vector<std::pair<WebhookConfiguration, std::vector<std::string>>> open;
  for (const WebhookConfiguration& each : webhooks_.All()) {
    const auto found = each.Read(client);
    if (!found) fail(found.error());
    auto names = found ? schemas::OpenWebhooks(*found) : std::vector<std::string>();
    if (!names.empty()) open.emplace_back(each, std::move(names));
  }
  const Answer<bool> answers = open.empty() ? true : Answers(client);
  if (!answers) fail(answers.error());
  if (answers && *answers) {
    for (const auto& [configuration, names] : open) {
      if (const auto closed = Close(configuration, names, client); !closed) fail(closed.error());
    }
  }
  if (!first_fault) return tl::unexpected(first_fault.error());
  return answers;
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
