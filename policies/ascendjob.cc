#include "policies/ascendjob_checks.h"
#include "policies/rule.h"
#include "schemas/kinds.h"

// Most of what is denied here is what ascend-operator itself checks when it reconciles a job. It
// then writes the condition Failed, and a job that has that condition counts as finished:
// correcting the object does not bring it back.
namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::Mode;

constexpr Rule kAscendJobRules[] = {
    {
        "MG010",
        "ascendjob-replica-specs",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "An AscendJob lists at least one replica type, and none of them is null.",
        "The operator fails a job without spec.replicaSpecs, or with a null replica type, and "
        "never reconciles it again. An empty map passes its check for MindSpore only, and then the "
        "job has no pods.",
        "List the leader of the framework (Master, Scheduler or Chief) with 1 replica and the "
        "other pods under Worker.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckReplicaSpecs,
    },
    {
        "MG011",
        "ascendjob-framework",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "The label framework is pytorch, mindspore or tensorflow, in lower case.",
        "The label decides which replica types and variables the job has. Without it, or with any "
        "other value, the operator fails the job. Inference jobs of MindIE need it too.",
        "Write framework: pytorch, mindspore or tensorflow in metadata.labels.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckFramework,
    },
    {
        "MG012",
        "ascendjob-replica-types",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "Replica types are those of the framework, spelled exactly.",
        "The operator compares Master and Worker (pytorch), Scheduler and Worker (mindspore), "
        "Chief and Worker (tensorflow) before it normalises letter case, so \"master\" fails the "
        "job.",
        "Write the type exactly as the framework has it.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckReplicaTypes,
    },
    {
        "MG013",
        "ascendjob-replicas",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "A leader has exactly one replica, and Worker has 0 to 20000.",
        "The operator fails the job otherwise. The documents mention several replicas of a MindIE "
        "controller or coordinator; in the code there is one leader and every further replica is a "
        "Worker.",
        "Write replicas: 1 for Master, Scheduler or Chief and put the rest under Worker.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckReplicas,
    },
    {
        "MG014",
        "ascendjob-leader",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "The job has the leader that its framework needs.",
        "PyTorch and TensorFlow jobs without Master or Chief fail. A MindSpore job may leave out "
        "Scheduler only when its Workers request one chip in total.",
        "Add the leader type with 1 replica; it may be a copy of Worker with one replica less "
        "there.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckLeader,
    },
    {
        "MG015",
        "ascendjob-container",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "Every replica type has a container named ascend with an image.",
        "The operator finds the training or serving process by that name: it fails jobs without "
        "it, and counts chips and writes variables only there.",
        "Name the main container ascend and give it an image.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckContainer,
    },
    {
        "MG016",
        "ascendjob-success-policy",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "successPolicy is absent, empty or AllWorkers.",
        "The operator fails a job with any other value.",
        "Remove successPolicy.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckSuccessPolicy,
    },
    {
        "MG017",
        "ascendjob-success-policy-effect",
        Severity::kInfo,
        Mode::kAudit,
        schemas::kOnlyAscendJob,
        "The job does not rely on successPolicy.",
        "The documents give \"\" and AllWorkers different meanings, but no code reads the value "
        "after checking it: a job succeeds once no pod is active and at least one succeeded.",
        "Remove successPolicy.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go, against the documents "
        "of AscendJob. Recorded only, because every sample of the vendor sets AllWorkers.",
        ascendjob::CheckSuccessPolicyEffect,
    },
    {
        "MG018",
        "ascendjob-scaleout-type",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "The label scaleout-type, where set, is ROCE or UBOE in any case.",
        "The operator fails a job with any other value, and this is the only check that does so "
        "without an Event.",
        "Write ROCE or UBOE, or remove the label.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
        ascendjob::CheckScaleOutType,
    },
    {
        "MG019",
        "ascendjob-queue-set",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "A schedulingPolicy names its queue.",
        "With gang scheduling on, which is the default, the operator looks up the queue of any "
        "schedulingPolicy that is set. The documents promise the default queue when none is named, "
        "but nothing fills it in: looking up an empty name fails, and so does the job.",
        "Write queue: default beside minAvailable.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go, against "
        "the documents of AscendJob; the code decides.",
        ascendjob::CheckQueueSet,
    },
    {
        "MG020",
        "ascendjob-queue-exists",
        Severity::kError,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "The queue of a schedulingPolicy exists.",
        "When the operator cannot read the Queue as it reconciles the new job, it fails the job, "
        "and creating the Queue later does not bring the job back.",
        "Create the Queue before the job, or use the queue default, which Volcano creates itself.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go. A "
        "warning, because the Queue may be created between admission and reconciliation.",
        ascendjob::CheckQueueExists,
    },
    {
        "MG021",
        "ascendjob-min-available",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "minAvailable is not negative and not more than all replicas together.",
        "Volcano starts the pods of a PodGroup only when minMember of them fit. A job that has "
        "fewer pods than that waits forever, and a negative number makes the API server refuse the "
        "PodGroup.",
        "Write the sum of the replicas of all types, or remove minAvailable, which means the same.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go; volcano: "
        "scheduling.volcano.sh PodGroup spec.minMember",
        ascendjob::CheckMinAvailable,
    },
    {
        "MG022",
        "ascendjob-gang",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "minAvailable is at least 1.",
        "With 0 there is no gang: pods start one by one, and those that came first hold their "
        "chips while they wait for pods that other such jobs keep waiting.",
        "Write the sum of the replicas of all types.",
        "volcano: scheduling.volcano.sh PodGroup spec.minMember. A warning, because jobs of "
        "independent pods work this way.",
        ascendjob::CheckGang,
    },
    {
        "MG023",
        "ascendjob-backoff-limit",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "backoffLimit, where set, is at least 1.",
        "The operator fails a job after backoffLimit rounds of new pods, but takes 0 and negative "
        "numbers for no limit. In Kubernetes' own Job 0 means no retry at all. The count is kept "
        "in memory and starts again when the operator restarts.",
        "Write how many rounds of new pods are allowed, such as 3, or remove backoffLimit.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go. A "
        "warning, because the job runs.",
        ascendjob::CheckBackoffLimit,
    },
    {
        "MG024",
        "ascendjob-restart-policy",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "restartPolicy of a replica type is Never, OnFailure, Always or ExitCode.",
        "The operator copies the value into the pods (ExitCode becomes Never) and does not check "
        "it, so the API server refuses every pod.",
        "Write Never, which fault-retry-times needs, or one of the others.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go; Kubernetes: Pod "
        "spec.restartPolicy",
        ascendjob::CheckRestartPolicy,
    },
    {
        "MG025",
        "ascendjob-template-restart-policy",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "A pod template's restartPolicy agrees with that of its replica type.",
        "The operator overwrites the template's value with the one beside replicas, or with Never "
        "when there is none. The template's value has no effect when a container fails.",
        "Write restartPolicy beside replicas and remove it from the template.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go",
        ascendjob::CheckTemplateRestartPolicy,
    },
    {
        "MG026",
        "ascendjob-scheduler-names",
        Severity::kError,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "All replica types of a job name the same scheduler.",
        "The operator fills in Volcano only when no replica type names a scheduler; otherwise "
        "types without a name go to Kubernetes' default scheduler. Volcano then waits for gang "
        "members that it never sees, and after a fault it replaces only its own pods.",
        "Name the scheduler once, in spec.schedulerName, or the same one in every template.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/pod.go and utils.go. A "
        "warning, because a small minAvailable lets such a job start.",
        ascendjob::CheckSchedulerNames,
    },
    {
        "MG027",
        "ascendjob-name-shadowed",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "No Deployment, StatefulSet or Volcano Job in the namespace has the AscendJob's name.",
        "The operator looks for those first, for their rank tables, and never reconciles an "
        "AscendJob of the same name: it gets no PodGroup, no pods and no condition.",
        "Give the AscendJob another name.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go",
        ascendjob::CheckNameShadowed,
    },
    {
        "MG028",
        "ascendjob-frozen-fields",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "What the PodGroup copied from a job does not change afterwards.",
        "The operator makes the PodGroup once and never updates it. The scheduler keeps using the "
        "old labels, annotations, queue and gang size, even for a fault, while the job shows the "
        "new ones.",
        "Delete the job and create it again, or change the PodGroup as well.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go",
        ascendjob::CheckFrozenFields,
    },
    {
        "MG029",
        "grace-period",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kWorkloads - KindSet{Kind::kPod},
        "With fault-scheduling grace, terminationGracePeriodSeconds is more than 0 and at most "
        "the scheduler's grace-over-time.",
        "The scheduler evicts the pods with their own grace period and kills what is left after "
        "grace-over-time, counted from the detection of the fault (900 s unless configured; values "
        "outside 2 to 3600 silently mean 900). A longer period is cut short, and with 0 there is "
        "no grace period.",
        "Write a period in which the process can save its state and that is not above "
        "grace-over-time.",
        "mind-cluster: component/ascend-for-volcano/internal/rescheduling. The documents want less "
        "than grace-over-time, for AscendJobs; the plugin does the same with every kind, and a "
        "period equal to it is not cut short.",
        ascendjob::CheckGracePeriod,
    },
};

}  // namespace

std::span<const Rule> AscendJobRules() { return kAscendJobRules; }

}  // namespace mindgate::policies
