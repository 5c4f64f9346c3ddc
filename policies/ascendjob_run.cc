#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/ascendjob_checks.h"
#include "policies/references.h"
#include "schemas/names.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Child;
using json::Value;
using schemas::PodTemplateView;

constexpr std::string_view kAllWorkers = "AllWorkers";
constexpr std::string_view kDefaultQueue = "default";  // Volcano creates it when it starts

constexpr std::array<std::string_view, 4> kRestartPolicies = {"Always", "OnFailure", "Never",
                                                              "ExitCode"};

// What the operator writes into the pods of a replica type; nothing when the field is not a string.
std::optional<std::string_view> EffectiveRestartPolicy(const Value* replica_spec) {
  const Value* own = json::Find(replica_spec, "restartPolicy");
  if (own == nullptr) return "Never";
  const auto value = json::AsString(own);
  if (value == "" || value == "ExitCode") return "Never";
  return value;
}

}  // namespace

void CheckSuccessPolicy(const RuleContext& context, Findings& findings) {
  const auto policy =
      json::AsString(json::FindPath(*context.view.object, {"spec", "successPolicy"}));
  if (!policy || *policy == "" || *policy == kAllWorkers) return;
  findings.Violate(
      "/spec/successPolicy",
      "successPolicy " + Quote(*policy) +
          " is neither \"\" nor \"AllWorkers\", so the operator fails the job permanently",
      "remove successPolicy, or write AllWorkers");
}

void CheckSuccessPolicyEffect(const RuleContext& context, Findings& findings) {
  const auto policy =
      json::AsString(json::FindPath(*context.view.object, {"spec", "successPolicy"}));
  if (policy != kAllWorkers) return;
  findings.Violate(
      "/spec/successPolicy",
      "successPolicy AllWorkers has no effect: the operator checks the value but never uses it",
      "remove successPolicy; it changes nothing");
}

void CheckScaleOutType(const RuleContext& context, Findings& findings) {
  const auto label = context.view.Label(schemas::kScaleOutType);
  if (!label) return;
  const std::string_view value = Trim(*label);
  if (value.empty() || EqualIgnoreCase(value, "ROCE") || EqualIgnoreCase(value, "UBOE")) return;
  findings.Violate(
      context.view.labels.path.Child(schemas::kScaleOutType),
      "scaleout-type " + Quote(*label) +
          " is neither \"ROCE\" nor \"UBOE\", so the operator fails the job without an Event",
      "write scaleout-type: ROCE (or UBOE)");
}

void CheckQueueSet(const RuleContext& context, Findings& findings) {
  const Value* scheduling = SchedulingPolicy(context.view);
  if (!json::IsObject(scheduling)) return;
  const Value* queue = json::Find(*scheduling, "queue");
  if (queue != nullptr && json::AsString(queue) != "") return;
  findings.Violate(
      Child(kSchedulingPath, "queue"),
      "schedulingPolicy has no queue, so the operator looks for a queue without a name "
      "and fails the job",
      "write queue: default");
}

void CheckQueueExists(const RuleContext& context, Findings& findings) {
  const auto queue = json::FindString(SchedulingPolicy(context.view), "queue").value_or("");
  if (queue.empty() || queue == kDefaultQueue) return;
  const Reference found = LookUp(context, findings, "scheduling.volcano.sh", "Queue", "", queue);
  if (!found.IsAbsent()) return;
  findings.Violate(
      Child(kSchedulingPath, "queue"),
      "Queue " + Quote(queue) +
          " does not exist; unless it is created first, the operator fails the job permanently",
      "create the Queue first, or write queue: default");
}

void CheckMinAvailable(const RuleContext& context, Findings& findings) {
  const auto wanted = json::AsInt(json::Find(SchedulingPolicy(context.view), "minAvailable"));
  const auto total = TotalReplicas(context.view);
  if (!wanted || !total) return;
  const std::string path = Child(kSchedulingPath, "minAvailable");
  const std::string fix =
      "write minAvailable: " + std::to_string(*total) + ", the sum of all replicas";
  if (*wanted < 0) {
    findings.Violate(path,
                     "minAvailable is " + std::to_string(*wanted) +
                         ", which no PodGroup accepts, so the job gets no pods",
                     fix);
  } else if (*wanted > *total) {
    findings.Violate(path,
                     "minAvailable is " + std::to_string(*wanted) + ", more than the job's " +
                         std::to_string(*total) + " pods, so the gang never fills and none starts",
                     fix);
  }
}

void CheckGang(const RuleContext& context, Findings& findings) {
  const auto wanted = json::AsInt(json::Find(SchedulingPolicy(context.view), "minAvailable"));
  if (wanted != 0) return;
  const auto total = TotalReplicas(context.view);
  findings.Violate(
      Child(kSchedulingPath, "minAvailable"),
      "minAvailable is 0, so the pods are not a gang and each starts on its own",
      total ? "write minAvailable: " + std::to_string(*total) + ", the sum of all replicas"
            : "write the sum of all replicas");
}

void CheckBackoffLimit(const RuleContext& context, Findings& findings) {
  const auto limit =
      json::AsInt(json::FindPath(*context.view.object, {"spec", "runPolicy", "backoffLimit"}));
  if (!limit || *limit > 0) return;
  findings.Violate("/spec/runPolicy/backoffLimit",
                   "backoffLimit " + std::to_string(*limit) +
                       " means unlimited, not zero: failed pods are recreated forever",
                   "write how often failed pods may be recreated, such as 3, or remove it");
}

void CheckRestartPolicy(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    const auto policy = json::FindString(ReplicaSpecOf(context.view, pod), "restartPolicy");
    if (!policy || *policy == "" ||
        std::find(kRestartPolicies.begin(), kRestartPolicies.end(), *policy) !=
            kRestartPolicies.end()) {
      continue;
    }
    const auto near = NearestOf(*policy, kRestartPolicies);
    findings.Violate(Child(ReplicaSpecPath(pod), "restartPolicy"),
                     "restartPolicy " + Quote(*policy) + " of " + std::string(pod.name) +
                         " is not one that pods can have, so the API server refuses them",
                     near ? "write restartPolicy: " + std::string(*near)
                          : "write restartPolicy: Never (or OnFailure, Always, ExitCode)");
  }
}

void CheckTemplateRestartPolicy(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    const auto written = pod.pod_spec.Text("restartPolicy");
    const auto effective = EffectiveRestartPolicy(ReplicaSpecOf(context.view, pod));
    if (!written || *written == "" || !effective || *written == *effective) continue;
    findings.Violate(pod.pod_spec.path.Child("restartPolicy"),
                     "the template's restartPolicy " + Quote(*written) + " is overwritten with " +
                         Quote(*effective) + ", which " + std::string(pod.name) +
                         " has beside its replicas",
                     "write restartPolicy: " + std::string(*written) + " beside replicas of " +
                         std::string(pod.name) + ", or remove it from the template");
  }
}

void CheckSchedulerNames(const RuleContext& context, Findings& findings) {
  const PodTemplateView* named = nullptr;  // who sets the scheduler that the others should share
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.pod_spec.wrong_type) return;
    const std::string_view name = pod.SchedulerName();
    if (name.empty()) continue;
    if (named == nullptr || name == context.config.scheduler) named = &pod;
  }
  if (named == nullptr) return;
  const std::string_view wanted = named->SchedulerName();
  for (const PodTemplateView& pod : context.view.templates) {
    std::string_view name = pod.SchedulerName();
    // The operator fills in a missing name only when no replica type has one.
    if (name.empty()) name = schemas::kDefaultScheduler;
    if (name == wanted) continue;
    findings.Violate(pod.pod_spec.path.Child("schedulerName"),
                     "pods of " + std::string(pod.name) + " go to scheduler " + Quote(name) +
                         " and those of " + std::string(named->name) + " to " + Quote(wanted) +
                         ", so they are not a gang",
                     "write schedulerName: " + std::string(wanted) +
                         " in every replica type, or only in spec.schedulerName");
  }
}

}  // namespace mindgate::policies::ascendjob
