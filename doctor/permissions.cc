#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "doctor/context.h"
#include "doctor/installation.h"
#include "doctor/needs.h"
#include "json/value.h"
#include "schemas/config_load.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kPermissionsCheck = "permissions";
const kube::Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                    "SubjectAccessReview", false};

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

void Check(Context& context, const std::string& account, const std::vector<Need>& needs) {
  bool good = true;
  for (const Need& need : needs) {
    std::string missing;
    for (const Right& right : need.rights) {
      const auto may = May(context, account, right);
      if (!may) return;
      if (*may) continue;
      missing += (missing.empty() ? "" : ", ") + std::string(right.verb) + " " +
                 std::string(right.resource) + (right.name.empty() ? "" : " " + right.name);
    }
    if (missing.empty()) continue;
    good = false;
    context.report.Fail(kPermissionsCheck,
                        "ServiceAccount " + context.options.ns + "/" + account + " may not " +
                            missing + ": " + need.consequence,
                        "`helm upgrade` restores the chart's Roles and bindings" +
                            (need.value.empty() ? "" : ", which have this with " + need.value));
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

void CheckPolicies(Context& context, const schemas::Config& config, const Json& stored) {
  constexpr std::string_view kPoliciesCheck = "policies";
  if (!context.options.policy_faults) return;
  const auto faults = context.options.policy_faults(context.client, config, stored);
  if (!faults) {
    SkipFor(context, kPoliciesCheck, "ConfigMaps with policies", faults.error());
  } else if (faults->empty()) {
    context.report.Ok(kPoliciesCheck, "the policies in ConfigMaps can be loaded");
  } else {
    context.report.Fail(
        kPoliciesCheck,
        faults->substr(0, faults->find('\n')) + "; Pods keep using what they loaded before",
        "correct the ConfigMaps; the log of the webhook has everything that is wrong with them");
  }
}

// Nothing after reporting that it cannot be read or is refused.
std::optional<schemas::Config> ReadConfig(Context& context, const std::string& name) {
  constexpr std::string_view kConfiguration = "configuration";
  const std::string what = "ConfigMap " + context.options.ns + "/" + name;
  const auto stored =
      RequireObject(context, kConfiguration, kube::resources::kConfigMaps, context.options.ns, name,
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
  if (config->policy_sources.config_maps) CheckPolicies(context, *config, *stored);
  return *std::move(config);
}

// By the name of their ConfigMap.
using Configs = std::map<std::string, std::optional<schemas::Config>>;

// Each is read and reported once.
const std::optional<schemas::Config>& ConfigOf(Context& context, Configs& configs,
                                               const std::string& name) {
  const auto found = configs.find(name);
  if (found != configs.end()) return found->second;
  return configs.emplace(name, ReadConfig(context, name)).first->second;
}

void CheckWatcherAccounts(Context& context, Configs& configs) {
  const auto accounts = WatcherAccounts(context);
  if (!accounts) return;
  bool enforces = false;
  bool isolates = false;
  bool unknown = false;
  std::vector<schemas::SiteKinds> kinds;  // of all configurations: needs have views of them
  for (const auto& [account, use] : *accounts) {
    context.watcher_accounts.insert(account);
    std::vector<Need> needs = {LeadingNeeds(context.options)};
    if (use.keeps_certificates) needs.push_back(CertificateNeeds(context.options));
    for (const std::string& name : use.config_maps) {
      const auto& config = ConfigOf(context, configs, name);
      if (!config) {
        unknown = true;
        continue;
      }
      context.versions = config->versions;
      context.kinds = kinds.emplace_back(config->kinds);
      enforces |= config->elastic_scaling.mode == schemas::EnforcementMode::kEnforce;
      if (config->rescheduling.mode != schemas::ReschedulingMode::kOff) {
        std::set<std::string> namespaces = config->rescheduling.public_faults.namespaces;
        namespaces.insert(kReportNamespace);
        context.fault_namespaces.merge(namespaces);
      }
      isolates |= Reschedules(*config) && config->rescheduling.isolate_nodes;
      for (Need& need : NeedsOf(*config, context.options)) needs.push_back(std::move(need));
    }
    Check(context, account, needs);
  }
  if (enforces || !unknown) context.enforces_scaling = enforces;
  if (isolates || !unknown) context.isolates_nodes = isolates;
}

// What the replicas of the webhook that run under an account call the API server for.
struct WebhookUse {
  bool looks_runtimes_up = false;
  bool reads_policies = false;
};

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
  Configs configs;
  CheckWatcherAccounts(context, configs);
  std::map<std::string, WebhookUse> accounts;
  for (const Json& pod : context.pods) {
    WebhookUse& use = accounts[json::TextAt(pod, {"spec", "serviceAccountName"})];
    use.looks_runtimes_up |= LooksRuntimesUp(pod);
    const std::string name = ConfigMapOf(pod);
    const auto* config = name.empty() ? nullptr : &ConfigOf(context, configs, name);
    use.reads_policies |= config != nullptr && *config && (*config)->policy_sources.config_maps;
  }
  for (const auto& [account, use] : accounts) {
    std::vector<Need> needs;
    if (use.looks_runtimes_up) needs.push_back(LookupNeeds());
    if (use.reads_policies) needs.push_back(PolicyNeeds(context.options));
    if (!needs.empty()) Check(context, account, needs);
  }
}

}  // namespace mindgate::doctor
