#include "admission/mutators/mutator.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "admission/mutators/families.h"
#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/placement.h"

namespace mindgate::mutators {
namespace {

using json::Value;
using schemas::Operation;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr Mutator kMutators[] = {
    {.name = "mindie-labels",
     .summary = "copies the scaling labels of a job or workload, and jobID and app of an "
                "AscendJob, to its pods",
     .writes = "The labels jobID, mind-cluster/scaling-rule and mind-cluster/group-name, and of "
               "AscendJobs app as well, with the values that the job or workload carries itself. "
               "ClusterD and the watcher find pods by the pods' own labels.",
     .where = "metadata.labels of every pod template of an AscendJob of MindIE Motor or under a "
              "scaling rule, and of the pod template of another workload under a scaling rule that "
              "has only one.",
     .withheld = "Where the template has the label already, and in workloads of several templates, "
                 "as one may be a router that no rule counts.",
     .run = MindieLabels},
    {.name = "runtime-labels",
     .summary =
         "copies fault labels and sp-block from a runtime's metadata to its engine and decoder",
     .writes = "The labels fault-scheduling, pod-rescheduling and fault-retry-times and the "
               "annotation sp-block, with the values on the runtime's own metadata. OME hands that "
               "metadata to no pod. sp-block is copied only where it divides an instance on "
               "super-pod servers: elsewhere it would make the scheduler refuse the pods.",
     .where = "labels and annotations of the engine and the decoder of a ServingRuntime or "
              "ClusterServingRuntime.",
     .withheld = "Where the component has the label already, where the value is one that the "
                 "scheduler does not understand, and in routers. sp-block also where neither "
                 "schedule_policy nor accelerator-type selects super pods.",
     .run = RuntimeLabels},
    {.name = "scheduler-name",
     .summary = "hands pods that request NPUs to Volcano",
     .writes = "schedulerName: volcano, or the name that `scheduler` in mindgate.yaml gives. "
               "Without it the default scheduler places the pods, and neither gangs, chip topology "
               "nor fault rescheduling apply.",
     .where = "The pod spec of each template that requests NPUs. AscendJobs and Volcano Jobs name "
              "their scheduler once, in the spec of the job; replica specs follow where "
              "ascend-operator would leave them to the default scheduler.",
     .withheld = "Where a scheduler is named already, and in an OME component that has no pod spec "
                 "of its own: there the runtime names the scheduler.",
     .run = SchedulerName},
    {.name = "npu-requests",
     .summary = "writes requests of NPUs that only limits name",
     .writes = "The amount under limits, under requests too. Kubernetes does so for Pods alone, "
               "and controllers count the requests of the template: without them the PodGroup of a "
               "Volcano Job asks for no NPUs, and ascend-operator sees a job without NPUs. When an "
               "update changes or removes a limit and leaves the request as it was, equal to the "
               "old limit, the request follows: a client that merges a manifest with limits alone "
               "does not know of it.",
     .where = "resources of each container of every pod template that names an NPU under limits "
              "alone, virtual NPUs included.",
     .withheld = "Where requests names the NPU, whatever the amount, but for one that an update "
                 "leaves behind, and in Pods, for which the API server does it.",
     .run = NpuRequests},
    {.name = "visible-devices",
     .summary = "adds ASCEND_VISIBLE_DEVICES to containers that request NPUs",
     .writes = "The variable ASCEND_VISIBLE_DEVICES, with a reference to the annotation of the pod "
               "in which the scheduler writes the chips (huawei.com/Ascend910 for that resource). "
               "Ascend Docker Runtime mounts what it names; without it the container sees no chip. "
               "When an update asks for other NPUs and leaves such a variable as it was, the "
               "variable follows, or goes where it must be absent.",
     .where = "env of each container that requests whole NPUs.",
     .withheld = "Where the container or its runtime sets the variable, where it requests virtual "
                 "NPUs or two NPU products, where chips are shared softly, and where another "
                 "scheduler than Volcano places the pods: only Volcano writes the annotation.",
     .run = VisibleDevices},
    {.name = "fault-scheduling",
     .summary = "switches fault rescheduling on, with one value for a whole PodGroup",
     .writes = "The label fault-scheduling: force, or what `faultScheduling` of the framework's "
               "profile in mindgate.yaml says. A value that the rest of the PodGroup, the runtime "
               "or the object before an update has comes first, as values that differ switch the "
               "feature off. So does one that stands where nothing reads it (in metadata that "
               "reaches no pod, as an annotation, under a misspelled key). AscendJobs with the "
               "annotation recover-strategy get grace instead of force.",
     .where = "metadata.labels of each pod template that requests NPUs. Of AscendJobs and Volcano "
              "Jobs it is the metadata of the job, which the PodGroup copies.",
     .withheld = "Where the label stands already, where the PodGroup carries different values, one "
                 "that is not a string or one that the scheduler does not know, where another "
                 "scheduler than Volcano places the pods, and in pods without a controller.",
     .run = FaultScheduling},
    {.name = "pod-rescheduling",
     .summary = "limits rescheduling to the faulty pod where pods are independent",
     .writes = "The label pod-rescheduling, with what `podRescheduling` of the framework's profile "
               "in mindgate.yaml says: an empty value there writes nothing. Without the label one "
               "faulty pod takes all pods of its PodGroup down.",
     .where = "metadata.labels of the pod templates of Deployments, StatefulSets, Jobs, "
              "LeaderWorkerSets and pods of a controller that mindgate does not know, of engine "
              "and decoder of OME, and of AIBrix roles whose pods share one PodGroup.",
     .withheld =
         "Where the label stands already or the PodGroup carries different values, where "
         "fault-scheduling is off, where another scheduler than Volcano places the pods, and in "
         "routers. Also where the pods share a rank table (the label deploy-name, a volume of "
         "rings-config-* or a rank table), as the others would wait for the one that moved, and on "
         "Deployments, StatefulSets, Jobs and owned pods that carry fault-scheduling without it.",
     .run = PodRescheduling},
    {.name = "fault-retry-times",
     .summary = "sets the retry budget for software faults",
     .writes = "The label fault-retry-times, with what `faultRetryTimes` of the framework's "
               "profile in mindgate.yaml says: an empty value there writes nothing. Without the "
               "label a pod that fails by itself is never rescheduled.",
     .where = "metadata.labels of each pod template that requests NPUs. Of AscendJobs and Volcano "
              "Jobs it is the metadata of the job, which the PodGroup copies.",
     .withheld =
         "Where the label stands already or the PodGroup carries different values, where "
         "fault-scheduling is off, where another scheduler than Volcano places the pods, and in "
         "pods without a controller. No default where containers restart in place, as in OME "
         "components in Deployment mode: a pod in which one did counts as failed forever.",
     .run = FaultRetryTimes},
    {.name = "min-available",
     .summary = "sets the gang size that the NPU plugin reads",
     .writes = "The annotation huawei.com/schedule_minAvailable: minReplicas of an OME component, "
               "or the number of pods of the AIBrix roles that share a PodGroup. A size that the "
               "group carries or carried before an update is kept, as a gang size that follows "
               "every scaling step would restart all pods.",
     .where = "annotations of engine and decoder of an InferenceService, and of the roles of "
              "StormServices, RoleSets and PodSets.",
     .withheld = "For minReplicas 0, an external autoscaler, another shape than a Deployment, a "
                 "schedulingStrategy of AIBrix, sizes out of range, instances that a scaling rule "
                 "lets in one by one, a PodGroup that carries different values, a size that the "
                 "runtime sets, and, with "
                 "gangRepair: off, where a rolling update could not proceed with it.",
     .run = MinAvailable},
    {.name = "recover-policy",
     .summary = "keeps recovery at pod level where pod-rescheduling is injected",
     .writes = "The annotation huawei.com/recover_policy_path: pod. Without it a second fault "
               "deletes the whole PodGroup.",
     .where = "annotations of the pod templates that get pod-rescheduling: \"on\" from mindgate, "
              "but for OME, where the scheduler assumes it.",
     .withheld =
         "Where the annotation stands already, and beside a pod-rescheduling of the user's.",
     .run = RecoverPolicy},
    {.name = "restart-policy",
     .summary = "sets restartPolicy Never on AIBrix roles that count retries",
     .writes = "restartPolicy: Never. Retries count failed pods, and a container that restarts in "
               "place never fails its pod.",
     .where = "The pod spec of AIBrix roles that request NPUs and carry fault-retry-times above 0.",
     .withheld =
         "Where a restartPolicy is written, where no retries are counted, where fault-scheduling "
         "is off, and where another scheduler than Volcano places the pods.",
     .run = RestartPolicy},
    {.name = "scaling-gate",
     .summary = "holds pods under a scaling rule until the watcher lets their instance start",
     .writes = "The scheduling gate mindgate.io/elastic-scaling, which the watcher removes when "
               "the scaling rule lets the instance start.",
     .where = "spec.schedulingGates of pods with the label mind-cluster/scaling-rule, when they "
              "are created and elasticScaling.mode is enforce.",
     .withheld = "Where the gate stands already, where the pod lacks the label jobID or "
                 "mind-cluster/group-name, and where spec.nodeName is set: the API server takes no "
                 "gates then.",
     .run = ScalingGate,
     .of_children = true},
};

// Why an update gets nothing that the stored object lacks.
std::string WhyPutBack(const MutationContext& context) {
  const auto& info = context.view.info();
  if (!info.template_frozen) {
    return "it was stored without what would be injected, and with it a rule would deny the update";
  }
  return "the pod template of a " + std::string(info.name) + " cannot change after creation";
}

// Why nothing may be written to this object at all; empty when it may.
std::string SkipReason(const MutationContext& context) {
  const WorkloadView& view = context.view;
  const auto& request = context.request;
  if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
    return "only CREATE and UPDATE are changed";
  }
  if (view.being_deleted) return "the object is being deleted";
  if (view.excess) {
    return "it has more than " + std::to_string(view.excess->max) + " " +
           std::string(view.excess->what);
  }
  // Its controller compares the template with its own. Where they differ, it makes another one.
  if (view.kind == schemas::Kind::kReplicaSet && view.controller) {
    return "owned by " + std::string(view.controller->kind) + " " +
           std::string(view.controller->name) + ", which compares the template with its own";
  }
  if (PutsBack(context) && context.old_view == nullptr) return WhyPutBack(context);
  return "";
}

// Members of an OME component that only scale it; a change of them alone starts no rollout by
// itself.
bool OnlyScales(std::string_view key) {
  return key == "minReplicas" || key == "maxReplicas" || key == "scaleTarget" ||
         key == "scaleMetric";
}

bool SameButForScale(const Value& a, const Value& b) {
  if (!a.is_object() || !b.is_object()) return a == b;
  const auto covers = [](const Value& one, const Value& other) {
    return std::all_of(one.members().begin(), one.members().end(), [&](const json::Member& member) {
      const Value* same = other.Lookup(member.key);
      return OnlyScales(member.key) || (same != nullptr && *same == member.value);
    });
  };
  const auto lasting = [](const Value& value) {
    return std::count_if(value.members().begin(), value.members().end(),
                         [](const json::Member& member) { return !OnlyScales(member.key); });
  };
  return lasting(a) == lasting(b) && covers(a, b);
}

// What must stay untouched as a whole: an OME leader shares its component's labels, so there it is
// the component.
std::string_view UnitOfChange(const WorkloadView& view, const PodTemplateView& pod) {
  const std::string_view path = pod.path;
  if (!schemas::kOmeKinds.Has(view.kind)) return path;
  return path.substr(0, path.find('/', std::string_view("/spec/").size()));
}

}  // namespace

// The templates of the view before an update, and whether the update touched them: found and
// compared once, though every mutator asks.
class TemplateHistory {
 public:
  struct Entry {
    const PodTemplateView* old = nullptr;
    bool may_edit = false;
  };

  explicit TemplateHistory(const MutationContext& context) : view_(context.view) {
    std::unordered_map<std::string_view, const PodTemplateView*> by_name;
    if (context.old_view != nullptr) {
      for (const PodTemplateView& old : context.old_view->templates) {
        by_name.try_emplace(old.name, &old);
      }
    }
    entries_.reserve(view_.templates.size());
    for (const PodTemplateView& pod : view_.templates) {
      Entry& entry = entries_.emplace_back();
      if (const auto named = by_name.find(pod.name); named != by_name.end()) {
        const PodTemplateView* same = context.old_view->TemplateOf(pod.part);
        entry.old = same != nullptr && same->name == pod.name ? same : named->second;
      }
      entry.may_edit = MayBeEdited(context, pod, entry.old);
    }
  }

  const Entry& Of(const PodTemplateView& pod) const {
    return entries_[static_cast<size_t>(&pod - view_.templates.data())];
  }

 private:
  static bool MayBeEdited(const MutationContext& context, const PodTemplateView& pod,
                          const PodTemplateView* old) {
    if (pod.pod_spec.value == nullptr) return false;
    if (context.request.operation == Operation::kCreate || old == nullptr) return true;
    const Value* now = json::Resolve(*context.view.object, UnitOfChange(context.view, pod));
    const Value* before =
        json::Resolve(*context.old_view->object, UnitOfChange(*context.old_view, *old));
    if (now == nullptr || before == nullptr) return now != before;
    return !SameButForScale(*now, *before);
  }

  const WorkloadView& view_;
  std::vector<Entry> entries_;
};

std::span<const Mutator> Mutators() { return kMutators; }

Edits Mutate(const MutationContext& asked) {
  Edits edits(*asked.view.object, asked.explain);
  const TemplateHistory history(asked);
  MutationContext context = asked;
  context.history = &history;
  const bool put_back = PutsBack(context);
  const std::string skipped = SkipReason(context);
  const std::string opted_out(
      skipped.empty() ? schemas::WhyInjectionIsDeclined(context.view, context.request,
                                                        context.config, context.opted_in)
                      : "");
  edits.Begin("all");
  if (!skipped.empty() || (!opted_out.empty() && !put_back)) {
    edits.Withhold("", skipped + opted_out);
    return edits;
  }
  const WorkloadView& view = context.view;
  if (put_back) {
    edits.Withhold("", WhyPutBack(context) + ": only what was injected before is put back");
    context.opted_in |= context.old_view->Label(schemas::kInject) == "enabled";
  }
  if (view.controller_injected) {
    edits.Withhold("", "owned by " + std::string(view.controller->kind) + " " +
                           std::string(view.controller->name) + ", which is injected itself");
  }
  for (const Mutator& mutator : kMutators) {
    const bool off = !opted_out.empty() || context.config.disabled_mutators.contains(mutator.name);
    if (put_back) edits.PutBackFrom(*context.old_view->object, !off);
    if (off && !put_back) continue;
    if (view.controller_injected && !mutator.of_children) continue;
    if (context.request.is_over && context.request.is_over()) {
      edits.GiveUp();
      break;
    }
    edits.Begin(mutator.name);
    mutator.run(context, edits);
  }
  return edits;
}

bool PutsBack(const MutationContext& context) {
  return context.request.operation == Operation::kUpdate &&
         (context.view.info().template_frozen || context.put_back_only);
}

bool IsInjected(const MutationContext& context, const PodTemplateView& pod) {
  if (pod.foreign != nullptr) return false;
  if (pod.RequestsNpus() || (context.opted_in && !pod.router)) return true;
  if (!pod.pod_group) return false;
  // Leader and workers are one gang: a leader that only coordinates is scheduled with its workers.
  const auto& group = context.view.pod_groups[*pod.pod_group];
  return group.facts().leader_and_workers &&
         std::any_of(group.templates.begin(), group.templates.end(),
                     [&](size_t index) { return context.view.templates[index].RequestsNpus(); });
}

const PodTemplateView* OldTemplate(const MutationContext& context, const PodTemplateView& pod) {
  return context.history->Of(pod).old;
}

bool MayEdit(const MutationContext& context, const PodTemplateView& pod) {
  return context.history->Of(pod).may_edit;
}

bool MayEditJob(const MutationContext& context) {
  const auto& templates = context.view.templates;
  return std::any_of(templates.begin(), templates.end(),
                     [&](const PodTemplateView& pod) { return MayEdit(context, pod); });
}

bool HasJobScheduler(const WorkloadView& view) {
  const schemas::SiteKind* const site = view.info().site;
  return schemas::kAscendJobs.Has(view.kind) || schemas::kVolcanoJobs.Has(view.kind) ||
         (site != nullptr && site->names_scheduler);
}

bool IsScheduledByVolcano(const MutationContext& context, const PodTemplateView& pod) {
  // What is put back is as it was stored, whoever opted out since.
  const PodTemplateView* old = PutsBack(context) ? OldTemplate(context, pod) : nullptr;
  if (old != nullptr) {
    return schemas::IsPlacedByVolcano(*context.old_view, *old, context.request, context.config);
  }
  return schemas::IsPlacedByVolcano(context.view, pod, context.request, context.config);
}

}  // namespace mindgate::mutators
