#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/children.h"
#include "schemas/names.h"
#include "schemas/placement.h"

// vcjobs, batch Jobs and LeaderWorkerSets under Volcano. MindCluster ships Volcano without its
// admission, so nothing else checks or completes a vcjob there (mind-cluster:
// component/ascend-for-volcano/build/volcano-v*.yaml).
namespace mindgate::policies::volcano {
namespace {

using json::Value;
using schemas::Component;
using schemas::PartView;
using schemas::PodTemplateView;

std::string Title(const PartView& task) { return task.Title("task"); }

// Pods of a task; nothing when `replicas` is not an integer. Absent is 0, as in Go.
std::optional<int64_t> ReplicasOf(const PartView& task) {
  const Value* replicas = json::Find(*task.value, "replicas");
  return replicas == nullptr ? std::optional<int64_t>(0) : json::AsInt(replicas);
}

std::optional<int64_t> TotalReplicas(std::span<const PartView> tasks) {
  int64_t total = 0;
  for (const PartView& task : tasks) {
    const auto replicas = ReplicasOf(task);
    if (!replicas || __builtin_add_overflow(total, *replicas, &total)) return std::nullopt;
  }
  return total;
}

void CheckGangSize(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  const schemas::FieldView& job = context.view.spec;
  const auto tasks = context.view.parts;
  for (const PartView& task : tasks) {
    const auto least = json::AsInt(json::Find(*task.value, "minAvailable"));
    const auto replicas = ReplicasOf(task);
    if (!least || !replicas || *least <= *replicas) continue;
    findings.Violate(task.Path("/minAvailable"),
                     "minAvailable " + std::to_string(*least) + " is more than the " +
                         std::to_string(*replicas) + " replicas of " + Title(task) +
                         ": the job never starts",
                     "write minAvailable: " + std::to_string(*replicas) + " or less");
  }
  const auto least = json::AsInt(job.Find("minAvailable"));
  const auto total = TotalReplicas(tasks);
  if (!least || !total || *least <= *total) return;
  findings.Violate(job.path.Child("minAvailable"),
                   "minAvailable " + std::to_string(*least) + " is more than the " +
                       std::to_string(*total) + " pods of all tasks: the job never starts",
                   *total > 0 ? "write minAvailable: " + std::to_string(*total) + " or less"
                              : "raise replicas of the tasks: the job makes no pods");
}

void CheckQueue(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  const schemas::FieldView& job = context.view.spec;
  // From 1.15 on the CRD fills it in.
  if (context.config.versions.IsFrom(Component::kVolcano, {1, 15})) return;
  const Value* queue = job.Find("queue");
  if (job.value == nullptr || (queue != nullptr && json::AsString(queue) != "")) return;
  findings.Violate(job.path.Child("queue"),
                   std::string("the job names no queue: ") +
                       (context.config.versions.Of(Component::kVolcano)
                            ? "without Volcano's admission, "
                            : "before Volcano 1.15, and without Volcano's admission, ") +
                       "its controller looks for a queue without a name, fails, and makes no pods",
                   "write queue: default");
}

void CheckMinAvailable(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  const schemas::FieldView& job = context.view.spec;
  const Value* least = job.Find("minAvailable");
  if (job.value == nullptr || (least != nullptr && json::AsInt(least) != 0)) return;
  const int64_t total = TotalReplicas(context.view.parts).value_or(1);
  findings.Violate(
      job.path.Child("minAvailable"),
      std::string(least == nullptr ? "minAvailable is missing" : "minAvailable is 0") +
          ": the job is not a gang, and its pods take NPUs one by one while the others wait",
      "write minAvailable: " + std::to_string(std::max<int64_t>(total, 1)) +
          " for one gang, or 1 for independent pods");
}

// Names that no task has yet.
class FreeNames {
 public:
  explicit FreeNames(std::span<const PartView> tasks) {
    for (const PartView& task : tasks) {
      taken_.insert(json::FindString(*task.value, "name").value_or(""));
    }
  }
  std::string Next() {
    std::string name;
    do {
      name = count_ == 0 ? "worker" : "worker-" + std::to_string(count_);
      ++count_;
    } while (taken_.contains(name));
    return name;
  }

 private:
  std::set<std::string_view, std::less<>> taken_;
  int count_ = 0;
};

void CheckTaskNames(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  std::set<std::string_view> seen;
  FreeNames names(context.view.parts);
  for (const PartView& task : context.view.parts) {
    const Value* raw = json::Find(*task.value, "name");
    if (raw != nullptr && !raw->is_string()) continue;
    const std::string_view name = json::AsString(raw).value_or("");
    const bool again = !seen.insert(name).second;
    if (name.empty()) {
      findings.Violate(task.Path("/name"),
                       Title(task) +
                           " has no name: without Volcano's admission its pods have no name that "
                           "distinguishes them" +
                           (again ? ", and two such tasks share their pods' names" : ""),
                       "write a name, for example name: " + names.Next());
    } else if (again) {
      findings.Violate(
          task.Path("/name"),
          "another task is named " + Quote(name) +
              " too: both create pods with the same names, and the second task gets none",
          "write another name");
    }
  }
}

bool Names(const Value& policy, std::string_view event) {
  if (json::FindString(policy, "event") == event) return true;
  const Value* events = json::Find(policy, "events");
  return json::IsArray(events) &&
         std::any_of(events->begin(), events->end(),
                     [&](const Value& each) { return json::AsString(&each) == event; });
}

// What the first policy for the event does; nothing when there is none. "*" is any event.
std::optional<std::string_view> ActionOn(std::string_view event, const Value* policies) {
  if (!json::IsArray(policies)) return std::nullopt;
  for (const Value& policy : *policies) {
    if (Names(policy, event) || Names(policy, "*")) return json::FindString(policy, "action");
  }
  return std::nullopt;
}

// What becomes of the pods of a job when Volcano carries out an action.
enum class Scope { kPod, kPartition, kTask, kJob };

Scope ScopeOf(std::string_view action) {
  if (action == "RestartTask") return Scope::kTask;
  if (action == "RestartPartition") return Scope::kPartition;
  for (std::string_view of_job : {"RestartJob", "AbortJob", "TerminateJob", "CompleteJob"}) {
    if (action == of_job) return Scope::kJob;
  }
  // SyncJob, the default, makes missing pods again. Ignore is MindCluster's own addition.
  return Scope::kPod;
}

// What a policy of the task, else of the job, does on an event; nothing when none handles it.
struct Reaction {
  std::string_view event;
  std::string_view action;
  std::string path;
};

std::optional<Reaction> ReactionTo(std::string_view event, const schemas::FieldView& job,
                                   const PartView& task) {
  if (const auto own = ActionOn(event, json::Find(*task.value, "policies"))) {
    return Reaction{event, *own, task.Path("/policies")};
  }
  if (const auto shared = ActionOn(event, job.Find("policies"))) {
    return Reaction{event, *shared, job.path.Child("policies")};
  }
  return std::nullopt;
}

std::string EffectOf(const Reaction& reaction, const schemas::Versions& versions) {
  const std::string cause =
      reaction.event == "PodEvicted"
          ? ": the scheduler deletes the faulty pod, which is PodEvicted, and "
          : ": a pod that fails is PodFailed, and ";
  const std::string action(reaction.action);
  const bool known = versions.Of(Component::kVolcano).has_value();
  switch (ScopeOf(reaction.action)) {
    case Scope::kPartition:
      return cause + action + " deletes all pods of the partition with it";
    case Scope::kTask:
      return cause + (known ? "" : "from Volcano 1.11 on ") + action +
             " deletes all pods of the task with it";
    default:
      return cause + action + " takes the whole job down";
  }
}

// Whether the action deletes no more than the pod at fault. Before Volcano 1.11, RestartTask did
// what SyncJob does, and there was no RestartPod.
bool KeepsToPod(Scope scope, const PartView& task, bool old) {
  if (scope == Scope::kPod) return true;
  if (scope == Scope::kPartition) {
    const Value* policy = json::Find(*task.value, "partitionPolicy");
    return json::AsInt(json::Find(policy, "partitionSize")) == 1 || ReplicasOf(task) == 1;
  }
  return scope == Scope::kTask && (old || ReplicasOf(task) == 1);
}

void CheckFailurePolicy(const RuleContext& context, Findings& findings) {
  const auto& groups = context.view.pod_groups;
  if (groups.empty()) return;
  const auto any = [](const schemas::LabelOccurrences& occurrences, std::string_view value) {
    for (const schemas::LabelOccurrence& each : occurrences) {
      if (json::AsString(each.value) == value) return true;
    }
    return false;
  };
  const bool label = any(context.view.GroupLabels(groups.front(), schemas::kPodRescheduling), "on");
  if (!label &&
      !any(context.view.GroupAnnotations(groups.front(), schemas::kRecoverPolicyPath), "pod")) {
    return;
  }
  const std::string asked = label ? "pod-rescheduling: on" : "huawei.com/recover_policy_path: pod";
  const schemas::FieldView& job = context.view.spec;
  const schemas::Versions& versions = context.config.versions;
  const bool old = versions.IsBefore(Component::kVolcano, {1, 11});
  for (const PartView& task : context.view.parts) {
    const PodTemplateView* pod = context.view.TemplateOf(*task.index);
    if (pod == nullptr || !pod->RequestsNpus()) continue;
    for (std::string_view event : {"PodEvicted", "PodFailed"}) {
      const auto reaction = ReactionTo(event, job, task);
      if (!reaction) continue;
      if (KeepsToPod(ScopeOf(reaction->action), task, old)) continue;
      std::string fix = "write {event: " + std::string(event) + ", action: RestartPod}" +
                        (versions.Of(Component::kVolcano) ? "" : " (Volcano 1.11 and later)") +
                        ", or remove the policy for " + std::string(event);
      if (old) fix = "remove the policy for " + std::string(event);
      findings.Violate(reaction->path,
                       asked + " has no effect for " + Title(task) + EffectOf(*reaction, versions),
                       std::move(fix));
      break;  // the first is enough to see what happens
    }
  }
}

// Calls `visit` with each task with NPUs that Volcano places, and with what becomes of it after the
// event.
template <typename Visit>
void ForEachNpuReaction(const RuleContext& context, std::string_view event, const Visit& visit) {
  for (const PartView& task : context.view.parts) {
    const PodTemplateView* pod = context.view.TemplateOf(*task.index);
    if (pod == nullptr || !pod->RequestsNpus() || !IsPlacedByVolcano(context, *pod)) continue;
    const auto reaction = ReactionTo(event, context.view.spec, task);
    if (reaction) visit(task, *reaction);
  }
}

// Actions after which the job is over.
constexpr std::string_view kEndings[] = {"AbortJob", "TerminateJob", "CompleteJob"};

// The label that asks for pods to be recreated after the event; empty when none does.
std::string RecoveryAsked(const RuleContext& context, std::string_view event) {
  const auto& group = context.view.pod_groups.front();
  const bool hardware = event == "PodEvicted";
  const std::string_view key = hardware ? schemas::kFaultScheduling : schemas::kFaultRetryTimes;
  for (const schemas::LabelOccurrence& each : context.view.GroupLabels(group, key)) {
    const auto text = json::AsString(each.value);
    if (!text) continue;
    const bool asks = hardware ? *text == "force" || *text == "grace" : ParseGoInt(*text) > 0;
    if (asks) return std::string(key) + ": " + std::string(*text);
  }
  return {};
}

void CheckJobEndings(const RuleContext& context, Findings& findings) {
  if (context.view.pod_groups.empty()) return;
  for (std::string_view event : {"PodEvicted", "PodFailed"}) {
    const std::string asked = RecoveryAsked(context, event);
    if (asked.empty()) continue;
    ForEachNpuReaction(context, event, [&](const PartView& task, const Reaction& reaction) {
      if (std::ranges::find(kEndings, reaction.action) == std::end(kEndings)) return;
      findings.Violate(
          reaction.path,
          asked + " has no effect for " + Title(task) +
              (event == "PodEvicted"
                   ? ": the scheduler deletes the faulty pod, which is PodEvicted, and "
                   : ": a pod that fails is PodFailed, and ") +
              std::string(reaction.action) + " ends the job for good",
          "write {event: " + std::string(event) +
              ", action: RestartJob}, or remove the policy for " + std::string(event));
    });
  }
}

void CheckPartialGang(const RuleContext& context, Findings& findings) {
  const schemas::WorkloadView& view = context.view;
  for (const schemas::PodGroupView& group : view.pod_groups) {
    if (!group.npus || !group.min_member) continue;
    const bool ascend_job = group.owner == schemas::PodGroupOwner::kAscendJob;
    // A vcjob of 1 is the documents' way to write independent pods.
    const int64_t least = ascend_job ? 1 : 2;
    const auto pods = schemas::PodsOf(view, group);
    if (!pods || *group.min_member < least || *group.min_member >= *pods) continue;
    // The one strategy under which a job goes on with fewer pods.
    if (group.annotations &&
        group.annotations->Text(schemas::kRecoverStrategy).value_or("").find("elastic-training") !=
            std::string_view::npos) {
      continue;
    }
    findings.Violate(ascend_job ? "/spec/runPolicy/schedulingPolicy/minAvailable"
                                : view.spec.path.Child("minAvailable"),
                     "minAvailable is " + std::to_string(*group.min_member) + " of " +
                         std::to_string(*pods) +
                         " pods: the job starts when these fit, and its processes hold their NPUs "
                         "while they wait for the others",
                     "write minAvailable: " + std::to_string(*pods));
  }
}

void CheckBatchJob(const RuleContext& context, Findings& findings) {
  // The Jobs of a CronJob were evaluated with it.
  if (!context.view.RequestsNpus() || context.view.controller_injected) return;
  findings.Violate("/kind",
                   "no MindCluster component handles a batch " +
                       std::string(schemas::KindName(context.view.kind)) +
                       ": its NPUs get no rank table and no job summary, only scheduling",
                   "use an AscendJob, or a Job of batch.volcano.sh/v1alpha1");
}

// The number of restarts that fault-retry-times asks for; 0 when nothing does.
int64_t RetriesAsked(const RuleContext& context) {
  int64_t most = 0;
  const auto& group = context.view.pod_groups.front();
  for (const schemas::LabelOccurrence& each :
       context.view.GroupLabels(group, schemas::kFaultRetryTimes)) {
    const auto text = json::AsString(each.value);
    most = std::max(most, text ? ParseGoInt(*text).value_or(0) : 0);
  }
  return std::min<int64_t>(most, std::numeric_limits<int32_t>::max());
}

// The event on which the whole job starts again; empty when none does that.
std::string_view RestartsOn(const RuleContext& context) {
  for (std::string_view event : {"PodEvicted", "PodFailed"}) {
    bool restarts = false;
    ForEachNpuReaction(context, event, [&](const PartView&, const Reaction& reaction) {
      restarts = restarts || reaction.action == "RestartJob";
    });
    if (restarts) return event;
  }
  return {};
}

void CheckRetries(const RuleContext& context, Findings& findings) {
  if (context.view.pod_groups.empty()) return;
  // Where it is left out, the default depends on Volcano's admission.
  const auto most = json::AsInt(context.view.spec.Find("maxRetry"));
  const int64_t asked = RetriesAsked(context);
  if (!most || *most < 1 || asked <= *most) return;
  const std::string_view event = RestartsOn(context);
  if (event.empty()) return;
  findings.Violate(
      context.view.spec.path.Child("maxRetry"),
      "maxRetry is " + std::to_string(*most) + ", and fault-retry-times asks for " +
          std::to_string(asked) + ": " + std::string(event) +
          " restarts the job, which counts against maxRetry, and the job fails after " +
          Counted(*most, "restart"),
      "write maxRetry: " + std::to_string(asked));
}

constexpr Rule kJobRules[] = {
    {.id = "MG193",
     .name = "vcjob-retries",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "A vcjob that restarts on a fault has a maxRetry of at least fault-retry-times.",
     .why = "With RestartJob on PodEvicted or PodFailed every fault restarts the job, and Volcano "
            "counts these restarts. At maxRetry the job fails, however many retries "
            "fault-retry-times still allows.",
     .fix = "Write maxRetry as large as fault-retry-times.",
     .source = "volcano: pkg/controllers/job/state/restarting.go; mind-cluster: "
               "component/ascend-for-volcano/internal/rescheduling. The job runs until then: "
               "therefore a warning.",
     .check = CheckRetries},
    {.id = "MG191",
     .name = "job-ends-on-fault",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "A Volcano Job that asks for rescheduling does not end when a pod is evicted or "
                "fails.",
     .why =
         "For the Job controller the pod that the scheduler deletes after a fault is PodEvicted, "
         "and one that exits is PodFailed. With AbortJob, TerminateJob or CompleteJob on that "
         "event the job is over before a new pod is made, whatever fault-scheduling and "
         "fault-retry-times ask for.",
     .fix = "Write RestartJob, RestartTask or RestartPod for these events, or remove the policies.",
     .source = "volcano: pkg/controllers/job/state, pkg/controllers/job/job_controller_util.go "
               "(applyPolicies); mind-cluster: component/ascend-for-volcano/internal/rescheduling. "
               "Ending a job may be what its user wants: therefore a warning.",
     .check = CheckJobEndings},
    {.id = "MG130",
     .name = "vcjob-gang-size",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kVolcanoJobs,
     .summary = "minAvailable of a vcjob with NPUs, and of each of its tasks, is at most the "
                "number of its pods.",
     .why = "The gang waits for more pods than the job ever creates. Volcano's own admission "
            "refuses such a job, but MindCluster ships Volcano without it: there the job stays "
            "Pending forever.",
     .fix = "Write minAvailable no larger than the sum of the tasks' replicas.",
     .source = "volcano: pkg/webhooks/admission/jobs/validate/admit_job.go",
     .check = CheckGangSize},
    {.id = "MG131",
     .name = "vcjob-queue",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "A vcjob with NPUs names its queue.",
     .why = "Volcano's admission, and from 1.15 on its CRD, fill in \"default\". MindCluster's "
            "Volcano has no admission: on 1.9 and 1.12 the job controller looks up the queue "
            "before it makes anything, finds none of an empty name, and retries forever.",
     .fix = "Write queue: default, or the name of an open queue.",
     .source = "mind-cluster: component/ascend-for-volcano/build/volcano-v*.yaml; volcano: "
               "pkg/controllers/job/job_controller_actions.go (GetQueueInfo), "
               "config/crd/volcano/bases/batch.volcano.sh_jobs.yaml. Newer versions fill it in, "
               "hence a warning",
     .check = CheckQueue},
    {.id = "MG132",
     .name = "vcjob-min-available",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "A vcjob with NPUs says how many pods make its gang.",
     .why = "Without Volcano's admission a missing minAvailable is 0: pods bind one by one, two "
            "jobs can each hold half of the cards that the other needs, and after a fault the job "
            "counts as complete although pods are missing, so recovery is not widened.",
     .fix = "Write minAvailable: all pods for a distributed job, 1 for independent replicas.",
     .source = "volcano: pkg/controllers/job/job_controller_actions.go; Volcano's admission, where "
               "it runs, fills in the sum, hence a warning",
     .check = CheckMinAvailable},
    {.id = "MG133",
     .name = "vcjob-task-name",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "Each task of a vcjob with NPUs has a unique name.",
     .why = "Pods are named job-task-index. Volcano's admission makes up missing names and refuses "
            "repeated ones; without it pods of two tasks collide, and policies and rank tables "
            "cannot distinguish the tasks.",
     .fix = "Write a distinct name in every task.",
     .source = "volcano: pkg/controllers/job/job_controller_util.go; Volcano's admission, where it "
               "runs, fills names in, hence a warning",
     .check = CheckTaskNames},
    {.id = "MG134",
     .name = "vcjob-failure-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs,
     .summary = "The policies of a vcjob with pod-level recovery restart no more than the pod.",
     .why = "pod-rescheduling: on and huawei.com/recover_policy_path: pod make the scheduler "
            "delete only the pod at fault. Volcano's job controller takes that for PodEvicted, and "
            "a policy such as PodEvicted -> RestartJob then deletes all others too. Without a "
            "policy it only makes the missing pod again, which is what pod-level recovery needs.",
     .fix = "Remove the policies for PodEvicted and PodFailed, or give them the action RestartPod "
            "(Volcano 1.11 and later).",
     .source = "volcano: pkg/controllers/job/job_controller_handler.go (deletePod), "
               "job_controller_util.go (applyPolicies: SyncJob without a policy), state/running.go "
               "(from 1.11 RestartTask deletes all pods of the task; before, it did what SyncJob "
               "does). mind-cluster: docs/en/scheduling/usage ask for PodFailed -> RestartTask, "
               "which fits Volcano 1.9 only: therefore a warning. The action Ignore exists in "
               "MindCluster's Volcano only and is accepted too",
     .check = CheckFailurePolicy},
    {.id = "MG135",
     .name = "batch-job-npus",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kBatchJobs,
     .summary = "NPU jobs are AscendJobs or vcjobs, not Jobs of batch/v1.",
     .why = "ascend-operator makes rank tables for AscendJobs, vcjobs, Deployments and "
            "StatefulSets, and ClusterD reports those. A batch/v1 Job gets nothing but generic "
            "scheduling: distributed training has no rank table, and retries after a fault are the "
            "Job controller's.",
     .fix = "Use an AscendJob or a vcjob. A Job works for a single pod that needs no rank table, "
            "hence a warning.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1",
     .check = CheckBatchJob},
    {.id = "MG138",
     .name = "partial-gang",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kVolcanoJobs | schemas::kAscendJobs,
     .summary = "The gang of a distributed job with NPUs is all of its pods.",
     .why = "The processes of a distributed job need all ranks. With a smaller minAvailable some "
            "pods start and wait in the first collective operation until it times out; two such "
            "jobs can keep each other waiting forever, each with half of the NPUs.",
     .fix = "Write the sum of all replicas, or 1 in a vcjob of independent pods.",
     .source =
         "volcano: scheduling.volcano.sh PodGroup spec.minMember; mind-cluster: "
         "component/ascend-operator/pkg/controllers/v1/job.go. A job may be able to start with "
         "fewer pods: therefore a warning, and none with the recover-strategy elastic-training",
     .check = CheckPartialGang},
};

}  // namespace

Family JobRules() { return kJobRules; }

}  // namespace mindgate::policies::volcano
