#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "doctor/context.h"
#include "doctor/installation.h"
#include "json/value.h"
#include "schemas/config.h"
#include "schemas/kinds.h"

namespace mindgate::doctor {
namespace {

using schemas::ReschedulingMode;

bool Acts(ReschedulingMode mode) {
  return mode == ReschedulingMode::kTakeover || mode == ReschedulingMode::kEnforce;
}

// To know who opts out. Pods have a row of their own.
std::vector<Right> OwnerRights() {
  std::vector<Right> rights;
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (!info.may_disable_rescheduling || info.kind == schemas::Kind::kPod) continue;
    rights.push_back({info.group, info.plural, "get", "", ""});
  }
  std::ranges::sort(rights, {},
                    [](const Right& right) { return std::pair(right.group, right.resource); });
  return rights;
}

void AddRescheduling(const schemas::Rescheduling& rescheduling, const Options& options,
                     std::vector<Need>& needs) {
  constexpr const char* kVolcano = "scheduling.volcano.sh";
  constexpr const char* kState = "mindgate-rescheduling";
  if (rescheduling.mode == ReschedulingMode::kOff) return;
  const bool takes_over = rescheduling.mode == ReschedulingMode::kTakeover;
  const std::string mode =
      std::string("config.rescheduling.mode ") + (takes_over                ? "takeover"
                                                  : Acts(rescheduling.mode) ? "enforce"
                                                                            : "observe");
  needs.push_back({{{"", "pods", "list", "", ""},
                    {"", "pods", "watch", "", ""},
                    {"", "configmaps", "list", "", ""},
                    {"", "configmaps", "watch", "", ""},
                    {"", "nodes", "list", "", ""},
                    {"", "nodes", "watch", "", ""},
                    {kVolcano, "podgroups", "list", "", ""},
                    {kVolcano, "podgroups", "watch", "", ""}},
                   "it does not see all faults, or not all pods that they concern, and restarts "
                   "nothing",
                   mode});
  if (!Acts(rescheduling.mode)) return;
  needs.push_back({{{"", "pods", "patch", "", ""}, {"", "pods", "delete", "", ""}},
                   "pods that faults concern stay where they are",
                   mode});
  Need reads{{{"", "pods", "get", "", ""},
              {"", "nodes", "get", "", ""},
              {"", "namespaces", "get", "", ""},
              {kVolcano, "podgroups", "get", "", ""},
              {"coordination.k8s.io", "leases", "get", options.ns, options.lease}},
             "it cannot make sure that a fault is still there and that nobody disabled "
             "rescheduling, and restarts nothing",
             mode};
  if (takes_over) {
    reads.rights.push_back({"", "configmaps", "get", "mindx-dl", "job-reschedule-reason"});
  }
  needs.push_back(std::move(reads));
  needs.push_back({OwnerRights(),
                   "it cannot know whether such owners disable rescheduling, and does not restart "
                   "their pods",
                   mode});
  needs.push_back({{{"", "configmaps", "create", options.ns, ""},
                    {"", "configmaps", "get", options.ns, kState},
                    {"", "configmaps", "patch", options.ns, kState}},
                   "it cannot keep what the next leader must know, and restarts nothing",
                   mode});
  if (rescheduling.graceful_exit) {
    needs.push_back({{{"", "configmaps", "get", "", ""}, {"", "configmaps", "patch", "", ""}},
                     "training jobs are not asked to end before their pods are evicted",
                     "config.rescheduling.gracefulExit true"});
  }
  if (rescheduling.isolate_nodes) {
    needs.push_back({{{"", "nodes", "patch", "", ""}},
                     "new pods may be placed on nodes that are unhealthy",
                     "config.rescheduling.isolateNodes true"});
  }
}

void AddAudit(const schemas::SiteKinds& kinds, std::vector<Need>& needs) {
  const std::string mode = "config.audit.mode on";
  Need reads{{{"", "namespaces", "list", "", ""}, {"", "namespaces", "watch", "", ""}},
             "workloads that it may not read are not audited",
             mode};
  for (const schemas::KindInfo& info : schemas::kKinds) {
    reads.rights.push_back({info.group, info.plural, "list", "", ""});
    if (!schemas::kWorkloads.Has(info.kind)) continue;
    reads.rights.push_back({info.group, info.plural, "watch", "", ""});
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    const schemas::KindInfo& info = kinds.info(i);
    for (const char* verb : {"list", "watch"}) {
      reads.rights.push_back({info.group, info.plural, verb, "", ""});
    }
  }
  needs.push_back(std::move(reads));
  Need writes{{}, "there are no reports of what it found, only metrics", mode};
  for (const auto& [group, resource] :
       {std::pair("openreports.io", "reports"), std::pair("wgpolicyk8s.io", "policyreports")}) {
    for (const char* verb : {"list", "create", "patch", "delete"}) {
      writes.rights.push_back({group, resource, verb, "", ""});
    }
  }
  needs.push_back(std::move(writes));
}

}  // namespace

Need LeadingNeeds(const Options& options) {
  return {{{"coordination.k8s.io", "leases", "update", options.ns, options.lease}},
          "it cannot lead, and does nothing"};
}

Need CertificateNeeds(const Options& options) {
  constexpr const char* kRegistrations = "admissionregistration.k8s.io";
  return {{{"", "secrets", "create", options.ns, ""},
           {"", "namespaces", "get", "", options.ns},
           {kRegistrations, "mutatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "mutatingwebhookconfigurations", "patch", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "get", "", options.name},
           {kRegistrations, "validatingwebhookconfigurations", "patch", "", options.name}},
          "certificates are not renewed, and the API server does not learn of a new CA"};
}

Need LookupNeeds() {
  return {{{"ome.io", "servingruntimes", "list", "", ""},
           {"ome.io", "servingruntimes", "watch", "", ""},
           {"ome.io", "clusterservingruntimes", "list", "", ""},
           {"ome.io", "clusterservingruntimes", "watch", "", ""}},
          "an InferenceService is injected only if its own spec asks for NPUs"};
}

Need NamespaceNeeds() {
  return {{{"", "namespaces", "list", "", ""}, {"", "namespaces", "watch", "", ""}},
          "policies that select namespaces by labels, or read namespaceObject, are skipped",
          "policies"};
}

Need PolicyNeeds(const Options& options) {
  return {{{"", "configmaps", "list", options.ns, ""}, {"", "configmaps", "watch", options.ns, ""}},
          "it cannot read policies, and loads no configuration once it restarts",
          "config.policies.configMaps true"};
}

std::vector<Need> NeedsOf(const schemas::Config& config, const Options& options) {
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
    needs.push_back({{{"", "pods", "get", "", ""},
                      {"", "pods", "delete", "", ""},
                      {"", "namespaces", "get", "", ""}},
                     "granted instances without room take the room of those that are needed"});
    needs.push_back({OwnerRights(), "it does not see that such owners opt out"});
    if (scaling.rebalance == EnforcementMode::kEnforce) {
      needs.push_back({{{"", "pods/eviction", "create", "", ""}},
                       "no instance is given up for one that is needed"});
    }
  }
  if (scaling.mode != EnforcementMode::kOff) {
    needs.push_back({{{"scheduling.volcano.sh", "podgroups", "get", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "list", "", ""},
                      {"scheduling.volcano.sh", "podgroups", "watch", "", ""}},
                     "it does not see AscendJobs and vcjobs that wait for room without pods, or "
                     "whose pods lack the labels of their rule"});
  }
  if (scaling.mode != EnforcementMode::kOff && scaling.rebalance != EnforcementMode::kOff) {
    needs.push_back({{{"", "nodes", "list", "", ""}, {"", "nodes", "watch", "", ""}},
                     "NPUs of nodes that are down or cordoned count as room"});
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
  AddRescheduling(config.rescheduling, options, needs);
  const bool decides = !needs.empty();
  if (config.policy_sources.config_maps) needs.push_back(PolicyNeeds(options));
  if (config.audit.on) AddAudit(config.kinds, needs);
  if (decides) {
    needs.push_back(
        {{{"events.k8s.io", "events", "create", "", ""}}, "its decisions do not appear as Events"});
  }
  return needs;
}

bool Reschedules(const schemas::Config& config) { return Acts(config.rescheduling.mode); }

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
  const auto pods = context.client.ListObjects(kube::resources::kPods, context.options.ns,
                                               {.label_selector = WatcherSelector(context.release)},
                                               nullptr, context.stop);
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
  if (config->policy_sources.config_maps || !config->policy_sources.files.empty()) {
    CheckPolicies(context, *config, *stored);
  }
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

// Whether a watcher may run although none of its Pods was found, which was then reported: what it
// holds must not be released.
bool MayRunUnseen(Context& context) {
  const std::string& ns = context.options.ns;
  const std::string what = "Lease " + ns + "/" + context.options.lease;
  const auto lease =
      context.client.Get(kube::resources::kLeases, ns, context.options.lease, context.stop);
  const std::string none = "no Pod of the watcher was found in namespace " + ns + " (" +
                           WatcherSelector(context.release) + "), ";
  if (!lease) {
    if (lease.error().reason == kube::Reason::kNotFound) return false;
    SkipFor(context, kPermissionsCheck, none + "and " + what, lease.error());
    return true;
  }
  const Leader leader = LeaderOf(*lease, context.now);
  if (!leader.current && !leader.released) return false;
  context.report.Skip(
      kPermissionsCheck,
      none + "but " + what + " was renewed at " + leader.renewed +
          ": a watcher runs, and what it may do and is configured to do could not be checked",
      "`helm upgrade` restores the labels of the watcher's Pods; or name another installation with "
      "-n and --lease");
  return true;
}

void CheckWatcherAccounts(Context& context, Configs& configs) {
  const auto accounts = WatcherAccounts(context);
  if (!accounts) return;
  if (accounts->empty() && MayRunUnseen(context)) return;
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
  bool looks_namespaces_up = false;
  bool reads_policies = false;
};

bool HasSwitch(const Json& pod, std::string_view name) {
  const Json* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return false;
  for (const Json& container : *containers) {
    for (const Json& variable : container.value("env", Json::array())) {
      if (json::TextAt(variable, {"name"}) == name && json::TextAt(variable, {"value"}) == "true") {
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
    use.looks_runtimes_up |= HasSwitch(pod, "MINDGATE_LOOKUP_RUNTIMES");
    use.looks_namespaces_up |= HasSwitch(pod, "MINDGATE_LOOKUP_NAMESPACES");
    const std::string name = ConfigMapOf(pod);
    const auto* config = name.empty() ? nullptr : &ConfigOf(context, configs, name);
    if (config == nullptr || !*config) continue;
    use.reads_policies |= (*config)->policy_sources.config_maps;
    if (!context.config) context.config = *config;
  }
  for (const auto& [account, use] : accounts) {
    std::vector<Need> needs;
    if (use.looks_runtimes_up) needs.push_back(LookupNeeds());
    if (use.looks_namespaces_up) needs.push_back(NamespaceNeeds());
    if (use.reads_policies) needs.push_back(PolicyNeeds(context.options));
    if (!needs.empty()) Check(context, account, needs);
  }
}

}  // namespace mindgate::doctor
