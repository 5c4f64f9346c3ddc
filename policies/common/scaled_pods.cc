#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/common/gang_size.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "schemas/names.h"
#include "schemas/scaling_rule.h"

// Pods under a scaling rule of mindgate's watcher, which takes any workload for an instance. The
// rules about AscendJobs, whose operator reads the job's own labels, are in ascendjob/.
namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Pods that name a scaling rule, and where their labels stand: those of the object are copied to
// the pods of an only template (admission/mutators/runtime_labels.cc).
struct ScaledPods {
  const PodTemplateView* pod = nullptr;
  const WorkloadView* view = nullptr;
  const schemas::FieldView* labels = nullptr;
  std::string_view rule;

  std::optional<std::string_view> Label(std::string_view key) const {
    const auto own = pod->Label(key);
    return own || view->templates.size() != 1 ? own : view->Label(key);
  }
  // For messages.
  std::string Title() const {
    return pod->name.empty() ? "the pods" : "the pods of " + std::string(pod->name);
  }
};

template <typename Visit>
void ForEachScaled(const WorkloadView& view, Visit visit) {
  if (view.controller_injected) return;
  for (const PodTemplateView& pod : view.templates) {
    const bool only = view.templates.size() == 1;
    const auto on_pod = pod.Label(schemas::kScalingRule);
    const auto rule = on_pod || !only ? on_pod : view.Label(schemas::kScalingRule);
    if (!rule || rule->empty()) continue;
    visit(ScaledPods{&pod, &view, on_pod ? &pod.labels : &view.labels, *rule});
  }
}

void CheckScaledLabels(const RuleContext& context, Findings& findings) {
  struct Needed {
    std::string_view key, effect, fix;
  };
  constexpr std::array<Needed, 2> kNeeded = {{
      {schemas::kGroupName, ": their instances cannot be counted, and the whole service is held",
       "write the group_name of the rule that these pods belong to"},
      {schemas::kJobId, ": they belong to no service, so the rule does not hold them",
       "write the id of the service, the same on all its workloads"},
  }};
  ForEachScaled(context.view, [&](const ScaledPods& scaled) {
    for (const Needed& needed : kNeeded) {
      const auto value = scaled.Label(needed.key);
      // Another type is reported by wrong-type.
      if (value ? !value->empty() : scaled.pod->labels.Find(needed.key) != nullptr) continue;
      findings.Violate(scaled.labels->path.Child(needed.key),
                       scaled.Title() + " are under scaling rule " + Quote(scaled.rule) +
                           (value ? " with an empty label " : " without the label ") +
                           std::string(needed.key) + std::string(needed.effect),
                       std::string(needed.fix));
    }
  });
}

void CheckScaledGroup(const RuleContext& context, Findings& findings) {
  ForEachScaled(context.view, [&](const ScaledPods& scaled) {
    const Reference found =
        LookUp(context, findings, "", "ConfigMap", context.ns(), std::string(scaled.rule));
    if (found.IsAbsent()) {
      findings.Violate(scaled.labels->path.Child(schemas::kScalingRule),
                       "ConfigMap " + Quote(scaled.rule) + " is not in the namespace of " +
                           scaled.Title() + ", which are held until it is",
                       "create the ConfigMap there; one in another namespace is not seen");
      return;
    }
    const auto text =
        found.object == nullptr ? std::nullopt : schemas::ScalingRuleText(*found.object);
    const auto group = scaled.Label(schemas::kGroupName);
    if (!text || !group || group->empty()) return;
    const auto reading = schemas::ReadScalingRule(*text);
    // What is wrong with the rule itself is said of its ConfigMap.
    if (!reading.rule || reading.rule->tiers.empty() || reading.rule->HasGroup(*group)) return;
    std::vector<std::string_view> names;
    for (const auto& each : reading.rule->tiers.front().groups) names.push_back(each.group_name);
    const auto near = NearestOf(*group, names);
    findings.Violate(scaled.labels->path.Child(schemas::kGroupName),
                     "group " + Quote(*group) + " is in no tier of scaling rule " +
                         Quote(scaled.rule) + ": no instance of it is ever let in",
                     near ? "write mind-cluster/group-name: " + std::string(*near)
                          : "list the group in every tier of the rule");
  });
}

// Workloads of the same apply; of a cluster only AscendJobs are known, which scaling-rule-jobs
// reports.
void CheckWorkloadsOfRule(const RuleContext& context, Findings& findings) {
  const auto& reading = context.view.scaling_rule;
  const schemas::ObjectLookup* objects = context.request.objects;
  if (!reading || !reading->rule || objects == nullptr) return;
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (!(schemas::kWorkloads - schemas::kAscendJobs).Has(info.kind)) continue;
    objects->ForEach(info.group, info.name, context.ns(), [&](const Value& object) {
      const auto workload = schemas::BuildView(object, nullptr, {.read_texts = false});
      if (!workload) return;
      ForEachScaled(*workload, [&](const ScaledPods& scaled) {
        const auto group = scaled.Label(schemas::kGroupName);
        if (scaled.rule != context.view.name || !group || group->empty()) return;
        if (reading->rule->HasGroup(*group)) return;
        findings.Violate(json::Child("/data", schemas::kScalingRuleKey),
                         "group " + Quote(*group) + " is in no tier, but " +
                             std::string(info.name) + " " + Quote(workload->name) +
                             " belongs to it: no instance of it is ever let in",
                         "keep the group in every tier, or delete the workload first");
      });
    });
  }
}

// Whether each pod is an instance of its own, which has its turn alone (watcher/scaling/pod.h).
bool IsAnInstance(const WorkloadView& view, const PodTemplateView& pod) {
  if (schemas::kInferOperatorKinds.Has(view.kind)) return false;
  return GroupOf(view, pod).facts().independent_pods;
}

// The fewest of the group that a shape which wants any asks for; nothing when the rule is not known
// here, or has no such group.
std::optional<int64_t> FewestWanted(const RuleContext& context, const ScaledPods& scaled) {
  const schemas::ObjectLookup* objects = context.request.objects;
  const Value* object =
      objects == nullptr ? nullptr
                         : objects->Find("", "ConfigMap", context.ns(), std::string(scaled.rule));
  const auto text = object == nullptr ? std::nullopt : schemas::ScalingRuleText(*object);
  if (!text) return std::nullopt;
  const auto reading = schemas::ReadScalingRule(*text);
  if (!reading.rule) return std::nullopt;
  std::optional<int64_t> fewest;
  for (const schemas::ScalingTier& tier : reading.rule->tiers) {
    const auto* group = tier.Find(scaled.Label(schemas::kGroupName).value_or(""));
    if (group == nullptr || group->group_num < 1) continue;
    fewest = std::min(fewest.value_or(group->group_num), group->group_num);
  }
  return fewest;
}

void CheckScaledGang(const RuleContext& context, Findings& findings) {
  if (context.config.elastic_scaling.mode != schemas::EnforcementMode::kEnforce) return;
  ForEachScaled(context.view, [&](const ScaledPods& scaled) {
    // Without these a pod gets no gate (admission/mutators/recovery.cc).
    if (scaled.Label(schemas::kGroupName).value_or("").empty() ||
        scaled.Label(schemas::kJobId).value_or("").empty()) {
      return;
    }
    const auto seen = SeenBy(context, *scaled.pod);
    if (!seen || seen->k < 2 || !IsAnInstance(context.view, *scaled.pod) ||
        GroupOf(context.view, *scaled.pod).min_member.value_or(1) != 1) {
      return;
    }
    const auto fewest = FewestWanted(context, scaled);
    if (fewest && seen->k <= *fewest) return;
    findings.Violate(
        seen->Path(),
        std::string(schemas::kMinAvailable) + " is " + std::to_string(seen->k) + ", but " +
            scaled.Title() + " are let in one by one as scaling rule " + Quote(scaled.rule) +
            " says" +
            (fewest ? ", which wants " + std::to_string(*fewest) + " in a shape: they never start"
                    : ": those that are let in wait for those that are held"),
        "write huawei.com/schedule_minAvailable: \"1\", or leave it out of a Deployment's pods, "
        "where mindgate writes it");
  });
}

constexpr Rule kScaledPodRules[] = {
    {.id = "MG166",
     .name = "scaled-pods-labels",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads - schemas::kAscendJobs,
     .summary = "Pods with the label mind-cluster/scaling-rule have mind-cluster/group-name and "
                "jobID too, and neither is empty.",
     .why = "The watcher counts the instances of a service by these labels of its pods. One pod of "
            "a service without a group cannot be counted, and nothing of the service is let in "
            "until it is gone; without jobID the pods belong to no service.",
     .fix = "Write both labels in the pod template, or in metadata.labels of a workload that has "
            "one template only: mindgate copies them.",
     .source = "mindgate: watcher/scaling. ascend-operator knows AscendJobs only, for which "
               "scaling-labels reports it. A warning, because pods are held only where "
               "elasticScaling.mode is enforce",
     .check = CheckScaledLabels},
    {.id = "MG167",
     .name = "scaled-pods-group",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads - schemas::kAscendJobs,
     .summary = "The scaling rule that pods name is in their namespace and has their group.",
     .why = "The watcher lets in what the rule wants of each group. Of a group that no tier lists, "
            "and under a rule that does not exist, it lets nothing in, so the pods stay behind "
            "their gate.",
     .fix = "Correct the label, or list the group in every tier of the rule.",
     .source =
         "mindgate: watcher/scaling. ascend-operator knows AscendJobs only, for which "
         "scaling-rule-exists and scaling-group report it. A warning, because the rule may be "
         "created later",
     .check = CheckScaledGroup},
    {.id = "MG171",
     .name = "scaling-rule-workloads",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The rule keeps the groups of the workloads that exist under it, AscendJobs apart.",
     .why =
         "The watcher lets in what the rule wants of each group. Of a group that was removed it "
         "lets nothing in any more: pods that are replaced after a fault stay behind their gate.",
     .fix = "Keep the group in every tier, or delete its workloads before the change.",
     .source =
         "mindgate: watcher/scaling. Offline only, where the workloads are among the documents; "
         "for AscendJobs scaling-rule-jobs reports it. A warning, because the workload may go next",
     .check = CheckWorkloadsOfRule},
    {.id = "MG172",
     .name = "scaled-pods-gang",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kPlainSets | schemas::kInferenceServices | schemas::kAibrixKinds,
     .summary = "Pods that are let in one by one, each an instance under a scaling rule, have no "
                "huawei.com/schedule_minAvailable above 1.",
     .why = "The watcher opens the gate of as many pods as a shape of the rule wants. The "
            "scheduler's plugin counts those that are still held, too, but binds none of the "
            "PodGroup before as many as the annotation says may be placed. So the ones that are "
            "let in wait for the ones that are held, which wait for them: nothing starts, and "
            "nothing comes back after a fault or in a rolling update.",
     .fix = "Write huawei.com/schedule_minAvailable: \"1\". Where the pods are one instance "
            "together, use a kind whose pods are: a LeaderWorkerSet, a PodSet or an AscendJob.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go (initByJobInfo) and "
               "npu.go (jobReady). Only where elasticScaling.mode is enforce. A warning, because a "
               "number that every shape wants does start, and the rule may be changed to one",
     .check = CheckScaledGang},
};

}  // namespace

Family ScaledPodRules() { return kScaledPodRules; }

}  // namespace mindgate::policies::common
