#include "mutators/mutator.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "mutators/families.h"
#include "schemas/names.h"

namespace mindgate::mutators {
namespace {

using json::Json;
using schemas::Kind;
using schemas::Operation;
using schemas::PodGroupOwner;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::array<Mutator, 11> kMutators = {{
    {"mindie-labels",
     "copies the scaling labels of a job or workload, of an AscendJob also jobID and app, to its "
     "pods",
     MindieLabels},
    {"runtime-labels",
     "copies fault labels and sp-block from a runtime's metadata to its engine and decoder",
     RuntimeLabels},
    {"scheduler-name", "hands pods that request NPUs to Volcano", SchedulerName},
    {"visible-devices", "adds ASCEND_VISIBLE_DEVICES to containers that request NPUs",
     VisibleDevices},
    {"fault-scheduling", "switches fault rescheduling on, with one value for a whole PodGroup",
     FaultScheduling},
    {"pod-rescheduling", "limits rescheduling to the faulty pod where pods are independent",
     PodRescheduling},
    {"fault-retry-times", "sets the retry budget for software faults", FaultRetryTimes},
    {"min-available", "sets the gang size that the NPU plugin reads", MinAvailable},
    {"recover-policy", "keeps recovery at pod level beside pod-rescheduling", RecoverPolicy},
    {"restart-policy", "sets restartPolicy Never on AIBrix roles that count retries",
     RestartPolicy},
    {"scaling-gate", "holds pods under a scaling rule until the watcher lets their instance start",
     ScalingGate, true},
}};

// Why nothing may be written to this object at all; empty when it may.
std::string Untouchable(const MutationContext& context) {
  const WorkloadView& view = context.view;
  const auto& request = context.request;
  if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
    return "only CREATE and UPDATE are changed";
  }
  if (view.being_deleted) return "the object is being deleted";
  if (view.Label(schemas::kInject) == "disabled") return "labelled mindgate.io/inject: disabled";
  const auto label = request.namespace_labels.find(schemas::kInject);
  if (label != request.namespace_labels.end() && label->second == "disabled" && !context.opted_in) {
    return "its namespace is labelled mindgate.io/inject: disabled";
  }
  const auto* override_ =
      context.config.OverrideFor(view.ns.empty() ? std::string_view(request.ns) : view.ns);
  if (override_ != nullptr && !override_->inject && !context.opted_in) {
    return "injection is disabled for its namespace in mindgate.yaml";
  }
  if (request.operation == Operation::kUpdate && view.info().template_frozen) {
    return "the pod template of a " + std::string(view.info().name) +
           " cannot change after creation";
  }
  return "";
}

// Members of an OME component that only scale it; a change of them alone starts no rollout by
// itself.
bool SameButForScale(const Json& a, const Json& b) {
  constexpr std::array<std::string_view, 4> kScale = {"minReplicas", "maxReplicas", "scaleTarget",
                                                      "scaleMetric"};
  const auto without_scale = [&](Json value) {
    for (std::string_view key : kScale) value.erase(std::string(key));
    return value;
  };
  if (!a.is_object() || !b.is_object()) return a == b;
  return without_scale(a) == without_scale(b);
}

// What must stay untouched as a whole: an OME leader shares its component's labels, so there it is
// the component.
std::string_view UnitOfChange(const WorkloadView& view, const PodTemplateView& pod) {
  const std::string_view path = pod.path;
  if (!schemas::kOmeKinds.Has(view.kind)) return path;
  return path.substr(0, path.find('/', std::string_view("/spec/").size()));
}

bool IsVolcano(const MutationContext& context, std::string_view scheduler) {
  return schemas::IsDefaultScheduler(context.view.info(), scheduler) ||
         scheduler == schemas::kVolcanoScheduler || scheduler == context.config.scheduler;
}

}  // namespace

std::span<const Mutator> Mutators() { return kMutators; }

Edits Mutate(const MutationContext& context) {
  Edits edits(*context.view.object);
  if (const std::string why = Untouchable(context); !why.empty()) {
    edits.Begin("all");
    edits.Withhold("", why);
    return edits;
  }
  const WorkloadView& view = context.view;
  if (view.controller_injected) {
    edits.Begin("all");
    edits.Withhold("", "owned by " + std::string(view.controller->kind) + " " +
                           std::string(view.controller->name) + ", which is injected itself");
  }
  for (const Mutator& mutator : kMutators) {
    if (context.config.disabled_mutators.contains(mutator.name)) continue;
    if (view.controller_injected && !mutator.of_children) continue;
    edits.Begin(mutator.name);
    mutator.run(context, edits);
  }
  return edits;
}

bool IsInjected(const MutationContext& context, const PodTemplateView& pod) {
  if (pod.RequestsNpus() || (context.opted_in && !pod.router)) return true;
  if (!pod.pod_group) return false;
  // Leader and workers are one gang: a leader that only coordinates is scheduled with its workers.
  const auto& group = context.view.pod_groups[*pod.pod_group];
  return group.owner == PodGroupOwner::kLeaderWorkerSetGroup &&
         std::any_of(group.templates.begin(), group.templates.end(),
                     [&](size_t index) { return context.view.templates[index].RequestsNpus(); });
}

const PodTemplateView* OldTemplate(const MutationContext& context, const PodTemplateView& pod) {
  if (context.old_view == nullptr) return nullptr;
  const PodTemplateView* found = nullptr;
  for (const PodTemplateView& old : context.old_view->templates) {
    if (old.name != pod.name) continue;
    if (old.path == pod.path) return &old;
    if (found == nullptr) found = &old;
  }
  return found;
}

bool MayEdit(const MutationContext& context, const PodTemplateView& pod) {
  if (pod.pod_spec.value == nullptr) return false;
  if (context.request.operation == Operation::kCreate) return true;
  const PodTemplateView* old = OldTemplate(context, pod);
  if (old == nullptr) return true;
  const Json* now = json::Resolve(*context.view.object, UnitOfChange(context.view, pod));
  const Json* before =
      json::Resolve(*context.old_view->object, UnitOfChange(*context.old_view, *old));
  if (now == nullptr || before == nullptr) return now != before;
  return !SameButForScale(*now, *before);
}

bool MayEditJob(const MutationContext& context) {
  const auto& templates = context.view.templates;
  return std::any_of(templates.begin(), templates.end(),
                     [&](const PodTemplateView& pod) { return MayEdit(context, pod); });
}

schemas::Place JobSpec(const WorkloadView& view) {
  schemas::Place place;
  if (view.kind == Kind::kVolcanoCronJob) {
    place.path = "/spec/jobTemplate/spec";
    place.value = json::FindPath(*view.object, {"spec", "jobTemplate", "spec"});
  } else {
    place.path = "/spec";
    place.value = json::Find(*view.object, "spec");
  }
  place.wrong_type = place.value != nullptr && !place.value->is_object();
  return place;
}

bool HasJobScheduler(const WorkloadView& view) {
  return view.kind == Kind::kAscendJob || schemas::kVolcanoJobs.Has(view.kind);
}

bool IsScheduledByVolcano(const MutationContext& context, const PodTemplateView& pod) {
  std::string_view scheduler = pod.SchedulerName();
  if (scheduler.empty() && HasJobScheduler(context.view)) {
    scheduler = json::FindString(JobSpec(context.view).value, "schedulerName").value_or("");
  }
  return IsVolcano(context, scheduler);
}

}  // namespace mindgate::mutators
