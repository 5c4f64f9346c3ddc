#include <nlohmann/json.hpp>
#include <utility>

#include "certs/pem.h"
#include "doctor/context.h"
#include "json/value.h"
#include "schemas/fail_closed.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kRegistrationsCheck = "registration";
// The API server waits so long for each call that the webhook does not answer: every create of a
// pod would.
constexpr int64_t kLongTimeout = 10;

Hook HookOf(const Json& webhook, bool mutating) {
  Hook hook;
  hook.name = json::TextAt(webhook, {"name"});
  hook.mutating = mutating;
  const Json* service = json::FindPath(webhook, {"clientConfig", "service"});
  if (service != nullptr) {
    hook.service_ns = json::TextAt(*service, {"namespace"});
    hook.service = json::TextAt(*service, {"name"});
    hook.port = json::AsInt(json::Find(service, "port")).value_or(443);
  }
  hook.url = json::TextAt(webhook, {"clientConfig", "url"});
  hook.bundle = certs::DecodeBase64(json::TextAt(webhook, {"clientConfig", "caBundle"}))
                    .value_or(std::string());
  hook.failure_policy = json::TextAt(webhook, {"failurePolicy"});
  if (const Json* selector = json::Find(webhook, "namespaceSelector")) {
    hook.namespace_selector = *selector;
  }
  const Json* conditions = json::Find(webhook, "matchConditions");
  for (const Json& condition : json::IsArray(conditions) ? *conditions : Json::array()) {
    if (json::TextAt(condition, {"name"}) == "not-made-by-an-admitted-object") {
      hook.source_condition = json::TextAt(condition, {"expression"});
    }
  }
  return hook;
}

// "observe", "warn", or empty where nothing keeps mindgate from enforcing.
std::string RolloutPhase(Context& context) {
  const auto validating = context.client.Get(kube::resources::kValidatingWebhooks, {},
                                             context.options.name, context.stop);
  // Why not, the check of the configuration itself says.
  if (!validating) return "";
  const std::string phase = json::TextAt(*validating, {"metadata", "annotations", kRolloutPhase});
  return phase == "enforce" ? "" : phase;
}

void Check(Context& context, const kube::Resource& resource, bool mutating) {
  const auto configuration =
      RequireObject(context, kRegistrationsCheck, resource, "", context.options.name,
                    mutating ? "nothing is injected" : "nothing is validated",
                    "`helm upgrade --install` restores it; pass --name if its name is not " +
                        context.options.name);
  if (!configuration) return;
  const Json* webhooks = json::Find(*configuration, "webhooks");
  size_t count = 0;
  bool fails_closed = false;
  for (const Json& webhook : json::IsArray(webhooks) ? *webhooks : Json::array()) {
    Hook hook = HookOf(webhook, mutating);
    // It receives nothing but dry runs of the watcher.
    if (hook.name.starts_with(schemas::kProbeWebhook)) continue;
    context.hooks.push_back(std::move(hook));
    ++count;
    const int64_t timeout = json::AsInt(json::Find(webhook, "timeoutSeconds")).value_or(10);
    if (timeout >= kLongTimeout) {
      context.report.Warn(
          kRegistrationsCheck,
          context.hooks.back().name + " waits " + std::to_string(timeout) +
              " s for an answer: while the webhook is down, every call takes that long",
          "write timeoutSeconds: 2 or 3");
    }
    fails_closed |= context.hooks.back().failure_policy != "Ignore";
  }
  if (count == 0) {
    context.report.Fail(kRegistrationsCheck,
                        resource.kind + " " + context.options.name + " has no webhooks",
                        "`helm upgrade` restores them");
    return;
  }
  if (const size_t open = schemas::OpenWebhooks(*configuration).size(); open > 0) {
    context.report.Warn(
        kRegistrationsCheck,
        std::to_string(open) + " webhooks of " + resource.kind + " " + context.options.name +
            " have failurePolicy Ignore until the API server gets an answer from the webhook: "
            "what it cannot check is admitted",
        "the watcher sets Fail: see its log, whether the pods of the webhook are ready, and "
        "whether the API server may connect to them");
  } else if (!mutating && !fails_closed && context.rollout_phase.empty()) {
    context.report.Warn(
        kRegistrationsCheck,
        resource.kind + " " + context.options.name +
            " has failurePolicy Ignore: invalid objects are admitted while the webhook is down",
        "set webhook.validate.failurePolicy to Fail once everything works");
  }
  context.report.Ok(kRegistrationsCheck, resource.kind + " " + context.options.name + " has " +
                                             std::to_string(count) + " webhooks");
}

}  // namespace

void CheckRegistrations(Context& context) {
  context.rollout_phase = RolloutPhase(context);
  if (!context.rollout_phase.empty()) {
    context.report.Ok(kRegistrationsCheck,
                      "the rollout phase is " + context.rollout_phase + ": " +
                          (context.rollout_phase == "observe"
                               ? "nothing is injected, and findings are only recorded"
                               : "what rules would deny is admitted with a warning"));
  }
  if (context.rollout_phase != "observe") {
    Check(context, kube::resources::kMutatingWebhooks, true);
  }
  Check(context, kube::resources::kValidatingWebhooks, false);
}

}  // namespace mindgate::doctor
