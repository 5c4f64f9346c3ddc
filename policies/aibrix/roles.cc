#include <algorithm>
#include <string>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/children.h"
#include "schemas/names.h"

// StormServices, RoleSets and PodSets of AIBrix: what MindCluster supports of them and how their
// pods share PodGroups (aibrix: pkg/controller/{stormservice,roleset,podset}; mind-cluster:
// docs/en/scheduling/usage/vllm_best_practice).
namespace mindgate::policies::aibrix {
namespace {

using json::Value;
using schemas::PartView;
using schemas::PodTemplateView;

std::string Title(const PartView& role) { return role.Title("role"); }

bool HasNpus(const RuleContext& context, const PartView& role) {
  const PodTemplateView* pod = context.view.TemplateOf(role.index.value_or(0));
  return pod != nullptr && pod->RequestsNpus();
}

// The roles of a StormService or RoleSet; a PodSet has none.
template <typename Visit>
void ForEachRole(const RuleContext& context, Visit visit) {
  for (const PartView& role : context.view.parts) {
    if (role.index) visit(role);
  }
}

void CheckReplicas(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  if (context.view.is_set &&
      json::FindPath(*context.view.object, {"spec", "replicas"}) == nullptr) {
    findings.Violate("/spec/replicas",
                     "spec.replicas is missing: AIBrix counts it as 0 and makes no RoleSet, or its "
                     "controller crashes",
                     "write replicas: 1");
  }
  ForEachRole(context, [&](const PartView& role) {
    if (json::Find(*role.value, "replicas") != nullptr) return;
    findings.Violate(role.Path() + "/replicas",
                     Title(role) +
                         " has no replicas: AIBrix counts them as 0 and makes no pods, or its "
                         "controller crashes",
                     "write replicas: 1, or the number of instances");
  });
}

// Calls visit(path, strategy) for each schedulingStrategy that governs pods with NPUs.
template <typename Visit>
void ForEachNpuStrategy(const RuleContext& context, Visit visit) {
  if (!context.view.IsNpuWorkload()) return;
  const schemas::FieldView& spec = context.view.spec;
  const Value* shared = spec.Find("schedulingStrategy");
  if (json::IsObject(shared)) visit(spec.path.Child("schedulingStrategy"), *shared);
  ForEachRole(context, [&](const PartView& role) {
    const Value* own =
        HasNpus(context, role) ? json::Find(*role.value, "schedulingStrategy") : nullptr;
    if (json::IsObject(own)) visit(role.Path() + "/schedulingStrategy", *own);
  });
}

constexpr std::string_view kVolcanoStrategy = "volcanoSchedulingStrategy";

void CheckVolcanoStrategy(const RuleContext& context, Findings& findings) {
  ForEachNpuStrategy(context, [&](const std::string& path, const Value& strategy) {
    const Value* volcano = json::Find(strategy, kVolcanoStrategy);
    if (volcano == nullptr || schemas::NamesNpus(json::Find(*volcano, "minResources"))) return;
    findings.Violate(json::Child(path, kVolcanoStrategy) + "/minResources",
                     "the PodGroup names no NPUs in minResources, so Volcano handles these pods as "
                     "pods without NPUs: no chips are assigned and faults are ignored",
                     "remove volcanoSchedulingStrategy: Volcano then makes the PodGroups itself");
  });
}

void CheckAnyStrategy(const RuleContext& context, Findings& findings) {
  ForEachNpuStrategy(context, [&](const std::string& path, const Value& strategy) {
    for (const auto& [name, value] : strategy.members()) {
      if (value.is_null()) continue;
      // Without NPUs in minResources the rule above reports it.
      if (name == kVolcanoStrategy && !schemas::NamesNpus(json::Find(value, "minResources")))
        continue;
      findings.Violate(json::Child(path, name),
                       "MindCluster supports NPU roles only without a schedulingStrategy: gang "
                       "size and fault labels are not kept in sync with this PodGroup",
                       "remove the schedulingStrategy and keep schedulerName: volcano");
    }
  });
}

void CheckStrategyTwice(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  const schemas::FieldView& spec = context.view.spec;
  if (spec.Find("schedulingStrategy") == nullptr) return;
  ForEachRole(context, [&](const PartView& role) {
    if (json::Find(*role.value, "schedulingStrategy") == nullptr) return;
    findings.Violate(
        role.Path() + "/schedulingStrategy",
        Title(role) +
            " and the RoleSet both have a schedulingStrategy: two PodGroups claim the same pods",
        "keep at most one of the two; for NPU roles remove both");
  });
}

void CheckServiceReplicas(const RuleContext& context, Findings& findings) {
  const auto replicas = json::AsInt(json::FindPath(*context.view.object, {"spec", "replicas"}));
  if (!replicas || *replicas <= 1 || !context.view.IsNpuWorkload()) return;
  findings.Violate("/spec/replicas",
                   "spec.replicas is " + std::to_string(*replicas) +
                       ", but MindCluster defines NPU services with 1 only",
                   "write replicas: 1 and scale the roles, or apply one StormService per copy");
}

void CheckStateful(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  const auto stateful = [](const Value* parent) {
    const Value* value = json::Find(parent, "stateful");
    // Another type is the API server's to refuse.
    return value != nullptr && (!value->is_boolean() || json::AsBool(value) == true);
  };
  if (context.view.is_set && !stateful(json::Find(*context.view.object, "spec"))) {
    findings.Violate("/spec/stateful",
                     "the StormService is not stateful: names and order of its RoleSets change "
                     "when they are replaced",
                     "write stateful: true");
  }
  ForEachRole(context, [&](const PartView& role) {
    if (!HasNpus(context, role) || stateful(role.value)) return;
    findings.Violate(role.Path() + "/stateful",
                     Title(role) +
                         " is not stateful: a replaced instance gets another index, which the "
                         "engines use as their rank",
                     "write stateful: true");
  });
}

void CheckCpuRole(const RuleContext& context, Findings& findings) {
  const auto& templates = context.view.templates;
  for (const schemas::PodGroupView& group : context.view.pod_groups) {
    if (group.owner != schemas::PodGroupOwner::kRoleSet) continue;
    if (std::none_of(group.templates.begin(), group.templates.end(),
                     [&](size_t index) { return templates[index].RequestsNpus(); })) {
      continue;
    }
    for (size_t index : group.templates) {
      const PodTemplateView& pod = templates[index];
      if (pod.RequestsNpus() || pod.SchedulerName().empty() || !IsPlacedByVolcano(context, pod))
        continue;
      findings.Violate(pod.pod_spec.path.Child("schedulerName"),
                       "role " + Quote(pod.name) +
                           " has no NPUs but joins the PodGroup of the NPU roles: when Volcano "
                           "sees it first, the whole group loses chip topology and rescheduling",
                       "remove schedulerName from this role");
    }
  }
}

void CheckPodGroupSize(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  for (const PartView& role : context.view.parts) {
    const int64_t least = role.index ? 1 : 2;  // a PodSet is a group
    const auto size = json::AsInt(json::Find(*role.value, "podGroupSize"));
    if (!size || (*size >= least && *size <= 100)) continue;
    findings.Violate(role.Path("/podGroupSize"),
                     "podGroupSize is " + std::to_string(*size) + ", but AIBrix accepts " +
                         std::to_string(least) + " to 100: the API server refuses the object",
                     "write the number of pods of one instance; replicas counts instances");
  }
}

constexpr Rule kRoleRules[] = {
    {.id = "MG120",
     .name = "aibrix-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAibrixWithRoles,
     .summary = "A StormService with NPUs and each of its roles say how many replicas they have.",
     .why = "The API's comments mention a default, but the code has none: a missing count is 0, "
            "and some releases dereference it, which crashes the controller and with it every "
            "StormService of the cluster.",
     .fix = "Write replicas at spec and in every role.",
     .source =
         "aibrix: pkg/controller/roleset/{utils,sync}.go, pkg/controller/stormservice/sync.go",
     .check = CheckReplicas},
    {.id = "MG121",
     .name = "aibrix-volcano-strategy",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAibrixKinds,
     .summary = "A volcanoSchedulingStrategy over NPU roles names their NPUs in minResources.",
     .why = "Volcano's NPU plugin recognises an NPU job by minResources of its PodGroup, or by the "
            "annotation volcano.sh/schedule.plugin, which AIBrix does not write. AIBrix copies "
            "minResources unchanged, empty by default: the group then gets no chips assigned, and "
            "no fault is ever handled.",
     .fix = "Remove the strategy. MindCluster supports AIBrix only without it.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go; aibrix: "
               "pkg/controller/roleset/sync.go (syncPodGroup)",
     .check = CheckVolcanoStrategy},
    {.id = "MG122",
     .name = "aibrix-scheduling-strategy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixKinds,
     .summary = "NPU roles have no schedulingStrategy.",
     .why = "With a strategy AIBrix creates the PodGroup, or the one of another scheduler, and its "
            "size no longer follows huawei.com/schedule_minAvailable. MindCluster's documents "
            "exclude it; a group with the right minResources may still work, hence a warning.",
     .fix = "Remove schedulingStrategy and let Volcano make the PodGroups.",
     .source = "mind-cluster: "
               "docs/en/scheduling/usage/vllm_best_practice/01_deploying_vllm_inference_job.md",
     .check = CheckAnyStrategy},
    {.id = "MG123",
     .name = "aibrix-strategy-twice",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixWithRoles,
     .summary = "schedulingStrategy is set on the RoleSet or on its roles, not on both.",
     .why = "AIBrix makes one PodGroup for the RoleSet and one for each PodSet, and the pods can "
            "belong to only one of them; the other waits for members forever.",
     .fix = "Keep one of the two.",
     .source = "aibrix: api/orchestration/v1alpha1/roleset_types.go; newer releases refuse it, "
               "older ones do not, hence a warning",
     .check = CheckStrategyTwice},
    {.id = "MG124",
     .name = "aibrix-service-replicas",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kStormServices,
     .summary = "A StormService with NPUs has one replica.",
     .why =
         "Each replica is a RoleSet of its own with PodGroups of its own. MindCluster's documents "
         "allow only one, and do not define what happens after a fault in one of several.",
     .fix = "Write replicas: 1 and scale the roles.",
     .source = "mind-cluster: "
               "docs/en/scheduling/usage/vllm_best_practice/01_deploying_vllm_inference_job.md",
     .check = CheckServiceReplicas},
    {.id = "MG125",
     .name = "aibrix-stateful",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixWithRoles,
     .summary = "A StormService with NPUs and its NPU roles are stateful.",
     .why = "Only stateful roles keep index and name of an instance when it is rescheduled after a "
            "fault. The start scripts derive ranks and addresses from them.",
     .fix = "Write stateful: true at spec and in every NPU role.",
     .source = "mind-cluster: "
               "docs/en/scheduling/usage/vllm_best_practice/01_deploying_vllm_inference_job.md; "
               "AIBrix itself runs without, hence a warning",
     .check = CheckStateful},
    {.id = "MG126",
     .name = "aibrix-cpu-role-in-group",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixWithRoles,
     .summary = "A role without NPUs does not share the PodGroup of NPU roles.",
     .why = "All roles with podGroupSize 1 that name Volcano share one PodGroup, and Volcano takes "
            "its resources from whichever pod it sees first. If that is a routing pod, the whole "
            "group counts as a group without NPUs until it is recreated.",
     .fix = "Leave schedulerName out of roles without NPUs.",
     .source = "volcano: pkg/controllers/podgroup/pg_controller_handler.go; mind-cluster: "
               "component/ascend-for-volcano/plugin/job.go. It works when an NPU pod comes first, "
               "hence a warning",
     .check = CheckCpuRole},
    {.id = "MG127",
     .name = "aibrix-pod-group-size",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAibrixKinds,
     .summary =
         "podGroupSize is the number of pods of one instance, 1 to 100 (2 to 100 in a PodSet).",
     .why = "The API server refuses other values with a message about a schema. A role makes "
            "replicas instances of podGroupSize pods each.",
     .fix = "Write the number of pods of one instance in podGroupSize and the number of instances "
            "in replicas.",
     .source =
         "aibrix: config/crd/orchestration/orchestration.aibrix.ai_{stormservices,podsets}.yaml",
     .check = CheckPodGroupSize},
};

}  // namespace

Family RoleRules() { return kRoleRules; }

}  // namespace mindgate::policies::aibrix
