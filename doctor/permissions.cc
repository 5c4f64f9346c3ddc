#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "doctor/context.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kCheck = "permissions";
const kube::Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                    "SubjectAccessReview", false};

struct Right {
  const char* group;
  const char* resource;
  const char* verb;
  std::string ns;
  std::string name;
};

// Whether a ServiceAccount may; nothing when that could not be asked, which was then reported.
std::optional<bool> May(Context& context, const std::string& account, const Right& right) {
  Json attributes = {{"group", right.group}, {"resource", right.resource}, {"verb", right.verb}};
  if (!right.ns.empty()) attributes["namespace"] = right.ns;
  if (!right.name.empty()) attributes["name"] = right.name;
  const Json review = {{"apiVersion", kAccessReviews.api_version()},
                       {"kind", kAccessReviews.kind},
                       {"spec",
                        {{"user", "system:serviceaccount:" + context.options.ns + ":" + account},
                         {"groups",
                          {"system:serviceaccounts", "system:serviceaccounts:" + context.options.ns,
                           "system:authenticated"}},
                         {"resourceAttributes", std::move(attributes)}}}};
  const auto answer = context.client.Create(kAccessReviews, "", review, {}, context.stop);
  if (!answer) {
    SkipFor(context, kCheck, "what ServiceAccount " + account + " may do", answer.error());
    return std::nullopt;
  }
  return json::AsBool(json::FindPath(*answer, {"status", "allowed"})).value_or(false);
}

void Check(Context& context, const std::string& account, const std::vector<Right>& rights,
           const std::string& consequence) {
  std::string missing;
  for (const Right& right : rights) {
    const auto may = May(context, account, right);
    if (!may) return;
    if (*may) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(right.verb) + " " + right.resource +
               (right.name.empty() ? "" : " " + right.name);
  }
  if (missing.empty()) {
    context.report.Ok(kCheck, "ServiceAccount " + account + " may do what it needs");
    return;
  }
  context.report.Fail(kCheck,
                      "ServiceAccount " + context.options.ns + "/" + account + " may not " +
                          missing + ": " + consequence,
                      "helm upgrade restores Roles and bindings of the chart");
}

bool KeepsCertificates(const Json& pod) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return false;
  for (const Json& container : *containers) {
    const Json* args = json::Find(container, "args");
    if (!json::IsArray(args)) continue;
    if (std::find(args->begin(), args->end(), Json("--manage-certs")) != args->end()) return true;
  }
  return false;
}

// Accounts of the watcher's Pods, and whether it keeps the certificates.
std::map<std::string, bool> WatcherAccounts(Context& context) {
  std::map<std::string, bool> accounts;
  const auto pods = context.client.List(kube::resources::kPods, context.options.ns,
                                        {.label_selector = "app.kubernetes.io/component=watcher,"
                                                           "app.kubernetes.io/name=mindgate"},
                                        nullptr, context.stop);
  if (!pods) {
    SkipFor(context, kCheck, "Pods of the watcher", pods.error());
    return accounts;
  }
  for (const Json& pod : pods->items) {
    const std::string account = Text(pod, {"spec", "serviceAccountName"});
    accounts[account.empty() ? "default" : account] |= KeepsCertificates(pod);
  }
  return accounts;
}

bool LooksRuntimesUp(const Json& pod) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return false;
  for (const Json& container : *containers) {
    for (const Json& variable : container.value("env", Json::array())) {
      if (Text(variable, {"name"}) == "MINDGATE_LOOKUP_RUNTIMES" &&
          Text(variable, {"value"}) == "true") {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void CheckPermissions(Context& context) {
  const Options& options = context.options;
  for (const auto& [account, keeps_certificates] : WatcherAccounts(context)) {
    constexpr const char* kRegistrations = "admissionregistration.k8s.io";
    if (!keeps_certificates) {
      Check(context, account,
            {{"coordination.k8s.io", "leases", "update", options.ns, options.lease}},
            "it cannot lead, and does nothing");
      continue;
    }
    Check(context, account,
          {{"", "secrets", "create", options.ns, ""},
           {"coordination.k8s.io", "leases", "update", options.ns, options.lease},
           {kRegistrations, "mutatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "mutatingwebhookconfigurations", "patch", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "patch", "", options.name}},
          "certificates are not renewed, and the API server does not learn of a new CA");
  }
  std::set<std::string> lookups;
  for (const Json& pod : context.pods) {
    if (LooksRuntimesUp(pod)) lookups.insert(Text(pod, {"spec", "serviceAccountName"}));
  }
  for (const std::string& account : lookups) {
    Check(context, account,
          {{"ome.io", "servingruntimes", "list", "", ""},
           {"ome.io", "servingruntimes", "watch", "", ""},
           {"ome.io", "clusterservingruntimes", "list", "", ""},
           {"ome.io", "clusterservingruntimes", "watch", "", ""}},
          "an InferenceService is injected only when it says itself that it wants NPUs");
  }
}

}  // namespace mindgate::doctor
