#include <algorithm>
#include <string>

#include "base/text.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

// Groups of a leader and its workers (lws: pkg/controllers, pkg/schedulerprovider).

namespace mindgate::policies::lws {
namespace {

using json::Value;
using schemas::PodTemplateView;

void CheckGroupScheduler(const RuleContext& context, Findings& findings) {
  // Earlier versions make no PodGroups.
  if (context.config.versions.IsBefore(schemas::Component::kLeaderWorkerSet, {0, 7})) return;
  const auto& templates = context.view.templates;
  const auto by_volcano = [&](const PodTemplateView& pod) {
    return IsPlacedByVolcano(context, pod);
  };
  for (const schemas::PodGroupView& group : context.view.pod_groups) {
    if (!group.facts().leader_and_workers) continue;
    const auto volcano = [&](size_t index) {
      const PodTemplateView& pod = templates[index];
      return pod.RequestsNpus() && !pod.SchedulerName().empty() && by_volcano(pod);
    };
    if (std::none_of(group.templates.begin(), group.templates.end(), volcano)) continue;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = templates[index];
      if (!pod.has_pod_spec && pod.runtime == nullptr) {
        findings.Skip("needs the runtime, not known here");
        continue;
      }
      const std::string_view scheduler = pod.SchedulerName();
      // Pods with NPUs under another scheduler are what scheduler-not-volcano reports.
      const bool reported = pod.RequestsNpus() && !by_volcano(pod);
      if (reported || (!scheduler.empty() && by_volcano(pod))) continue;
      findings.Violate(pod.pod_spec.path.Child("schedulerName"),
                       "scheduler " +
                           Quote(scheduler.empty() ? schemas::kDefaultScheduler : scheduler) +
                           " places the " + std::string(pod.name) +
                           ", but Volcano places the rest of its gang, which waits for pods that "
                           "Volcano does not see",
                       "write schedulerName: " + context.config.scheduler);
    }
  }
}

void CheckRestartPolicy(const RuleContext& context, Findings& findings) {
  const Value* group = json::FindPath(*context.view.object, {"spec", "leaderWorkerTemplate"});
  const auto policy = json::FindString(group, "restartPolicy");
  // LWS reads Default, the old name, as None.
  if (policy != "None" && policy != "Default") return;
  const Value* size = json::Find(group, "size");
  if (!context.view.RequestsNpus() || size == nullptr || json::AsInt(size).value_or(1) <= 1) return;
  if (context.view.pod_groups.empty()) return;
  bool on = false;
  for (const schemas::LabelOccurrence& label :
       context.view.GroupLabels(context.view.pod_groups.front(), schemas::kFaultScheduling)) {
    const auto value = json::AsString(label.value);
    on = on || (value && *value != "off");
  }
  if (!on) return;
  findings.Violate("/spec/leaderWorkerTemplate/restartPolicy",
                   "restartPolicy " + std::string(*policy) +
                       " keeps the rest of a group running when one of its pods is replaced after "
                       "a fault, and the new pod cannot join it",
                   "write restartPolicy: RecreateGroupOnPodRestart, or leave it out");
}

// Under gang scheduling the LeaderWorkerSet controller makes the PodGroups, else Volcano's.
void CheckQueue(const RuleContext& context, Findings& findings) {
  if (context.config.versions.IsBefore(schemas::Component::kLeaderWorkerSet, {0, 7})) return;
  constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
  const auto own = context.view.Annotation(kQueueName);
  for (const PodTemplateView& pod : context.view.templates) {
    const auto queue = pod.annotations.Text(kQueueName);
    if (!queue || queue->empty() || queue == own || !pod.RequestsNpus()) continue;
    findings.Violate(context.view.annotations.path.Child(kQueueName),
                     "the pods of the " + std::string(pod.name) + " name queue " + Quote(*queue) +
                         ", but under gang scheduling the queue is that of the LeaderWorkerSet, " +
                         (own ? Quote(*own) : "here the default one with its quota"),
                     "write " + std::string(kQueueName) + ": " + Quote(*queue));
    return;
  }
}

constexpr Rule kGroupRules[] = {
    {.id = "MG136",
     .name = "group-scheduler",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeKinds | schemas::kLeaderWorkerSets,
     .summary = "Leader and workers of one group are placed by the same scheduler.",
     .why = "With gang scheduling the LeaderWorkerSet controller puts leader and workers into one "
            "PodGroup whatever their scheduler. Volcano counts only its own pods, so the group "
            "never reaches its size and none of its pods starts.",
     .fix = "Write schedulerName: volcano in the leader and in the worker template.",
     .source = "lws: pkg/schedulerprovider/volcano_provider.go. Gang scheduling is a setting of "
               "the controller that the object does not show, hence a warning",
     .check = CheckGroupScheduler},
    {.id = "MG137",
     .name = "lws-restart-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kLeaderWorkerSets,
     .summary = "A group of several NPU pods with fault rescheduling is recreated as a whole.",
     .why = "The pods of a group form one distributed engine. With restartPolicy None only the "
            "failed pod comes back, and the others hang in a collective operation with a rank that "
            "is gone. RecreateGroupOnPodRestart, the default, replaces all of them.",
     .fix = "Leave restartPolicy out or write RecreateGroupOnPodRestart.",
     .source = "lws: pkg/controllers/pod_controller.go; mind-cluster: "
               "docs/en/scheduling/usage/sglang_best_practice. An engine that rejoins by itself "
               "works, hence a warning",
     .check = CheckRestartPolicy},
    {.id = "MG194",
     .name = "lws-queue",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kLeaderWorkerSets,
     .summary = "The queue of a LeaderWorkerSet is also among its own annotations.",
     .why = "With gang scheduling the LeaderWorkerSet controller makes the PodGroups and takes "
            "their queue from the LeaderWorkerSet alone. A queue on the pod templates then counts "
            "for nothing: the groups run in the default queue, outside of the quota that they were "
            "meant for. Without gang scheduling Volcano reads it on the pods.",
     .fix = "Write scheduling.volcano.sh/queue-name in metadata.annotations, too.",
     .source = "lws: pkg/schedulerprovider/volcano_provider.go (CreatePodGroupIfNotExists); "
               "volcano: pkg/controllers/podgroup/pg_controller_handler.go. Gang scheduling is a "
               "setting of the controller that the object does not show, hence a warning",
     .check = CheckQueue},
};

}  // namespace

Family GroupRules() { return kGroupRules; }

}  // namespace mindgate::policies::lws
