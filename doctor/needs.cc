#include "doctor/needs.h"

#include <algorithm>
#include <utility>

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

}  // namespace mindgate::doctor
