#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/ascendjob/ascendjob.h"
#include "policies/families.h"
#include "policies/lookups.h"
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
  findings.Violate(Child(kSchedulingPath, "queue"),
                   "schedulingPolicy has no queue, so the operator looks for a queue without a "
                   "name and fails the job",
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
    findings.Violate(
        Child(ReplicaSpecPath(pod), "restartPolicy"),
        "restartPolicy " + Quote(*policy) + " of " + std::string(pod.name) +
            " is not one that pods can have, so the API server refuses them",
        near ? WriteWord("restartPolicy", *near, MeansOnly(*policy, *near, kRestartPolicies))
             : Fix("write restartPolicy: Never (or OnFailure, Always, ExitCode)"));
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

constexpr Rule kRunRules[] = {
    {.id = "MG016",
     .name = "ascendjob-success-policy",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "successPolicy is absent, empty or AllWorkers.",
     .why = "The operator fails a job with any other value.",
     .fix = "Remove successPolicy.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckSuccessPolicy},
    {.id = "MG017",
     .name = "ascendjob-success-policy-effect",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = schemas::kAscendJobs,
     .summary = "The job does not rely on successPolicy.",
     .why =
         "The documents give \"\" and AllWorkers different meanings, but no code reads the value "
         "after checking it: a job succeeds once no pod is active and at least one succeeded.",
     .fix = "Remove successPolicy.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go, against the documents "
         "of AscendJob. Recorded only, because every sample of the vendor sets AllWorkers.",
     .check = CheckSuccessPolicyEffect},
    {.id = "MG018",
     .name = "ascendjob-scaleout-type",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "The label scaleout-type, where set, is ROCE or UBOE in any case.",
     .why = "The operator fails a job with any other value, and this is the only check that does "
            "so without an Event.",
     .fix = "Write ROCE or UBOE, or remove the label.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckScaleOutType},
    {.id = "MG019",
     .name = "ascendjob-queue-set",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "A schedulingPolicy names its queue.",
     .why = "With gang scheduling on, which is the default, the operator looks up the queue of any "
            "schedulingPolicy that is set. The documents promise the default queue when none is "
            "named, but nothing fills it in: looking up an empty name fails, and so does the job.",
     .fix = "Write queue: default beside minAvailable.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go, "
               "against the documents of AscendJob; the code decides.",
     .check = CheckQueueSet},
    {.id = "MG020",
     .name = "ascendjob-queue-exists",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "The queue of a schedulingPolicy exists.",
     .why = "When the operator cannot read the Queue as it reconciles the new job, it fails the "
            "job, and creating the Queue later does not bring the job back.",
     .fix =
         "Create the Queue before the job, or use the queue default, which Volcano creates itself.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go. "
               "A warning, because the Queue may be created between admission and reconciliation.",
     .check = CheckQueueExists},
    {.id = "MG021",
     .name = "ascendjob-min-available",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "minAvailable is not negative and not more than all replicas together.",
     .why = "Volcano starts the pods of a PodGroup only when minMember of them fit. A job that has "
            "fewer pods than that waits forever, and a negative number makes the API server refuse "
            "the PodGroup.",
     .fix = "Write the sum of the replicas of all types, or remove minAvailable, which means the "
            "same.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go; volcano: "
               "scheduling.volcano.sh PodGroup spec.minMember",
     .check = CheckMinAvailable},
    {.id = "MG022",
     .name = "ascendjob-gang",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "minAvailable is at least 1.",
     .why = "With 0 there is no gang: pods start one by one, and those that came first hold their "
            "chips while they wait for pods that other such jobs keep waiting.",
     .fix = "Write the sum of the replicas of all types.",
     .source = "volcano: scheduling.volcano.sh PodGroup spec.minMember. A warning, because jobs of "
               "independent pods work this way.",
     .check = CheckGang},
    {.id = "MG023",
     .name = "ascendjob-backoff-limit",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "backoffLimit, where set, is at least 1.",
     .why = "The operator fails a job after backoffLimit rounds of new pods, but takes 0 and "
            "negative numbers for no limit. In Kubernetes' own Job 0 means no retry at all. The "
            "count is kept in memory and starts again when the operator restarts.",
     .fix = "Write how many rounds of new pods are allowed, such as 3, or remove backoffLimit.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go. A "
         "warning, because the job runs.",
     .check = CheckBackoffLimit},
    {.id = "MG024",
     .name = "ascendjob-restart-policy",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "restartPolicy of a replica type is Never, OnFailure, Always or ExitCode.",
     .why = "The operator copies the value into the pods (ExitCode becomes Never) and does not "
            "check it, so the API server refuses every pod.",
     .fix = "Write Never, which fault-retry-times needs, or one of the others.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go; Kubernetes: Pod "
               "spec.restartPolicy",
     .check = CheckRestartPolicy},
    {.id = "MG025",
     .name = "ascendjob-template-restart-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "A pod template's restartPolicy agrees with that of its replica type.",
     .why = "The operator overwrites the template's value with the one beside replicas, or with "
            "Never when there is none. The template's value has no effect when a container fails.",
     .fix = "Write restartPolicy beside replicas and remove it from the template.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go",
     .check = CheckTemplateRestartPolicy},
    {.id = "MG026",
     .name = "ascendjob-scheduler-names",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "All replica types of a job name the same scheduler.",
     .why = "The operator fills in Volcano only when no replica type names a scheduler; otherwise "
            "types without a name go to Kubernetes' default scheduler. Volcano then waits for gang "
            "members that it never sees, and after a fault it replaces only its own pods.",
     .fix = "Name the scheduler once, in spec.schedulerName, or the same one in every template.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go and utils.go. A "
               "warning, because a small minAvailable lets such a job start.",
     .check = CheckSchedulerNames},
};

}  // namespace

Family RunRules() { return kRunRules; }

}  // namespace mindgate::policies::ascendjob
