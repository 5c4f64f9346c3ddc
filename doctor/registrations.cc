#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "certs/certificate.h"
#include "doctor/context.h"
#include "doctor/installation.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "kube/resource.h"
#include "schemas/raw_objects.h"

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

// What the configurations that are there say of the installation. Why one cannot be read, the check
// of it says.
struct Announced {
  std::set<std::string> left_out{};
  bool mutating = false;  // it is there
  bool validating = false;
};

Announced ReadAnnouncements(Context& context) {
  Announced announced;
  // Where both are there, the validating one has the phase.
  for (const bool mutating : {true, false}) {
    const auto found = context.client.Get(
        mutating ? kube::resources::kMutatingWebhooks : kube::resources::kValidatingWebhooks, {},
        context.options.name, context.stop);
    if (!found) continue;
    (mutating ? announced.mutating : announced.validating) = true;
    announced.left_out.insert(json::TextAt(*found, {"metadata", "annotations", kLeftOut}));
    std::string release = ReleaseOf(*found);
    if (!release.empty()) context.release = std::move(release);
    const std::string phase = json::TextAt(*found, {"metadata", "annotations", kRolloutPhase});
    context.rollout_phase = phase == "enforce" ? "" : phase;
  }
  return announced;
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
  const Announced announced = ReadAnnouncements(context);
  if (!context.rollout_phase.empty()) {
    context.report.Ok(kRegistrationsCheck,
                      "the rollout phase is " + context.rollout_phase + ": " +
                          (context.rollout_phase == "observe"
                               ? "nothing is injected, and findings are only recorded"
                               : "what rules would deny is admitted with a warning"));
  }
  if (!announced.mutating && announced.left_out.contains("mutate")) {
    context.report.Ok(kRegistrationsCheck,
                      "nothing is injected, as webhook.mutate.enabled of the chart is false");
  } else if (context.rollout_phase != "observe") {
    Check(context, kube::resources::kMutatingWebhooks, true);
  }
  if (!announced.validating && announced.left_out.contains("validate")) {
    context.report.Ok(kRegistrationsCheck,
                      "nothing is validated, as webhook.validate.enabled of the chart is false");
  } else {
    Check(context, kube::resources::kValidatingWebhooks, false);
  }
}

namespace {

// What runs a cluster must never wait for a webhook that runs in it.
constexpr std::array<const char*, 2> kSystem = {"kube-system", "kube-node-lease"};

// The hooks of one kind that a namespace with these labels reaches.
size_t Reached(const Context& context, bool mutating, const Json* labels) {
  return static_cast<size_t>(
      std::count_if(context.hooks.begin(), context.hooks.end(), [&](const Hook& hook) {
        return hook.mutating == mutating && kube::Selects(&hook.namespace_selector, labels);
      }));
}

void CheckProbeNamespace(Context& context, const Json* labels) {
  const std::string& ns = context.options.probe_namespace;
  for (const bool mutating : {true, false}) {
    const char* what = mutating ? "injected" : "validated";
    if (std::none_of(context.hooks.begin(), context.hooks.end(),
                     [&](const Hook& hook) { return hook.mutating == mutating; })) {
      continue;
    }
    // The one for objects that ask for injection in a namespace that has it switched off is there,
    // but says nothing about the others.
    const std::string inject(json::FindString(labels, "mindgate.io/inject").value_or(""));
    if (mutating && inject == "disabled") {
      context.injection_is_off = true;
      context.report.Warn(
          kSelectorsCheck,
          "namespace " + ns +
              " has the label mindgate.io/inject: disabled: nothing is injected into its objects",
          "kubectl label namespace " + ns + " mindgate.io/inject- to switch it on");
    } else if (Reached(context, mutating, labels) == 0) {
      context.report.Fail(kSelectorsCheck,
                          "objects of namespace " + ns + " are not " + what +
                              ": no namespaceSelector matches its labels",
                          "label the namespace as namespaceSelector requires, or remove it from "
                          "excludedNamespaces of the chart");
    } else {
      context.report.Ok(kSelectorsCheck, "objects of namespace " + ns + " are " + what);
    }
  }
}

}  // namespace

void CheckSelectors(Context& context) {
  if (context.hooks.empty()) return;
  const json::Projection fields({{"metadata", "name"}, {"metadata", "labels"}});
  const auto namespaces =
      context.client.ListObjects(kube::resources::kNamespaces, "", {}, &fields, context.stop);
  if (!namespaces) return SkipFor(context, kSelectorsCheck, "namespaces", namespaces.error());
  bool found = false;
  for (const Json& ns : *namespaces) {
    const std::string name = json::TextAt(ns, {"metadata", "name"});
    const Json* labels = json::FindPath(ns, {"metadata", "labels"});
    if (name == context.options.probe_namespace) {
      found = true;
      CheckProbeNamespace(context, labels);
    }
    const bool is_own = name == context.options.ns;
    const bool is_system = std::find(kSystem.begin(), kSystem.end(), name) != kSystem.end();
    if ((is_own || is_system) &&
        Reached(context, true, labels) + Reached(context, false, labels) > 0) {
      context.report.Fail(
          kSelectorsCheck,
          "namespace " + name +
              " is not excluded, so the webhook can block objects that the cluster " +
              (is_own ? "needs to start mindgate" : "itself depends on"),
          "exclude it by kubernetes.io/metadata.name (excludedNamespaces of the chart); `helm "
          "upgrade` restores the selectors");
    }
  }
  if (!found) {
    context.report.Fail(
        kSelectorsCheck, "there is no namespace " + context.options.probe_namespace,
        "name a namespace of your workloads: mindgate doctor --probe-namespace NAME");
  }
}

namespace {

constexpr std::string_view kTrustCheck = "trusted-namespaces";

// The list of strings at the next "[", and moves `text` behind it; nothing when there is none.
std::optional<std::set<std::string>> TakeList(std::string_view& text) {
  const size_t begin = text.find('[');
  const size_t end = text.find(']', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  const Json list = Json::parse(text.substr(begin, end - begin + 1), nullptr, false);
  text.remove_prefix(end + 1);
  if (!list.is_array()) return std::nullopt;
  std::set<std::string> strings;
  for (const Json& each : list) strings.emplace(json::AsString(&each).value_or(""));
  return strings;
}

// The namespaces that a namespaceSelector excludes by their names.
std::set<std::string> ExcludedNamespaces(const Json& selector) {
  std::set<std::string> names;
  const Json* expressions = json::Find(selector, "matchExpressions");
  for (const Json& each : json::IsArray(expressions) ? *expressions : Json::array()) {
    if (json::TextAt(each, {"key"}) != "kubernetes.io/metadata.name" ||
        json::TextAt(each, {"operator"}) != "NotIn") {
      continue;
    }
    const Json* values = json::Find(each, "values");
    for (const Json& value : json::IsArray(values) ? *values : Json::array()) {
      names.emplace(json::AsString(&value).value_or(""));
    }
  }
  return names;
}

// Namespaces that are trusted by their names.
struct Listed {
  std::set<std::string> namespaces;
  std::string consequence;  // of creating one
  std::string fix;
};

std::vector<Listed> NamespacesOf(const Context& context) {
  std::set<std::string> excluded;
  for (const Hook& hook : context.hooks)
    excluded.merge(ExcludedNamespaces(hook.namespace_selector));
  const auto trusted = WhoIsTrusted(context);
  return {{trusted ? trusted->namespaces : std::set<std::string>(),
           "what its ServiceAccounts make with an owner reference is not sent to the webhook",
           "take them out of controllers.namespaces of the chart"},
          {std::move(excluded), "its objects are not sent to the webhook",
           "take them out of excludedNamespaces of the chart"},
          {context.fault_namespaces,
           "its ConfigMaps can report faults, and have the pods of others deleted",
           "create mindx-dl, where MindCluster reports faults; take others out of "
           "config.rescheduling.publicFaults.namespaces of the chart"}};
}

}  // namespace

std::optional<Trusted> WhoIsTrusted(const Context& context) {
  constexpr std::string_view kBefore = "request.userInfo.username in ";
  for (const Hook& hook : context.hooks) {
    const size_t at = hook.source_condition.find(kBefore);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(hook.source_condition).substr(at + kBefore.size());
    auto users = TakeList(rest);
    auto namespaces = TakeList(rest);
    if (users && namespaces) return Trusted{*std::move(users), *std::move(namespaces)};
  }
  return std::nullopt;
}

// Namespaces that are listed and do not exist. Whoever may create namespaces can create them.
void CheckTrustedNamespaces(Context& context) {
  if (context.hooks.empty()) return;
  const json::Projection fields = kube::WithIdentity({});
  const auto namespaces =
      context.client.ListObjects(kube::resources::kNamespaces, "", {}, &fields, context.stop);
  if (!namespaces) return SkipFor(context, kTrustCheck, "namespaces", namespaces.error());
  std::set<std::string> existing;
  for (const Json& ns : *namespaces) existing.insert(json::TextAt(ns, {"metadata", "name"}));
  bool good = true;
  for (const Listed& listed : NamespacesOf(context)) {
    std::vector<std::string> missing;
    for (const std::string& ns : listed.namespaces) {
      if (!existing.contains(ns)) missing.push_back(ns);
    }
    if (missing.empty()) continue;
    good = false;
    context.report.Warn(
        kTrustCheck,
        "these namespaces are trusted by their names and do not exist: " + Join(missing, ", ") +
            ". Whoever may create namespaces can create one, and then " + listed.consequence,
        listed.fix + ", or create them so that nobody else can");
  }
  if (good) {
    context.report.Ok(kTrustCheck, "every namespace that is trusted by its name exists");
  }
}

}  // namespace mindgate::doctor
