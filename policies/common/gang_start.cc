#include <optional>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/common/gang_size.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "policies/text_entries.h"
#include "schemas/children.h"
#include "schemas/names.h"
#include "schemas/replicas.h"

// Gangs that can never be complete, at their start or in a rolling update.
namespace mindgate::policies::common {
namespace {

using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::PodsOf;
using schemas::PodTemplateView;
using schemas::WorkloadView;

void CheckOrderedStatefulSet(const WorkloadView& view, const PodTemplateView& pod,
                             const SeenGang& gang, Findings& findings) {
  if (!MakesPodsInOrder(view, pod)) return;
  const std::string_view key = gang.of_volcano ? schemas::kGroupMinMember : schemas::kMinAvailable;
  findings.Violate(gang.path,
                   gang.text +
                       ", but a StatefulSet makes its second pod only when the first is ready, and "
                       "the first waits for the second: no pod ever starts",
                   "write podManagementPolicy: \"Parallel\" in the StatefulSet's spec, or " +
                       std::string(key) + ": \"1\"");
}

// With the gang provider the first PodGroup holds the leader alone until it is ready; without it,
// all leaders share one. Only what fails both ways is certain.
void CheckLeaderReady(const WorkloadView& view, const PodTemplateView& pod, const SeenGang& gang,
                      Findings& findings) {
  const json::Value* spec = json::Find(view.object, "spec");
  if (json::FindString(spec, "startupPolicy") != "LeaderReady") return;
  if (&pod != &view.templates.front()) return;  // the leader, or the template that serves as one
  const json::Value* groups = json::Find(spec, "replicas");
  const auto leaders = groups == nullptr ? 1 : json::AsInt(groups);
  if (!leaders || gang.size <= *leaders) return;
  findings.Violate(gang.path,
                   gang.text +
                       ", but with startupPolicy LeaderReady workers appear only when the leader "
                       "is ready, and the leader waits for them: no pod ever starts",
                   "remove the annotation, or write startupPolicy: \"LeaderCreated\"");
}

// Volcano before 1.12, which MindCluster ships, does not read group-min-member: while it is not
// known which one runs, what that annotation does is only warned of.
void SetCertainty(const RuleContext& context, const SeenGang& gang, Findings& findings) {
  const bool certain =
      !gang.of_volcano || context.config.versions.IsFrom(schemas::Component::kVolcano, {1, 12});
  findings.SetAtMost(certain ? schemas::Mode::kEnforce : schemas::Mode::kWarn);
}

void CheckDeadlock(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    const auto gang = GangOf(context, pod);
    if (!gang || gang->size < 2) continue;
    SetCertainty(context, *gang, findings);
    if (GroupOf(view, pod).facts().in_order) {
      CheckOrderedStatefulSet(view, pod, *gang, findings);
    } else if (GroupOf(view, pod).facts().leader_and_workers) {
      CheckLeaderReady(view, pod, *gang, findings);
    }
  }
}

struct TooLarge {
  SeenGang gang;
  int64_t pods = 0;

  std::string_view key() const {
    return gang.of_volcano ? schemas::kGroupMinMember : schemas::kMinAvailable;
  }
};

// The gangs of the group that are larger than the pods the object makes: every template writes its
// own. A group of no pods waits for nothing.
std::vector<TooLarge> FindTooLarge(const RuleContext& context, const PodGroupView& group) {
  std::vector<TooLarge> found;
  const WorkloadView& view = context.view;
  if (group.facts().leader_and_workers || (group.min_member && *group.min_member != 1))
    return found;
  const auto pods = PodsOf(view, group);
  if (!pods || *pods == 0) return found;
  for (size_t index : group.templates) {
    auto gang = GangOf(context, view.templates[index]);
    if (gang && gang->size > *pods) found.push_back({*std::move(gang), *pods});
  }
  return found;
}

void CheckNeverFills(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    // An instance's Deployment or StatefulSet keeps the size that its role says.
    const bool instance = schemas::kInferOperatorKinds.Has(view.kind);
    if (!instance && !group.facts().fixed_size) continue;
    for (const TooLarge& found : FindTooLarge(context, group)) {
      SetCertainty(context, found.gang, findings);
      findings.Violate(
          found.gang.path,
          found.gang.text + " but " + std::string(group.name) + " has only " +
              Counted(found.pods, "pod") + ": the gang never fills and no pod starts",
          "write " + std::string(found.key()) + ": \"" + std::to_string(found.pods) + "\" or less");
    }
  }
}

// The API server then makes it one, and an autoscaler more at once.
bool LeavesReplicasOut(const WorkloadView& view) {
  return schemas::kPlainSets.Has(view.kind) &&
         json::FindPath(view.object, {"spec", "replicas"}) == nullptr;
}

void CheckExceedsReplicas(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // OME makes its Deployments with one replica and lets an autoscaler raise them.
  if (view.controller_injected) return;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.facts().fixed_size || group.owner == PodGroupOwner::kPod) continue;
    const std::string_view count = view.UsesRuntime() ? "minReplicas" : "replicas";
    const auto found_here = FindTooLarge(context, group);
    const auto least = found_here.empty() ? std::nullopt : LeastPodsOf(context, group);
    for (const TooLarge& found : found_here) {
      // The autoscaler makes the pods that are missing, or its own rule reports that it does not.
      if (least && (found.gang.size <= least->pods || LeavesReplicasOut(view))) continue;
      findings.Violate(found.gang.path,
                       found.gang.text + " but " + std::string(count) + " make " +
                           Counted(found.pods, "pod") + ": none starts until the rest are added",
                       "write " + std::string(found.key()) + ": \"" + std::to_string(found.pods) +
                           "\", or raise " + std::string(count));
    }
  }
}

// Whether an update leaves it as it was: a larger service keeps its K, as another one would
// recreate all its pods.
bool IsKept(const RuleContext& context, const SeenK& seen) {
  if (context.old_view == nullptr) return false;
  const json::Value* before = json::Resolve(*context.old_view->object, seen.Path());
  const json::Value* now = json::Resolve(*context.view.object, seen.Path());
  return before != nullptr && now != nullptr && *before == *now;
}

// The pods of the group that K is to count: those with NPUs that Volcano places, as the injected K
// does.
std::optional<int64_t> GangPodsOf(const RuleContext& context, const PodGroupView& group) {
  int64_t sum = 0;
  for (const size_t index : group.templates) {
    const PodTemplateView& pod = context.view.templates[index];
    if (!pod.RequestsNpus() || !IsGang(context, pod)) continue;
    if (!pod.pods || *pod.pods < 0 || __builtin_add_overflow(sum, *pod.pods, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

// Roles that share a RoleSet's PodGroup serve together: prefill alone answers nobody.
void CheckBelowRoles(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.min_member && *group.min_member != 1) continue;
    const auto pods = GangPodsOf(context, group);
    if (!pods) continue;
    for (const size_t index : group.templates) {
      const auto seen = SeenBy(context, view.templates[index]);
      // A gang of one is none, which may be meant.
      if (!seen || seen->k == 1 || seen->k >= *pods || IsKept(context, *seen)) continue;
      // Of several roles all have it, once it is injected: the list of them is at fault.
      const bool shared = group.templates.size() > 1 && !view.parts.empty();
      findings.Violate(shared ? std::string(view.parts.front().holder) : seen->Path(),
                       KIs(seen->k) + ", less than the " + Counted(*pods, "pod") +
                           " with NPUs of " + std::string(group.name) +
                           ": the scheduler binds the first " + Counted(seen->k, "pod") +
                           " without the others, which may find no room",
                       "write huawei.com/schedule_minAvailable: \"" + std::to_string(*pods) +
                           "\", the sum of the roles' replicas");
    }
  }
}

// "maxSurge 1 and maxUnavailable 0", as the user wrote them.
std::string Limits(const schemas::RollingUpdate& update) {
  return "maxSurge " + std::to_string(update.max_surge) + " and maxUnavailable " +
         (update.raised ? "0, which Kubernetes takes for 1,"
                        : std::to_string(update.max_unavailable));
}

// Where the rollout strategy of the pods is written.
std::string StrategyOf(const WorkloadView& view) {
  return schemas::kOmeKinds.Has(view.kind) ? "deploymentStrategy of the component"
                                           : "spec.strategy";
}

// The sp-block of a job for super pods, and how many chips each of its pods has.
struct SuperPodBlock {
  schemas::Entry entry;
  int64_t chips = 0;
  int64_t chips_of_pod = 0;
};

std::optional<SuperPodBlock> SuperPodBlockOf(const RuleContext& context,
                                             const PodGroupView& group) {
  const schemas::Entry entry =
      schemas::ReadGroupAnnotation(context.view, group, schemas::kSpBlock).entry;
  const auto block = chips::PositiveBlock(entry);
  const schemas::GroupChips* chips = block ? context.chips->Of(group) : nullptr;
  if (chips == nullptr || !chips::IsSuperPod(*chips) || !chips->uniform || *chips->uniform < 1) {
    return std::nullopt;
  }
  return SuperPodBlock{entry, *block, *chips->uniform};
}

// Without K the plugin takes the new ReplicaSet's pods for the whole job, and refuses a job that
// its sp-block does not divide.
void CheckBlockRollout(const RuleContext& context, const PodTemplateView& pod, Findings& findings) {
  const WorkloadView& view = context.view;
  if (!pod.pod_group) return;
  const auto block = SuperPodBlockOf(context, GroupOf(view, pod));
  if (!block || block->chips % block->chips_of_pod != 0) return;
  const int64_t pods = block->chips / block->chips_of_pod;
  const auto update = schemas::RollingUpdateOf(view, pod, pods);
  if (pods < 2 || !update || update->max_surge + update->max_unavailable >= pods) return;
  findings.Violate(block->entry.Path(),
                   "sp-block " + std::to_string(block->chips) + " needs " + Counted(pods, "pod") +
                       " at once: every rolling update would hang, as " + Limits(*update) +
                       " allow fewer new pods, and the scheduler refuses those",
                   "write type: \"Recreate\" in " + StrategyOf(view));
}

// "sp-block 32 is more than the 16 chips of one pod": then a lone pod, which is all that a lower K
// lets in, is refused (mind-cluster: internal/npu/ascend910/ascend910a3/superpod/frame.go). Empty
// when it is not so.
std::string BlockOfSeveralPods(const RuleContext& context, const PodGroupView& group) {
  const auto block = SuperPodBlockOf(context, group);
  if (!block || block->chips <= block->chips_of_pod) return "";
  return "sp-block " + std::to_string(block->chips) + " is more than the " +
         Counted(block->chips_of_pod, "chip") + " of one pod";
}

// One line for each service: its components often have the same gang.
struct Blocked {
  std::string path;
  std::string message;
  std::string fix;
  std::vector<std::string> others;  // components of which the same is true
};

void AddBlocked(Blocked blocked, std::string_view component, std::vector<Blocked>& all) {
  for (Blocked& each : all) {
    if (each.message != blocked.message) continue;
    each.others.emplace_back(component);
    return;
  }
  all.push_back(std::move(blocked));
}

void CheckRollout(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.controller_injected) return;
  std::vector<Blocked> all;
  for (const PodTemplateView& pod : view.templates) {
    const auto gang = GangOf(context, pod);
    if (!gang) CheckBlockRollout(context, pod, findings);
    if (!gang || GroupOf(view, pod).min_member.value_or(1) != 1) continue;
    const auto update = schemas::RollingUpdateOf(view, pod, gang->size);
    if (!update || !schemas::RolloutBlocked(view, pod, gang->size)) continue;
    // Where the runtime is not known, it may still say otherwise.
    const bool assumed = view.LacksRuntime() && pod.pod_spec.Find("deploymentStrategy") == nullptr;
    std::string message = gang->text + ": every rolling update would hang, as " +
                          (assumed ? "OME's default of " : "") + Limits(*update) +
                          " both stay below it";
    const std::string strategy = StrategyOf(view);
    std::string fix = "write type: \"Recreate\" or maxSurge: \"100%\" in " + strategy;
    if (const std::string block = BlockOfSeveralPods(context, GroupOf(view, pod)); !block.empty()) {
      message += "; gangRepair cannot unblock it, as " + block;
      fix = "write type: \"Recreate\" in " + strategy;
    } else if (gang->of_volcano) {
      message += "; gangRepair cannot unblock it, as it lowers the other gang size alone";
    } else if (context.config.gang_repair) {
      message += "; the watcher's gangRepair unblocks it";
      fix += ", or keep the watcher's gangRepair on";
    }
    AddBlocked({gang->path, std::move(message), std::move(fix), {}}, pod.name, all);
  }
  for (Blocked& each : all) {
    if (!each.others.empty())
      each.message += "; the same is true of the " + Join(each.others, ", ");
    findings.Violate(std::move(each.path), std::move(each.message), std::move(each.fix));
  }
}

void CheckGroupMinMember(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Earlier versions ignore it.
  if (context.config.versions.IsBefore(schemas::Component::kVolcano, {1, 12})) return;
  const auto text = view.Annotation(schemas::kGroupMinMember);
  if (!text || ParseGoInt(*text).value_or(0) < 2) return;
  for (const PodTemplateView& pod : view.templates) {
    if (!pod.RequestsNpus() || !IsGang(context, pod) || pod.Annotation(schemas::kMinAvailable))
      continue;
    findings.Violate(pod.annotations.path.Child(schemas::kMinAvailable),
                     "group-min-member without " + std::string(schemas::kMinAvailable) +
                         " makes the scheduler multiply the NPUs twice: the job waits for many "
                         "times the cards it needs",
                     "add huawei.com/schedule_minAvailable: " + Quote(*text) +
                         " to spec.template.metadata.annotations, or remove " +
                         std::string(schemas::kGroupMinMember));
  }
}

void CheckExternalAutoscaler(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  for (const PodTemplateView& pod : view.templates) {
    const auto seen = SeenBy(context, pod);
    if (!seen || seen->k < 2 || GroupOf(view, pod).facts().leader_and_workers) continue;
    if (pod.Annotation(schemas::kOmeAutoscalerClass) != "external") continue;
    findings.Violate(
        seen->Path(),
        KIs(seen->k) +
            " with ome.io/autoscalerClass external: the Deployment starts with one pod, which "
            "waits for the others, and OME adds none",
        "remove the annotation, or let OME scale the component (another ome.io/autoscalerClass)");
  }
}

constexpr Rule kGangStartRules[] = {
    {.id = "MG071",
     .name = "min-available-deadlock",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds | schemas::kStatefulSets | schemas::kLeaderWorkerSets,
     .summary =
         "A gang larger than one pod is requested only where all its pods can exist at once.",
     .why = "A StatefulSet with podManagementPolicy OrderedReady, its default, creates one pod "
            "after the other, each when the previous one is ready. A LeaderWorkerSet with "
            "LeaderReady creates workers when the leader is ready. In both cases the first pod "
            "waits forever for a gang that cannot form.",
     .fix =
         "Use podManagementPolicy Parallel or startupPolicy LeaderCreated, or drop the annotation.",
     .source = "Kubernetes: StatefulSet pod management policies. lws: "
               "pkg/schedulerprovider/volcano_provider.go (minMember 1 with LeaderReady). "
               "mind-cluster: docs of affinity scheduling ask for OrderedReady with 1. A "
               "LeaderWorkerSet is denied only when it fails with and without LWS gang scheduling, "
               "which its manifest does not show, and scheduling.volcano.sh/group-min-member only "
               "where versions.volcano is 1.12 or later.",
     .check = CheckDeadlock},
    {.id = "MG075",
     .name = "min-available-never-fills",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kVolcanoJobs | schemas::kBatchJobs | schemas::kAibrixKinds |
              schemas::kInferOperatorKinds | schemas::kAscendJobs,
     .summary = "huawei.com/schedule_minAvailable is not larger than a group whose size is fixed.",
     .why = "The gang needs more pods than the group will ever have, so the scheduler binds none "
            "of them.",
     .fix = "Write the number of pods of the group, or less.",
     .source =
         "mind-cluster: component/ascend-for-volcano/plugin/job.go (\"pods not enough\"). Fixed "
         "are Jobs, Volcano Jobs, AscendJobs, PodSets and the instances of infer-operator. What "
         "scheduling.volcano.sh/group-min-member does is denied only where versions.volcano is "
         "1.12 or later.",
     .check = CheckNeverFills},
    {.id = "MG076",
     .name = "min-available-exceeds-replicas",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kPlainSets | schemas::kInferenceServices | schemas::kAibrixKinds,
     .summary = "huawei.com/schedule_minAvailable is not larger than the replicas asked for.",
     .why = "No pod is bound until the gang is complete. An autoscaler that waits for load never "
            "sees any, and after a scale-down below this number a failed pod is not replaced.",
     .fix = "Write at most the number of replicas; for OME, minReplicas.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go. The replicas may still "
               "be raised later, hence a warning.",
     .check = CheckExceedsReplicas},
    {.id = "MG077",
     .name = "min-available-blocks-rollout",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kDeployments | schemas::kInferenceServices,
     .summary = "A rolling update can bring up as many new pods at once as the gang needs.",
     .why = "Every template change creates a new ReplicaSet with its own PodGroup. Its first pods "
            "wait until the gang is complete, the deployment controller creates no more until they "
            "are ready, and the update hangs, even if it would fix a current fault. The same "
            "happens without huawei.com/schedule_minAvailable to an sp-block of several pods: the "
            "first new pods are not a whole block, and the scheduler refuses them.",
     .fix = "Use strategy Recreate, or maxSurge 100%, or a gang of 1; or let mindgate's watcher "
            "repair such gangs (gangRepair, on by default). With an sp-block larger than one pod "
            "only Recreate helps.",
     .source =
         "volcano issue 4739. A lone pod of a larger sp-block is refused by mind-cluster: "
         "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go. ome: "
         "pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go "
         "(default maxSurge 1, maxUnavailable 0). MindCluster's documents nevertheless require the "
         "annotation for OME in Deployment mode, so it is injected and this is a warning.",
     .check = CheckRollout},
    {.id = "MG078",
     .name = "group-min-member-alone",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kReplicaSets,
     .summary = "A Deployment or ReplicaSet with scheduling.volcano.sh/group-min-member also "
                "carries huawei.com/schedule_minAvailable in its template.",
     .why = "With group-min-member Volcano asks for the resources of that many pods. Without the "
            "annotation the NPU plugin multiplies them by the replicas once more: the job waits "
            "for far more cards than it uses.",
     .fix = "Add the annotation with the same number, or remove group-min-member.",
     .source = "volcano: pkg/controllers/podgroup/pg_controller_handler.go (1.12 and later; "
               "earlier versions ignore group-min-member, hence a warning). mind-cluster: "
               "component/ascend-for-volcano/plugin/job.go.",
     .check = CheckGroupMinMember},
    {.id = "MG177",
     .name = "min-available-below-roles",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAibrixKinds,
     .summary = "huawei.com/schedule_minAvailable is not smaller than what the roles of its "
                "PodGroup make.",
     .why =
         "All roles with podGroupSize 1 of a RoleSet share one PodGroup. With a smaller gang the "
         "scheduler lets some pods in and leaves the others out when nodes are short: prefill "
         "instances hold their cards and wait for decode. ClusterD takes the number for the size "
         "of the job.",
     .fix = "Write the sum of the replicas of the roles that share the PodGroup, or podGroupSize.",
     .source = "MindCluster's documents of vLLM inference; mind-cluster: "
               "component/ascend-for-volcano/plugin/job.go. A warning, because a service may be "
               "meant to start with some of its pods; a gang of 1 is none, and is not reported.",
     .check = CheckBelowRoles},
    {.id = "MG079",
     .name = "min-available-external-autoscaler",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A component with ome.io/autoscalerClass external has no gang larger than 1.",
     .why = "OME creates its Deployment with one replica and leaves scaling to an external "
            "autoscaler. The one pod waits for the gang, is never ready and shows no load, so a "
            "load-based autoscaler adds nothing.",
     .fix = "Remove huawei.com/schedule_minAvailable from the component, or let OME scale it.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/reconcilers (Deployment without "
               "replicas, HPA deleted for external). It may be scaled by hand, hence a warning.",
     .check = CheckExternalAutoscaler},
};

}  // namespace

Family GangStartRules() { return kGangStartRules; }

}  // namespace mindgate::policies::common
