#include <algorithm>
#include <array>
#include <optional>

#include "admission/mutators/families.h"
#include "base/text.h"
#include "schemas/names.h"
#include "schemas/replicas.h"

namespace mindgate::mutators {
namespace {

using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::string_view kKey = "schedulerName";
constexpr std::string_view kReason =
    "without it the default scheduler places these pods, and neither gangs, chip topology nor "
    "fault rescheduling apply";

// The scheduler that a replica spec names already, when it is Volcano under any of its names.
std::string_view NamedInTemplate(const MutationContext& context) {
  for (const PodTemplateView& pod : context.view.templates) {
    const std::string_view own = pod.scheduler;
    if (own == context.config.scheduler || own == schemas::kVolcanoScheduler) return own;
  }
  return {};
}

// The scheduler that was named before an update that drops it: a client re-applies its original
// manifest, and `scheduler` in mindgate.yaml may have changed. Empty when it is not one of ours.
std::string_view Kept(const MutationContext& context, std::string_view old) {
  return old == context.config.scheduler || old == schemas::kVolcanoScheduler ? old
                                                                              : std::string_view();
}

std::string_view OldScheduler(const MutationContext& context) {
  if (context.old_view == nullptr) return {};
  return Kept(context, json::FindString(context.old_view->spec.value, kKey).value_or(""));
}

std::string_view OldScheduler(const MutationContext& context, const PodTemplateView& pod) {
  const PodTemplateView* old = OldTemplate(context, pod);
  return old == nullptr ? std::string_view() : Kept(context, old->scheduler);
}

// A job names its scheduler once. Templates follow only where the operator would leave them behind.
void OfJob(const MutationContext& context, Edits& edits) {
  const WorkloadView& view = context.view;
  const auto& templates = view.templates;
  const auto injected = [&](const PodTemplateView& pod) { return IsInjected(context, pod); };
  const auto needs = [&](const PodTemplateView& pod) {
    return injected(pod) && pod.scheduler.empty();
  };
  const std::string_view named = NamedInTemplate(context);
  const std::string_view old = OldScheduler(context);
  const schemas::FieldView& spec = view.spec;
  if (json::FindString(spec.value, kKey).value_or("").empty() &&
      (!old.empty() || MayEditJob(context)) &&
      std::any_of(templates.begin(), templates.end(), needs)) {
    const std::string_view name = !old.empty() ? old : named;
    edits.Set(spec, kKey, name.empty() ? std::string_view(context.config.scheduler) : name,
              kReason);
  }
  if (!schemas::kAscendJobs.Has(view.kind) || named.empty() ||
      std::none_of(templates.begin(), templates.end(), injected)) {
    return;
  }
  for (const PodTemplateView& pod : templates) {
    if (!pod.scheduler.empty() || pod.pod_spec.value == nullptr || !MayEdit(context, pod)) {
      continue;
    }
    edits.Set(pod.pod_spec, kKey, named,
              "another replica spec names the scheduler, so ascend-operator sets none here and the "
              "default scheduler would place these pods");
  }
}

// Whether a pod of the same leader-worker group goes to another scheduler: two would wait for each
// other's pods.
bool HasForeignSibling(const MutationContext& context, const PodTemplateView& pod) {
  if (!pod.pod_group) return false;
  const auto& group = context.view.pod_groups[*pod.pod_group];
  return group.facts().leader_and_workers &&
         std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
           const PodTemplateView& sibling = context.view.templates[index];
           // One that has no place for a name takes that of its runtime, which has none.
           const json::Value* name = sibling.pod_spec.Find(kKey);
           const bool unnamed = sibling.SchedulerName().empty() &&
                                ((!sibling.has_pod_spec && sibling.runtime != nullptr) ||
                                 (name != nullptr && !name->is_string()));
           return unnamed || !IsScheduledByVolcano(context, sibling);
         });
}

}  // namespace

void SchedulerName(const MutationContext& context, Edits& edits) {
  if (HasJobScheduler(context.view)) {
    OfJob(context, edits);
    return;
  }
  for (const PodTemplateView& pod : context.view.templates) {
    if (!IsInjected(context, pod) || pod.pod_spec.value == nullptr) continue;
    if (!pod.has_pod_spec) {
      edits.Withhold(pod.pod_spec, kKey,
                     "the component has no pod spec of its own: its runtime names the scheduler");
      continue;
    }
    if (!schemas::IsDefaultScheduler(context.view.info(), pod.SchedulerName())) continue;
    if (HasForeignSibling(context, pod)) {
      edits.Withhold(pod.pod_spec, kKey,
                     "the rest of its gang goes to another scheduler than Volcano");
      continue;
    }
    if (!MayEdit(context, pod)) continue;
    const std::string_view old = OldScheduler(context, pod);
    edits.Set(pod.pod_spec, kKey, old.empty() ? std::string_view(context.config.scheduler) : old,
              kReason);
  }
}

namespace {

using json::Value;
using schemas::PodGroupView;

// Kubernetes' int32: the plugin converts to it, and pods of one group never come near.
constexpr int64_t kMaxGang = 2147483647;

struct GangSize {
  int64_t pods = 0;
  std::string why_not;  // set when nothing may be written
};

// What the engine's own annotation asks for instead of a Deployment. OME reads it on the merged
// component only (MultiNode is a shape of the view); on the service's metadata its defaulter notes
// the shape of the whole service, of which VirtualDeployment alone decides something (ome:
// pkg/controller/v1beta1/inferenceservice/utils/deployment.go).
bool ForcesOtherMode(const WorkloadView& view, const PodTemplateView& pod) {
  constexpr std::string_view kVirtual = "VirtualDeployment";
  if (view.Annotation(schemas::kOmeDeploymentMode) == kVirtual) return true;
  if (pod.name != "engine") return false;
  auto mode = pod.annotations.Text(schemas::kOmeDeploymentMode);
  if (!mode && pod.runtime != nullptr) {
    mode = pod.runtime->annotations.Text(schemas::kOmeDeploymentMode);
  }
  return mode == kVirtual || mode == "Serverless" || mode == "MultiNodeRayVLLM";
}

GangSize OfOmeComponent(const MutationContext& context, const PodTemplateView& pod) {
  if (ForcesOtherMode(context.view, pod))
    return {0, "ome.io/deploymentMode asks for something other than a Deployment"};
  if (pod.Annotation(schemas::kOmeAutoscalerClass) == "external") {
    return {0, "with an external autoscaler the Deployment starts with one pod"};
  }
  if (!pod.pods) return {0, "minReplicas is not an integer"};
  if (*pod.pods == 0) return {0, "minReplicas 0 scales to zero"};
  if (!context.config.gang_repair && schemas::RolloutBlocked(context.view, pod, *pod.pods)) {
    return {0, "a rolling update could not proceed with it, and gangRepair is off"};
  }
  return {*pod.pods, ""};
}

// AIBrix makes the PodGroup itself when a strategy is given; the plugin then reads its minMember.
bool HasSchedulingStrategy(const WorkloadView& view, const PodTemplateView& pod) {
  const auto has = [](const Value* holder) {
    const Value* strategy = json::Find(holder, "schedulingStrategy");
    return json::IsObject(strategy) && !strategy->empty();
  };
  if (has(view.spec.value)) return true;
  return std::any_of(view.parts.begin(), view.parts.end(), [&](const schemas::PartView& role) {
    return role.index == pod.part && has(role.value);
  });
}

GangSize OfRoles(const MutationContext& context, const PodGroupView& group) {
  int64_t sum = 0;
  for (size_t index : group.templates) {
    const PodTemplateView& pod = context.view.templates[index];
    if (HasSchedulingStrategy(context.view, pod)) {
      return {0, "schedulingStrategy sets the gang size of this PodGroup"};
    }
    if (!IsInjected(context, pod)) continue;
    if (!pod.pods) return {0, "role " + std::string(pod.name) + " has no replicas"};
    if (*pod.pods < 0 || __builtin_add_overflow(sum, *pod.pods, &sum)) {
      return {0, "replicas of role " + std::string(pod.name) + " are out of range"};
    }
  }
  if (sum == 0) return {0, "the roles that share the PodGroup make no pods"};
  return {sum, ""};
}

// A size that is kept: what the group carries already, else what it carried before the update. A
// gang size that follows every scaling step would restart all pods of the group.
struct Frozen {
  std::string_view value;  // empty: none
  std::string why_not;     // set when the group carries something that cannot be repeated
};

Frozen FrozenSize(const MutationContext& context, const PodGroupView& group) {
  std::optional<std::string_view> carried;
  for (const auto& place : context.view.GroupAnnotations(group, schemas::kMinAvailable)) {
    if (place.in_runtime) return {"", "the runtime sets it"};
    const auto value = json::AsString(place.value);
    if (!value) {
      return {"", "the annotation at " + place.Path() + " is not a string"};
    }
    if (carried && carried != value) {
      return {
          "",
          "the PodGroup already carries different values, and it is unknown which one is intended"};
    }
    carried = value;
  }
  if (carried) {
    const int64_t size = ParseGoInt(*carried).value_or(0);
    if (size < 1 || size > kMaxGang) {
      return {"", "the value " + Quote(*carried) + " that the group carries is not a gang size"};
    }
    return {*carried, ""};
  }
  for (size_t index : group.templates) {
    const PodTemplateView* old = OldTemplate(context, context.view.templates[index]);
    if (old == nullptr) continue;
    const auto value = old->annotations.Text(schemas::kMinAvailable);
    const int64_t size = value ? ParseGoInt(*value).value_or(0) : 0;
    if (size >= 1 && size <= kMaxGang) return {*value, ""};
  }
  return {};
}

bool IsAnyGated(const MutationContext& context, const PodGroupView& group, const Edits& edits) {
  return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    return IsGated(context, edits, context.view.templates[index]);
  });
}

// Under a scaling rule the replicas of a Deployment start one by one. Without a gang size the
// scheduler's plugin waits for all live ones, those behind the gate included (mind-cluster:
// component/ascend-for-volcano/plugin/job.go and npu.go, jobReady).
void InjectOne(const MutationContext& context, const PodGroupView& group, Edits& edits) {
  for (size_t index : group.templates) {
    const PodTemplateView& pod = context.view.templates[index];
    if (!IsInjected(context, pod) || !IsScheduledByVolcano(context, pod) ||
        !MayEdit(context, pod) || pod.annotations.Find(schemas::kMinAvailable) != nullptr) {
      continue;
    }
    edits.Set(pod.annotations, schemas::kMinAvailable, "1",
              "the watcher starts its pods one by one, and without a gang size the scheduler would "
              "wait for all of them");
  }
}

void Inject(const MutationContext& context, const PodGroupView& group, GangSize size,
            std::string_view reason, Edits& edits) {
  const bool gated = IsAnyGated(context, group, edits);
  if (gated && group.facts().of_deployment) return InjectOne(context, group, edits);
  const Frozen frozen = FrozenSize(context, group);
  if (size.why_not.empty() && !group.facts().one_instance && gated) {
    size.why_not =
        "its instances are started one by one, so a gang of all of them would wait forever";
  }
  if (size.why_not.empty() && (size.pods < 1 || size.pods > kMaxGang)) {
    size.why_not = "the number of pods is out of range";
  }
  if (!frozen.value.empty() || !frozen.why_not.empty()) size.why_not = frozen.why_not;
  const std::string_view value =
      frozen.value.empty() ? edits.arena().Text(std::to_string(size.pods)) : frozen.value;
  for (size_t index : group.templates) {
    const PodTemplateView& pod = context.view.templates[index];
    if (!IsInjected(context, pod) || !IsScheduledByVolcano(context, pod)) continue;
    if (pod.annotations.Find(schemas::kMinAvailable) != nullptr) continue;
    // The service's own metadata reaches all its components.
    if (context.view.UsesRuntime() && context.view.Annotation(schemas::kMinAvailable)) {
      continue;
    }
    if (!size.why_not.empty()) {
      edits.Withhold(pod.annotations, schemas::kMinAvailable, size.why_not);
    } else if (MayEdit(context, pod)) {
      edits.Set(pod.annotations, schemas::kMinAvailable, value, reason);
    }
  }
}

}  // namespace

void MinAvailable(const MutationContext& context, Edits& edits) {
  const WorkloadView& view = context.view;
  const bool service = view.UsesRuntime();
  const bool aibrix = schemas::kAibrixKinds.Has(view.kind);
  for (const PodGroupView& group : view.pod_groups) {
    if (group.templates.empty()) continue;
    if (!service && !aibrix) {
      if (group.facts().of_deployment && IsAnyGated(context, group, edits)) {
        InjectOne(context, group, edits);
      }
      continue;
    }
    const PodTemplateView& first = view.templates[group.templates.front()];
    if (service) {
      if (!group.facts().of_deployment || first.router) continue;
      Inject(context, group, OfOmeComponent(context, first),
             "the scheduler places the component's replicas together, and ClusterD counts the job "
             "by it",
             edits);
    } else if (group.facts().one_instance) {
      Inject(context, group, OfRoles(context, group),
             "the pods of one PodSet start and move together", edits);
    } else {
      Inject(context, group, OfRoles(context, group),
             "all roles with podGroupSize 1 share one PodGroup: this is the sum of their replicas",
             edits);
    }
  }
}

}  // namespace mindgate::mutators
