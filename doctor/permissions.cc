#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "doctor/context.h"
#include "doctor/installation.h"
#include "json/text_at.h"
#include "schemas/config_load.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kPermissionsCheck = "permissions";
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
    SkipFor(context, kPermissionsCheck, "what ServiceAccount " + account + " may do",
            answer.error());
    return std::nullopt;
  }
  return json::AsBool(json::FindPath(*answer, {"status", "allowed"})).value_or(false);
}

// What an account needs for one purpose, and what happens without it.
struct Need {
  std::vector<Right> rights;
  std::string consequence;
};

void Check(Context& context, const std::string& account, const std::vector<Need>& needs) {
  bool good = true;
  for (const Need& need : needs) {
    std::string missing;
    for (const Right& right : need.rights) {
      const auto may = May(context, account, right);
      if (!may) return;
      if (*may) continue;
      missing += (missing.empty() ? "" : ", ") + std::string(right.verb) + " " + right.resource +
                 (right.name.empty() ? "" : " " + right.name);
    }
    if (missing.empty()) continue;
    good = false;
    context.report.Fail(kPermissionsCheck,
                        "ServiceAccount " + context.options.ns + "/" + account + " may not " +
                            missing + ": " + need.consequence,
                        "`helm upgrade` restores the chart's Roles and bindings");
  }
  if (good)
    context.report.Ok(kPermissionsCheck,
                      "ServiceAccount " + account + " has the permissions that it needs");
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

// What the watcher's Pods do under one account.
struct WatcherUse {
  bool keeps_certificates = false;
  std::set<std::string> config_maps{};
};

// Nothing after reporting that they cannot be read.
std::optional<std::map<std::string, WatcherUse>> WatcherAccounts(Context& context) {
  const auto pods =
      context.client.ListObjects(kube::resources::kPods, context.options.ns,
                                 {.label_selector = kWatcherSelector}, nullptr, context.stop);
  if (!pods) {
    SkipFor(context, kPermissionsCheck, "Pods of the watcher", pods.error());
    return std::nullopt;
  }
  std::map<std::string, WatcherUse> accounts;
  for (const Json& pod : *pods) {
    const std::string account = json::TextAt(pod, {"spec", "serviceAccountName"});
    WatcherUse& use = accounts[account.empty() ? "default" : account];
    use.keeps_certificates |= KeepsCertificates(pod);
    if (const std::string name = ConfigMapOf(pod); !name.empty()) use.config_maps.insert(name);
  }
  return accounts;
}

// Nothing after reporting that it cannot be read or is refused.
std::optional<schemas::Config> ConfigOf(Context& context, const std::string& name) {
  constexpr std::string_view kConfiguration = "configuration";
  const std::string what = "ConfigMap " + context.options.ns + "/" + name;
  const auto stored =
      Wanted(context, kConfiguration, kube::resources::kConfigMaps, context.options.ns, name,
             "Pods that start wait for it", "`helm upgrade` restores it");
  if (!stored) return std::nullopt;
  auto config =
      schemas::LoadConfig(json::TextAt(*stored, {"data", "mindgate.yaml"}), context.options.known);
  if (!config) {
    context.report.Fail(
        kConfiguration,
        what + " is refused: " + config.error().items().front().message +
            "; Pods keep using what they loaded before",
        "`mindgate config validate` lists everything that is wrong with mindgate.yaml");
    return std::nullopt;
  }
  context.report.Ok(kConfiguration, what + " can be loaded");
  return *std::move(config);
}

Need Elects(const Options& options) {
  return {{{"coordination.k8s.io", "leases", "update", options.ns, options.lease}},
          "it cannot lead, and does nothing"};
}

Need KeepsCertificatesOf(const Options& options) {
  constexpr const char* kRegistrations = "admissionregistration.k8s.io";
  return {{{"", "secrets", "create", options.ns, ""},
           {"", "namespaces", "get", "", options.ns},
           {kRegistrations, "mutatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "mutatingwebhookconfigurations", "patch", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "patch", "", options.name}},
          "certificates are not renewed, and the API server does not learn of a new CA"};
}

// What the configuration switches on.
std::vector<Need> Does(const schemas::Config& config) {
  using schemas::EnforcementMode;
  std::vector<Need> needs;
  const schemas::ElasticScaling& scaling = config.elastic_scaling;
  if (scaling.mode != EnforcementMode::kOff) {
    needs.push_back({{{"", "pods", "list", "", ""},
                      {"", "pods", "watch", "", ""},
                      {"", "configmaps", "list", "", ""},
                      {"", "configmaps", "watch", "", ""}},
                     "it does not see services under scaling rules and grants nothing"});
  }
  if (scaling.mode == EnforcementMode::kEnforce) {
    needs.push_back({{{"", "pods", "patch", "", ""}}, "pods behind the gate stay there"});
    if (scaling.rebalance == EnforcementMode::kEnforce) {
      needs.push_back({{{"", "pods", "delete", "", ""}, {"", "pods/eviction", "create", "", ""}},
                       "no instance is given up for one that is needed"});
    }
  }
  if (scaling.mode != EnforcementMode::kOff && scaling.rebalance != EnforcementMode::kOff) {
    needs.push_back({{{"", "nodes", "list", "", ""}, {"", "nodes", "watch", "", ""}},
                     "NPUs of nodes that are down or cordoned count as room"});
    needs.push_back({{{"scheduling.volcano.sh", "podgroups", "get", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "list", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "watch", "", ""}},
                     "it does not see AscendJobs and vcjobs that wait for room without pods"});
  }
  if (config.gang_repair) {
    needs.push_back({{{"apps", "deployments", "list", "", ""},
                      {"apps", "deployments", "watch", "", ""},
                      {"apps", "replicasets", "list", "", ""},
                      {"apps", "replicasets", "watch", "", ""},
                      {"", "pods", "list", "", ""},
                      {"", "pods", "watch", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "list", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "watch", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "patch", "", ""}},
                     "a rolling update that waits for its gang waits forever"});
    needs.push_back({{{"orchestration.aibrix.ai", "rolesets", "list", "", ""},
                      {"orchestration.aibrix.ai", "rolesets", "watch", "", ""}},
                     "pods of a RoleSet that was scaled below its gang size cannot be replaced"});
  }
  if (!needs.empty()) {
    needs.push_back(
        {{{"events.k8s.io", "events", "create", "", ""}}, "its decisions do not appear as Events"});
  }
  return needs;
}

void CheckWatcherAccounts(Context& context) {
  const auto accounts = WatcherAccounts(context);
  if (!accounts) return;
  bool enforces = false;
  bool unknown = false;
  for (const auto& [account, use] : *accounts) {
    context.watcher_accounts.insert(account);
    std::vector<Need> needs = {Elects(context.options)};
    if (use.keeps_certificates) needs.push_back(KeepsCertificatesOf(context.options));
    for (const std::string& name : use.config_maps) {
      const auto config = ConfigOf(context, name);
      if (!config) {
        unknown = true;
        continue;
      }
      context.versions = config->versions;
      enforces |= config->elastic_scaling.mode == schemas::EnforcementMode::kEnforce;
      for (Need& need : Does(*config)) needs.push_back(std::move(need));
    }
    Check(context, account, needs);
  }
  if (enforces || !unknown) context.enforces_scaling = enforces;
}

bool LooksRuntimesUp(const Json& pod) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return false;
  for (const Json& container : *containers) {
    for (const Json& variable : container.value("env", Json::array())) {
      if (json::TextAt(variable, {"name"}) == "MINDGATE_LOOKUP_RUNTIMES" &&
          json::TextAt(variable, {"value"}) == "true") {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void CheckPermissions(Context& context) {
  CheckWatcherAccounts(context);
  std::set<std::string> lookups;
  for (const Json& pod : context.pods) {
    if (LooksRuntimesUp(pod)) lookups.insert(json::TextAt(pod, {"spec", "serviceAccountName"}));
  }
  for (const std::string& account : lookups) {
    Check(context, account,
          {{{{"ome.io", "servingruntimes", "list", "", ""},
             {"ome.io", "servingruntimes", "watch", "", ""},
             {"ome.io", "clusterservingruntimes", "list", "", ""},
             {"ome.io", "clusterservingruntimes", "watch", "", ""}},
            "an InferenceService is injected only if its own spec asks for NPUs"}});
  }
}

}  // namespace mindgate::doctor
