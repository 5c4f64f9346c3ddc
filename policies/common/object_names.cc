#include <algorithm>
#include <optional>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/children.h"
#include "schemas/names.h"

namespace mindgate::policies::common {

// A rank table reaches the pods of its job by five names: the job's, a label of its pods, a label
// of the job or the name of a volume, and the ConfigMap. Nothing but their spelling holds them
// together.

namespace {

using json::Value;
using schemas::Kind;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Deployments and StatefulSets: their pods are found by a label, and not by who owns them.
constexpr schemas::KindSet kFoundByLabel = schemas::kDeployments | schemas::kStatefulSets;

std::string VolumePath(const PodTemplateView& pod, size_t index, std::string_view below) {
  return pod.pod_spec.path.Child("volumes") + "/" + std::to_string(index) + std::string(below);
}

// Calls `each` with the index and the ConfigMap of every volume that mounts a rank table.
template <typename Each>
void ForEachTableMount(const PodTemplateView& pod, const Each& each) {
  const Value* volumes = pod.pod_spec.Find("volumes");
  if (!json::IsArray(volumes)) return;
  for (size_t i = 0; i < volumes->size(); ++i) {
    const auto map = json::FindString(json::Find((*volumes)[i], "configMap"), "name");
    if (map && map->starts_with(schemas::kRankTablePrefix)) each(i, *map);
  }
}

bool MountsTable(const PodTemplateView& pod) {
  bool any = false;
  ForEachTableMount(pod, [&](size_t, std::string_view) { any = true; });
  return any;
}

// The table of another job has that one's devices, or waits for a job that does not exist.
void CheckMounts(const WorkloadView& view, const PodTemplateView& pod, Findings& findings) {
  const std::string own = std::string(schemas::kRankTablePrefix) + std::string(view.name);
  ForEachTableMount(pod, [&](size_t index, std::string_view map) {
    if (map == own) return;
    findings.Violate(
        VolumePath(pod, index, "/configMap/name"),
        "the pods mount " + Quote(map) + ", but the operator writes the rank table of " +
            std::string(view.info().name) + " " + Quote(view.name) + " into " + Quote(own) +
            ": they wait for a table, or run with the devices of another job",
        "write " + own);
  });
}

void CheckDeployName(const WorkloadView& view, const PodTemplateView& pod, Findings& findings) {
  const auto found = pod.Label(schemas::kDeployName);
  if (found == view.name) return;
  findings.Violate(
      pod.labels.path.Child(schemas::kDeployName),
      "label deploy-name is " + (found ? Quote(*found) : std::string("missing")) +
          ", and the operator finds the pods of " + std::string(view.info().name) + " " +
          Quote(view.name) +
          " by it: it writes no rank table for them, and they wait while it is initializing",
      "write deploy-name: " + std::string(view.name));
}

// A sign that a table is wanted, where nothing asks the operator for one.
void CheckAsked(const WorkloadView& view, Findings& findings) {
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus()) continue;
    // The label alone stands on samples of inference, which have no rank table.
    if (!MountsTable(pod) && !pod.Label(schemas::kDeployName)) continue;
    const bool labelled = pod.labels.Find(schemas::kRingController) != nullptr;
    const std::string value(pod.Label(schemas::kRingController).value_or("ascend-910b"));
    findings.Violate(
        view.labels.path.Child(schemas::kRingController),
        std::string(labelled ? "label ring-controller.atlas is on the pod template only"
                             : "the pods mount a rank table that nothing asks for") +
            ": the operator makes a table for a " + std::string(view.info().name) +
            " with that label on its own metadata, or with a volume named ranktable, and the pods "
            "wait for it",
        "write ring-controller.atlas: " + value + " under metadata.labels");
    return;
  }
}

// Ranks come from the index of a pod in its task, or from its ordinal.
void CheckRanks(const WorkloadView& view, Findings& findings) {
  if (view.kind == Kind::kStatefulSet) {
    const auto start = json::AsInt(json::FindPath(*view.object, {"spec", "ordinals", "start"}));
    if (start.value_or(0) <= 0) return;
    findings.Violate("/spec/ordinals/start",
                     "ordinals start at " + std::to_string(*start) +
                         ", and the rank of a pod is its ordinal: no pod has rank 0, which the "
                         "others connect to",
                     "leave spec.ordinals out");
    return;
  }
  if (view.kind != Kind::kVolcanoJob ||
      json::Find(json::Find(view.spec.value, "plugins"), "env") == nullptr) {
    return;
  }
  const PodTemplateView* first = nullptr;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus() || pod.pods == int64_t{0}) continue;
    if (first == nullptr) {
      first = &pod;
      continue;
    }
    findings.Violate(
        std::string(pod.path),
        "tasks " + Quote(first->name) + " and " + Quote(pod.name) +
            " both have NPUs, and the rank of a pod is its index in its task: two pods "
            "have rank 0, and the rank table is never complete",
        "put all pods with NPUs into one task");
    return;
  }
}

void CheckWiring(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.name.empty() || !view.RequestsNpus()) return;
  const bool made = schemas::RankTableOf(view).has_value();
  if (!made) CheckAsked(view, findings);
  if (made && view.kind != Kind::kAscendJob) CheckRanks(view, findings);
  for (const PodTemplateView& pod : view.templates) {
    CheckMounts(view, pod, findings);
    if (made && kFoundByLabel.Has(view.kind)) CheckDeployName(view, pod, findings);
  }
}

constexpr Rule kRankTableWiringRules[] = {
    {.id = "MG175",
     .name = "rank-table-wiring",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kRankTableKinds,
     .summary = "A job that wants a rank table asks for it, and its pods carry and mount the job's "
                "own name.",
     .why =
         "The operator finds the pods of a Deployment or StatefulSet by label deploy-name, writes "
         "the addresses of all ranks into ConfigMap rings-config-JOB, and does so only when label "
         "ring-controller.atlas is on the object itself or a volume is named ranktable. With one "
         "name that differs, as after a copy, the table is never written and every pod waits, or "
         "the pods run with the devices of another job. Ranks begin with 0 and each stands once.",
     .fix = "Write the name of the object into deploy-name and rings-config-NAME, and the label "
            "ring-controller.atlas under metadata.labels.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go (genLabels), "
               "ascendjob_controller.go (writeRanktableToCm), pkg/ranktable/plugins.go "
               "(ShouldGenerateRankTable), component/ascend-for-volcano/plugin/job.go (ranks). A "
               "warning, because a script of the user's own may make the table.",
     .check = CheckWiring},
};

}  // namespace

Family RankTableWiringRules() { return kRankTableWiringRules; }

// Services that controllers make of an object have a name that is made of the object's, and a
// Service may have fewer names than most objects.

namespace {

// Of a Service, which is a label of DNS (RFC 1035).
constexpr size_t kMaxServiceName = 63;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// What of the name a Service may not have, as the end of a sentence.
std::optional<std::string> FaultOf(std::string_view name) {
  if (name.size() > kMaxServiceName) {
    return "has " + std::to_string(name.size()) + " characters, and a Service at most 63";
  }
  if (!IsLower(name.front())) {
    return "begins with " + Quote(name.substr(0, 1)) +
           ", and a Service begins with a letter before Kubernetes 1.34";
  }
  if (name.find('.') != std::string_view::npos) return "has a dot, and a Service has none";
  return std::nullopt;
}

// What comes of it, as the end of a sentence. The webhook of LeaderWorkerSet evaluates the name of
// the object itself, as Kubernetes before 1.34 evaluates that of a Service.
std::string_view OutcomeOf(const schemas::WorkloadView& view) {
  if (view.kind == schemas::Kind::kLeaderWorkerSet && FaultOf(view.name)) {
    return "the webhook of LeaderWorkerSet 0.5 and later refuses the object, whatever the "
           "Kubernetes";
  }
  return "the API server refuses it, and no pod is made";
}

void CheckServiceNames(const RuleContext& context, Findings& findings) {
  schemas::ForEachService(context.view, [&](const schemas::ChildService& service) {
    const auto fault = FaultOf(service.name);
    if (!fault) return;
    const size_t added = service.name.size() - context.view.name.size();
    findings.Violate(std::string(service.named_by),
                     std::string(service.maker) + " makes Service " + Quote(service.name) +
                         " of this name, which " + *fault + ": " +
                         std::string(OutcomeOf(context.view)),
                     "write a name that begins with a letter, has no dot and at most " +
                         std::to_string(kMaxServiceName - added) + " characters");
  });
}

constexpr Rule kServiceNameRules[] = {
    {.id = "MG176",
     .name = "service-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs | schemas::kVolcanoJobs | schemas::kLeaderWorkerSets |
              schemas::kStormServices,
     .summary = "The name of an object can be that of the Service that its controller makes.",
     .why =
         "ascend-operator makes Service JOB-master-0 (scheduler-0, chief-0). Plugin svc of "
         "Volcano, AIBrix and LeaderWorkerSet make one with the name of the job, StormService or "
         "LeaderWorkerSet; under subdomainPolicy UniquePerReplica the number of the group follows. "
         "A name like 7b-chat begins with a digit, and a long one does not fit: the API server "
         "refuses the Service, and the controller makes no pod. LeaderWorkerSet's own webhook "
         "refuses such an object at once.",
     .fix = "Begin the name with a letter, and leave room for what is added to it.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/service.go (genService); "
         "volcano: pkg/controllers/job/plugins/svc/svc.go; aibrix: "
         "pkg/controller/stormservice/sync.go (syncHeadlessService); lws: "
         "pkg/controllers/leaderworkerset_controller.go and pod_controller.go (headless Services), "
         "pkg/webhooks/leaderworkerset_webhook.go (generalValidate); Kubernetes documentation: "
         "Service. A warning, because Kubernetes 1.34 lets the name of a Service begin with a "
         "digit (feature RelaxedServiceNameValidation).",
     .check = CheckServiceNames},
};

}  // namespace

Family ServiceNameRules() { return kServiceNameRules; }

}  // namespace mindgate::policies::common
