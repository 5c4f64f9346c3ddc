#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
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

// What /readyz says of a replica that runs: the API server passes it on.
std::string Readiness(Context& context, const std::string& ns, const std::string& pod) {
  // An error status comes with the text of the answer.
  const auto answer =
      context.client.GetPath("/api/v1/namespaces/" + PercentEncoded(ns) + "/pods/" +
                                 PercentEncoded(pod) + ":8080/proxy/readyz?verbose=1",
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
    if (const std::string says = Readiness(context, ns, name); !says.empty()) why += "; " + says;
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

}  // namespace mindgate::doctor
