#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/time.h"
#include "doctor/context.h"
#include "doctor/installation.h"
#include "json/value.h"
#include "schemas/config.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kService = "service";
constexpr std::string_view kEndpoints = "endpoints";

// "app=x,tier=y", as a query has it.
std::string SelectorText(const Json& labels) {
  std::string text;
  for (const auto& [key, value] : labels.items()) {
    if (!value.is_string()) continue;
    text += (text.empty() ? "" : ",") + key + "=" + value.get_ref<const std::string&>();
  }
  return text;
}

// Whether a Pod has a container port that `target`, a number or a name, means. Containers may
// listen on ports that they do not name, so only a name can be wrong for sure.
bool HasPort(const Json& pod, const Json& target) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return false;
  for (const Json& container : *containers) {
    const Json* ports = json::Find(container, "ports");
    if (!json::IsArray(ports)) continue;
    for (const Json& port : *ports) {
      const Json* found = json::Find(port, target.is_string() ? "name" : "containerPort");
      if (found != nullptr && *found == target) return true;
    }
  }
  return false;
}

// Why a Pod is not ready, in the words of its status.
std::string WhyNotReady(const Json& pod) {
  std::string why = "phase " + json::TextAt(pod, {"status", "phase"});
  if (const Json* statuses = json::FindPath(pod, {"status", "containerStatuses"});
      json::IsArray(statuses)) {
    for (const Json& status : *statuses) {
      for (const char* state : {"waiting", "terminated"}) {
        const Json* entry = json::FindPath(status, {"state", state});
        if (entry == nullptr) continue;
        why = json::TextAt(*entry, {"reason"});
        if (const std::string message = json::TextAt(*entry, {"message"}); !message.empty()) {
          why += ": " + message;
        }
      }
    }
  }
  if (const Json* conditions = json::FindPath(pod, {"status", "conditions"});
      json::IsArray(conditions)) {
    for (const Json& condition : *conditions) {
      const std::string message = json::TextAt(condition, {"message"});
      if (json::TextAt(condition, {"status"}) == "False" && !message.empty()) why += "; " + message;
    }
  }
  return why;
}

// The port with /readyz, which containerPorts.probe of the chart sets.
int64_t ProbePort(const Json& pod) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  for (const Json& container : json::IsArray(containers) ? *containers : Json::array()) {
    const Json* ports = json::Find(container, "ports");
    for (const Json& port : json::IsArray(ports) ? *ports : Json::array()) {
      if (json::TextAt(port, {"name"}) != "probe") continue;
      if (const auto number = json::AsInt(json::Find(port, "containerPort"))) return *number;
    }
  }
  return 8080;
}

// What /readyz says of a replica that runs: the API server passes it on, where NetworkPolicies let
// it.
std::string Readiness(Context& context, const std::string& ns, const Json& pod) {
  // An error status comes with the text of the answer.
  const auto answer =
      context.client.GetPath("/api/v1/namespaces/" + PercentEncoded(ns) + "/pods/" +
                                 PercentEncoded(json::TextAt(pod, {"metadata", "name"})) + ":" +
                                 std::to_string(ProbePort(pod)) + "/proxy/readyz?verbose=1",
                             context.stop);
  if (answer || answer.error().http != 503) return "";
  return answer.error().message;
}

void CheckPods(Context& context, const std::string& ns, const Json& service) {
  const Json* selector = json::FindPath(service, {"spec", "selector"});
  if (!json::IsObject(selector)) return;  // its endpoints are managed elsewhere
  auto pods = context.client.ListObjects(kube::resources::kPods, ns,
                                         {.label_selector = SelectorText(*selector)}, nullptr,
                                         context.stop);
  if (!pods) return SkipFor(context, kEndpoints, "the Pods of the webhook", pods.error());
  context.pods = *std::move(pods);
  if (context.pods.empty()) {
    context.report.Fail(
        kEndpoints,
        "the selector of the Service (" + SelectorText(*selector) + ") matches no Pod in " + ns,
        "scale the webhook's Deployment up, or give the Service the labels that its Pods have; "
        "`helm upgrade` restores both");
    return;
  }
  const Json* ports = json::FindPath(service, {"spec", "ports"});
  for (const Json& port : json::IsArray(ports) ? *ports : Json::array()) {
    const Json* target = json::Find(port, "targetPort");
    if (target == nullptr || HasPort(context.pods.front(), *target)) continue;
    context.report.Fail(kService,
                        "the Service sends to the target port " + target->dump() +
                            ", which no container of its Pods names: connections are refused",
                        "write the name or number of the webhook's port as targetPort (https)");
  }
  for (const Json& pod : context.pods) {
    if (schemas::ConditionStatus(pod, "Ready") == "True" ||
        json::Find(json::Find(pod, "metadata"), "deletionTimestamp") != nullptr) {
      continue;
    }
    const std::string name = json::TextAt(pod, {"metadata", "name"});
    std::string why = WhyNotReady(pod);
    if (const std::string status = Readiness(context, ns, pod); !status.empty())
      why += "; " + status;
    context.report.Fail(
        kEndpoints, "Pod " + name + " is not ready: " + why,
        "kubectl -n " + ns + " describe pod " + name + "; kubectl -n " + ns + " logs " + name);
  }
}

void CheckEndpoints(Context& context, const std::string& ns, const std::string& service) {
  const auto slices = context.client.ListObjects(
      kube::resources::kEndpointSlices, ns,
      {.label_selector = "kubernetes.io/service-name=" + service}, nullptr, context.stop);
  if (!slices) return SkipFor(context, kEndpoints, "the endpoints of the Service", slices.error());
  size_t ready = 0;
  for (const Json& slice : *slices) {
    const Json* endpoints = json::Find(slice, "endpoints");
    for (const Json& endpoint : json::IsArray(endpoints) ? *endpoints : Json::array()) {
      ready += json::AsBool(json::FindPath(endpoint, {"conditions", "ready"})).value_or(true);
    }
  }
  if (ready == 0) {
    context.report.Fail(kEndpoints,
                        "Service " + ns + "/" + service +
                            " has no ready endpoints, so the API server cannot call the webhook",
                        "see the findings about its Pods and its selector");
  } else {
    context.report.Ok(kEndpoints, "Service " + ns + "/" + service + " has " +
                                      std::to_string(ready) + " ready endpoints");
  }
}

void CheckService(Context& context, const std::string& ns, const std::string& name, int64_t port) {
  const auto service =
      RequireObject(context, kService, kube::resources::kServices, ns, name,
                    "the API server cannot call the webhook", "`helm upgrade` restores it");
  if (!service) return;
  const Json* ports = json::FindPath(*service, {"spec", "ports"});
  bool found = false;
  for (const Json& entry : json::IsArray(ports) ? *ports : Json::array()) {
    found |= json::AsInt(json::Find(entry, "port")) == port;
  }
  if (!found) {
    context.report.Fail(kService,
                        "Service " + ns + "/" + name + " has no port " + std::to_string(port) +
                            ", which the webhook configurations name",
                        "write the same port in both (service.port of the chart)");
  } else {
    context.report.Ok(kService, "Service " + ns + "/" + name + ", port " + std::to_string(port));
  }
  CheckPods(context, ns, *service);
  CheckEndpoints(context, ns, name);
}

}  // namespace

void CheckServing(Context& context) {
  std::set<std::tuple<std::string, std::string, int64_t>> services;
  std::set<std::string> urls;
  for (const Hook& hook : context.hooks) {
    if (!hook.service.empty()) services.emplace(hook.service_ns, hook.service, hook.port);
    if (!hook.url.empty()) urls.insert(hook.url);
  }
  for (const auto& [ns, name, port] : services) CheckService(context, ns, name, port);
  for (const std::string& url : urls) {
    context.report.Skip(kService, "called by URL, which only the API server can reach: " + url);
  }
}

namespace {

constexpr std::string_view kDryRunCheck = "dry-run";
// The rule that the wrong object of the dry run breaks, which is enforced by default.
constexpr std::string_view kBrokenRule = "MG035";
// The mutators that write something into a Pod that nothing made.
constexpr std::string_view kSchedulerMutator = "scheduler-name";
constexpr std::string_view kDevicesMutator = "visible-devices";

// What the API server says when it cannot call a webhook (k8s.io/apiserver,
// plugin/webhook/errors, and Go's net and crypto/x509), and what that means.
struct Symptom {
  std::string_view text;
  std::string_view cause;
  std::string_view fix;
};
constexpr std::array<Symptom, 11> kSymptoms = {{
    {"signed by unknown authority", "the CA in caBundle did not sign the webhook's certificate",
     "see ca-bundle"},
    {"has expired or is not yet valid", "the webhook's certificate is out of date",
     "see certificate"},
    {"certificate is valid for", "the webhook's certificate is not for the name of its Service",
     "see certificate"},
    {"certificate is not valid for", "the webhook's certificate is not for the name of its Service",
     "see certificate"},
    {"no endpoints available", "no replica of the webhook is ready", "see endpoints"},
    {"no service port", "the Service lacks the port that the configuration names", "see service"},
    {"service \"", "the Service of the webhook is not there", "see service"},
    {"no such host", "the name of the webhook does not resolve for the API server (DNS)",
     "give the control plane the cluster's DNS, or register a Service instead of a URL"},
    {"connection refused",
     "nothing listens where the Service sends traffic: no replica is ready, or its target port is "
     "wrong",
     "see service and endpoints"},
    {"no route to host", "the control plane has no route to the Pods (routing or firewall)",
     "let the control plane reach the port of the webhook's Pods (containerPorts.webhook of the "
     "chart, 9443), or set hostNetwork"},
    // Last: a handshake that hangs says both.
    {"deadline exceeded",
     "no answer in time: a firewall or NetworkPolicy drops the packets, or the webhook hangs",
     "let the control plane reach the port of the webhook's Pods (containerPorts.webhook of the "
     "chart, 9443) through NetworkPolicies and the firewall of a private cluster, or set "
     "hostNetwork"},
}};

bool IsOn(const Context& context, std::string_view mutator) {
  return !context.config || !context.config->disabled_mutators.contains(mutator);
}

// Without the mutator that names the scheduler, the Pod names it: other mutators are for Pods that
// Volcano places.
Json ProbePod(const Context& context) {
  const Json amounts = {{"huawei.com/Ascend910", "1"}};
  Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", "mindgate-doctor-dry-run"}, {"namespace", context.options.probe_namespace}}},
      {"spec",
       {{"securityContext",
         {{"runAsNonRoot", true}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
        {"containers",
         {{{"name", "probe"},
           {"image", "mindgate.invalid/probe"},
           {"securityContext",
            {{"allowPrivilegeEscalation", false},
             {"runAsUser", 9000},
             {"capabilities", {{"drop", {"ALL"}}}}}},
           {"resources", {{"limits", amounts}, {"requests", amounts}}}}}}}}};
  if (!IsOn(context, kSchedulerMutator)) pod["spec"]["schedulerName"] = context.config->scheduler;
  return pod;
}

bool HasHook(const Context& context, bool mutating) {
  for (const Hook& hook : context.hooks) {
    if (hook.mutating == mutating) return true;
  }
  return false;
}

// True when the message names a webhook of ours that could not be called.
bool ReportCallFault(Context& context, const std::string& message) {
  if (message.find("failed calling webhook") == std::string::npos &&
      message.find("failed to call webhook") == std::string::npos) {
    return false;
  }
  for (const Symptom& symptom : kSymptoms) {
    if (message.find(symptom.text) == std::string::npos) continue;
    context.report.Fail(kDryRunCheck, std::string(symptom.cause) + ": " + message,
                        std::string(symptom.fix));
    return true;
  }
  context.report.Fail(kDryRunCheck, "the API server cannot call a webhook: " + message,
                      "see the logs of the API server and of the webhook");
  return true;
}

// A kubelet updates a mounted ConfigMap within its sync period and the time that it caches objects.
constexpr std::chrono::minutes kReloadTime{2};

// When an object was last written, as its managed fields say; the epoch when they are not there.
Time LastWritten(const Json& object) {
  Time last{};
  const Json* entries = json::FindPath(object, {"metadata", "managedFields"});
  if (!json::IsArray(entries)) return last;
  for (const Json& entry : *entries) {
    last = std::max(last, ParseTimestamp(json::TextAt(entry, {"time"})).value_or(Time{}));
  }
  return last;
}

// How long ago the configuration of a replica was changed, if they may not all have loaded it.
std::optional<std::chrono::seconds> SinceChange(Context& context) {
  std::set<std::string> names;
  for (const Json& pod : context.pods) names.insert(ConfigMapOf(pod));
  for (const std::string& name : names) {
    if (name.empty()) continue;
    const auto stored =
        context.client.Get(kube::resources::kConfigMaps, context.options.ns, name, context.stop);
    if (!stored) continue;  // CheckPermissions reports it
    const auto since = context.now - LastWritten(*stored);
    if (since < kReloadTime) return std::max(since, std::chrono::seconds{0});
  }
  return std::nullopt;
}

bool IsExcluded(const Context& context) {
  const auto& findings = context.report.findings();
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.check == kSelectorsCheck && finding.status == Status::kFailed;
  });
}

// Reports an answer that is not the one of the configuration as it is now: no failure where the
// object is sent to the webhook, and only the replicas may be behind.
void ReportWrongAnswer(Context& context, const std::string& message, const std::string& fix) {
  if (const auto since = IsExcluded(context) ? std::nullopt : SinceChange(context)) {
    context.report.Warn(kDryRunCheck,
                        message + ". The configuration was changed " + FormatDuration(*since) +
                            " ago, and replicas load a change within " +
                            FormatDuration(kReloadTime),
                        "run it again in " + FormatDuration(kReloadTime - *since));
    return;
  }
  context.report.Fail(kDryRunCheck, message, fix);
}

// Whether it has anything that mindgate injects and that was not sent.
bool IsInjected(const Json& sent, const Json& pod) {
  const std::string scheduler = json::TextAt(pod, {"spec", "schedulerName"});
  if (scheduler != json::TextAt(sent, {"spec", "schedulerName"}) && !scheduler.empty() &&
      scheduler != schemas::kDefaultScheduler) {
    return true;
  }
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  for (const Json& container : json::IsArray(containers) ? *containers : Json::array()) {
    const Json* env = json::Find(container, "env");
    for (const Json& variable : json::IsArray(env) ? *env : Json::array()) {
      if (json::TextAt(variable, {"name"}) == schemas::kVisibleDevices) return true;
    }
  }
  return false;
}

// Why the Pod of the dry run gets nothing although all is well; empty: it should get something.
std::string WhyNotInjected(const Context& context) {
  const std::string& ns = context.options.probe_namespace;
  if (context.injection_is_off) return "the label mindgate.io/inject of namespace " + ns;
  if (!context.config) return "";
  const auto* override_ = context.config->OverrideFor(ns);
  if (override_ != nullptr && !override_->inject) {
    return "`namespaces` of mindgate.yaml, for namespace " + ns;
  }
  if (IsOn(context, kSchedulerMutator) || IsOn(context, kDevicesMutator)) return "";
  return "`mutators` of mindgate.yaml (" + std::string(kSchedulerMutator) + " and " +
         std::string(kDevicesMutator) + ")";
}

// What `rules`, `namespaces` and maxMode make of the rule that the wrong object breaks.
schemas::Mode ModeOfBrokenRule(const Context& context) {
  if (!context.config) return schemas::Mode::kEnforce;
  const schemas::Config& config = *context.config;
  const auto* override_ = config.OverrideFor(context.options.probe_namespace);
  for (const schemas::RuleModes* modes :
       {override_ == nullptr ? nullptr : &override_->rules, &config.rules}) {
    if (modes == nullptr) continue;
    const auto found = modes->find(kBrokenRule);
    if (found != modes->end()) return std::min(found->second, config.max_mode);
  }
  return config.max_mode;
}

// A scaling rule that is not JSON is denied unless the configuration has a milder mode for the
// rule.
void CheckDenial(Context& context) {
  const Json rule = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata",
       {{"name", "mindgate-doctor-dry-run"}, {"namespace", context.options.probe_namespace}}},
      {"data", {{"elastic_scaling.json", "{"}}}};
  const auto created =
      context.client.Create(kube::resources::kConfigMaps, context.options.probe_namespace, rule,
                            {.dry_run = true}, context.stop);
  if (created && !context.rollout_phase.empty()) {
    context.report.Ok(kDryRunCheck, "a wrong object is admitted, as it is in the rollout phase " +
                                        context.rollout_phase);
    return;
  }
  if (const schemas::Mode mode = ModeOfBrokenRule(context);
      created && mode != schemas::Mode::kEnforce) {
    context.report.Skip(kDryRunCheck,
                        "whether an invalid object is denied could not be tried: in namespace " +
                            context.options.probe_namespace + " rule " + std::string(kBrokenRule) +
                            " has mode " + std::string(schemas::ModeName(mode)) +
                            " in mindgate.yaml (`rules`, `namespaces` or maxMode)",
                        "choose a namespace where it is enforced: --probe-namespace");
    return;
  }
  if (created) {
    ReportWrongAnswer(context,
                      "an invalid object passed the validating webhook: the webhook was not "
                      "called, or the configuration switches the rule off",
                      "see registration, selectors and endpoints, and `rules` of mindgate.yaml");
    return;
  }
  const std::string& message = created.error().message;
  if (ReportCallFault(context, message)) return;
  if (message.find("denied the request") != std::string::npos &&
      message.find("MG") != std::string::npos) {
    context.webhook_answered = true;
    context.report.Ok(kDryRunCheck, "an invalid object is denied by mindgate");
    return;
  }
  context.report.Skip(kDryRunCheck,
                      "an invalid object was refused, but not by mindgate: " + message,
                      "choose another namespace: --probe-namespace");
}

void CheckInjection(Context& context) {
  if (const std::string why = WhyNotInjected(context); !why.empty()) {
    context.report.Skip(
        kDryRunCheck, "whether a Pod is injected could not be tried: it is switched off by " + why,
        "choose a namespace where Pods are injected: --probe-namespace");
    return;
  }
  const Json pod = ProbePod(context);
  const auto created =
      context.client.Create(kube::resources::kPods, context.options.probe_namespace, pod,
                            {.dry_run = true}, context.stop);
  if (!created) {
    if (ReportCallFault(context, created.error().message)) return;
    context.report.Skip(kDryRunCheck,
                        "a Pod could not be created, even as a dry run: " + created.error().message,
                        "choose another namespace: --probe-namespace");
    return;
  }
  if (IsInjected(pod, *created)) {
    context.report.Ok(kDryRunCheck, "a Pod that asks for NPUs is injected");
    return;
  }
  const std::string missed = "a Pod that asks for NPUs came back without injection: ";
  if (context.webhook_answered) {
    // No fault of the network: the validating webhook of the same Service answered.
    return ReportWrongAnswer(
        context,
        missed +
            "the webhook answers, but the mutating one was not called, or its configuration "
            "switches the mutators of this Pod off",
        "see registration, selectors and ca-bundle, and `mutators` and `namespaces` of "
        "mindgate.yaml");
  }
  ReportWrongAnswer(context,
                    missed +
                        "the mutating webhook was not called or did not answer, which "
                        "failurePolicy Ignore hides",
                    "see the other findings; `kubectl get --raw /metrics | grep "
                    "webhook_fail_open` counts such calls");
}

}  // namespace

void CheckDryRun(Context& context) {
  // The validating webhook first: with failurePolicy Fail, its faults come with a reason.
  if (HasHook(context, false)) CheckDenial(context);
  if (HasHook(context, true)) CheckInjection(context);
}

}  // namespace mindgate::doctor
