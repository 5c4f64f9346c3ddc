#include "policies/fault_checks.h"
#include "policies/rule.h"

namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::kWorkloads;
using schemas::Mode;

// Where the user, not the kind, decides what happens to a container that exits.
constexpr KindSet kChooseRestartPolicy = schemas::kVolcanoJobs | schemas::kBatchJobs |
                                         schemas::kAibrixKinds |
                                         KindSet{Kind::kAscendJob, Kind::kPod};

constexpr Rule kFaultLabelRules[] = {
    {"MG050", "fault-scheduling-value", Severity::kError, Mode::kEnforce, kWorkloads,
     "The label fault-scheduling is force, grace, external-force, external-grace or off, in "
     "exactly this spelling.",
     "Any other value is worse than off. The scheduler still notices the fault, adds the job to "
     "its cache of faulty jobs, fails to restart it in every session and, while the entry lasts "
     "(20 minutes by default), sees no other fault of the same job.",
     "Write fault-scheduling: \"force\" to delete faulty pods at once, or \"grace\" to let them "
     "terminate on their own first.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/{type,job}.go; the "
     "comparison is case-sensitive.",
     CheckFaultSchedulingValue},
    {"MG051", "pod-rescheduling-value", Severity::kWarning, Mode::kWarn, kWorkloads,
     "The label pod-rescheduling is \"on\", or plainly off.",
     "Anything other than exactly on counts as off, so one broken card takes down all pods of the "
     "PodGroup instead of one. An unquoted on is a boolean in YAML and often arrives here as "
     "\"true\" or \"True\".",
     "Write pod-rescheduling: \"on\" with the quotes, or remove the label.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. mindcluster-deploy: "
     "k8s-deploy-tool/src/core/config_parser.py turns an unquoted on into \"True\". Any value but "
     "on "
     "is a legal off: therefore a warning, and none for \"off\" and \"false\".",
     CheckPodReschedulingValue},
    {"MG052", "sub-healthy-strategy-value", Severity::kError, Mode::kEnforce, kWorkloads,
     "The label subHealthyStrategy is ignore, graceExit, forceExit or hotSwitch.",
     "Any other value counts as ignore: pods stay on a card or node that reports itself "
     "sub-healthy until the fault becomes a hard failure in the middle of the work.",
     "Write one of the four values. Without the label the strategy is ignore.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. Some tables of the "
     "documents leave hotSwitch out or name another default; the code knows all four and falls "
     "back to ignore.",
     CheckSubHealthyStrategyValue},
    {"MG053", "fault-retry-times-value", Severity::kError, Mode::kEnforce, kWorkloads,
     "The label fault-retry-times is a whole number of at least 0, quoted.",
     "A value that is not a number counts as 0: pods that fail on their own are never rescheduled. "
     "A negative number makes the scheduler notice failed pods and refuse to restart them. On an "
     "AscendJob an invalid value can keep the operator from starting the job at all.",
     "Write digits in quotes, such as fault-retry-times: \"3\". There is no upper limit in the "
     "code; the inference samples in the documents use 100000000.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go and "
     "component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go (strconv.Atoi). The "
     "documents say 0 to 100, their own samples exceed it, the code does not check it: the range "
     "is not enforced here.",
     CheckFaultRetryTimesValue},
    {"MG054", "process-recover-value", Severity::kWarning, Mode::kWarn, kWorkloads,
     "The label process-recover-enable is \"on\" or \"off\".",
     "Any other value counts as off: instead of restarting the faulty process, the scheduler "
     "deletes the pods of the whole job.",
     "Write process-recover-enable: \"on\" with the quotes, or remove the label.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. ClusterD itself "
     "writes \"pause\" after a failed recovery, so that value is accepted.",
     CheckProcessRecoverValue},
    {"MG055", "retry-restart-policy", Severity::kWarning, Mode::kWarn, kChooseRestartPolicy,
     "Pods that count fault-retry-times have restartPolicy Never.",
     "The retry budget is spent on pods that failed. With Always or OnFailure the kubelet restarts "
     "the container in place, on the same cards and with the same damaged state, and the recorded "
     "exit code marks the pod as failed for as long as it lives: the next check deletes a pod that "
     "may be healthy by then.",
     "Write restartPolicy: \"Never\": in spec.replicaSpecs of an AscendJob, in the pod template "
     "elsewhere.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling (pod-failed reads "
     "lastState.terminated), docs of resumable training and inference. Some upstream samples use "
     "Always, and they do run: hence a warning. An AscendJob's template value is overwritten by "
     "replicaSpecs.*.restartPolicy (component/ascend-operator/pkg/controllers/v1/pod.go), so the "
     "rule checks that one. Deployments, StatefulSets, LeaderWorkerSets and OME cannot choose.",
     CheckRetryRestartPolicy},
    {"MG056", "fault-labels-need-fault-scheduling", Severity::kWarning, Mode::kWarn,
     kWorkloads - schemas::kOmeRuntimes,
     "Pods with fault-retry-times, pod-rescheduling or subHealthyStrategy carry fault-scheduling "
     "too.",
     "The scheduler ignores faults of a job without fault-scheduling, whatever its other labels "
     "say. The job hangs or stays short of pods after a fault. Conversely, fault-scheduling alone "
     "covers broken cards and nodes, but not pods that fail on their own: that needs "
     "fault-retry-times.",
     "Add the label fault-scheduling: \"force\" or \"grace\" beside the others, or remove them. If "
     "rescheduling should be off, write fault-scheduling: \"off\".",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/reschedule.go. mindgate "
     "injects the label by default; this finding means that injection is off here.",
     CheckNeedsFaultScheduling},
    {"MG057", "conflicting-fault-labels", Severity::kError, Mode::kEnforce, kWorkloads,
     "All pods of one PodGroup, and the metadata it copies, carry the same value of each fault "
     "label.",
     "The scheduler merges the labels of a PodGroup and all its pods. Values that differ are "
     "joined with a bar (\"grace|force\"), and the joined text matches nothing: rescheduling is "
     "off and retries are 0, and no log of the job says so. Values that differ only in case count "
     "as one, and a missing label conflicts with nothing.",
     "Write one value, in one place or in all of them.",
     "mind-cluster: component/ascend-for-volcano/plugin/job.go, getJobLabelFromVcJob. An "
     "AscendJob's and a Volcano Job's metadata become labels of the PodGroup.",
     CheckConflictingLabels},
    {"MG058", "pod-rescheduling-placement", Severity::kWarning, Mode::kWarn, schemas::kAibrixKinds,
     "pod-rescheduling is not set on AIBrix roles with a podGroupSize above 1.",
     "Their pods form one instance: the ranks of a PodSet cannot continue without the missing one. "
     "The scheduler, told to move a single pod, tries exactly that for up to twelve sessions "
     "before "
     "it widens the scope.",
     "Remove the label there. Set it on roles with podGroupSize 1, whose pods are independent.",
     "mind-cluster: docs of vLLM best practice, "
     "component/ascend-for-volcano/internal/rescheduling/job.go. aibrix: PodSet ReplaceUnhealthy. "
     "LeaderWorkerSets are another matter: without gang scheduling in their controller (lws: "
     "charts/lws/values.yaml leaves it empty) all leaders share one PodGroup, so that without the "
     "label one fault deletes the leaders of all groups; with it only the faulty pod goes, and LWS "
     "recreates its group.",
     CheckPodReschedulingPlacement},
    {"MG059", "recover-policy-value", Severity::kWarning, Mode::kWarn, kWorkloads,
     "The annotation huawei.com/recover_policy_path is \"pod\".",
     "Only pod changes anything: it keeps a fault from spreading to the whole PodGroup when the "
     "single pod cannot be replaced in time. With job, pod,job or any other text the group is "
     "deleted after twelve sessions, as without the annotation.",
     "Write huawei.com/recover_policy_path: \"pod\", or remove the annotation.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go, setReScheduleLimit. "
     "The documents list pod,job and job as values; the code compares with pod only.",
     CheckRecoverPolicyValue},
    {"MG060", "recover-policy-without-pod-rescheduling", Severity::kInfo, Mode::kAudit, kWorkloads,
     "huawei.com/recover_policy_path is used together with pod-rescheduling: \"on\".",
     "The code limits deletion to the faulty pod by the annotation alone, but it decides by "
     "pod-rescheduling when that deletion counts as finished, so recovery may wait for pods that "
     "were never meant to be deleted.",
     "Add the label pod-rescheduling: \"on\".",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go; the documents name "
     "both together. Recorded only: single-pod deletion works either way.",
     CheckRecoverPolicyAlone},
    {"MG061", "wait-reschedule-timeout", Severity::kWarning, Mode::kWarn, kWorkloads,
     "The annotation wait-reschedule-timeout is a whole number of seconds from 30 to 270.",
     "ClusterD silently replaces any other value with 270 s, so a process recovery waits longer "
     "for its rescheduled pod than requested.",
     "Write a number from 30 to 270 in quotes.",
     "mind-cluster: component/clusterd/pkg/application/recover/controller.go.",
     CheckWaitRescheduleTimeout},
    {"MG062", "fault-filters", Severity::kWarning, Mode::kWarn, kWorkloads,
     "huawei.com/schedule.filter.faultCode and .faultLevel are lists of FAULT or FAULT:SECONDS, "
     "with 0 to 86400 seconds.",
     "ClusterD cannot read the entry, so the fault is not held back: a short disturbance that the "
     "application would survive restarts the job.",
     "Separate entries by commas and the seconds by a colon: \"8C1F8608:60,80E01801\". Without "
     "seconds the default is 60.",
     "mind-cluster: component/clusterd, filters of a job's faults; full-width commas and colons "
     "are accepted there and here.",
     CheckFaultFilters},
    {"MG063", "recover-strategy", Severity::kWarning, Mode::kWarn, schemas::kOnlyAscendJob,
     "The annotation recover-strategy of an AscendJob is a comma-separated list of retry, recover, "
     "recover-in-place, elastic-training, dump and exit.",
     "Entries that the operator does not know set none of the variables that switch recovery on "
     "inside the training process, so every fault costs a full restart. It splits at commas and "
     "compares what is between them, spaces included.",
     "Write the entries without spaces, such as \"recover,dump\".",
     "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go.", CheckRecoverStrategy},
    {"MG064", "external-fault-scheduling", Severity::kWarning, Mode::kWarn,
     kWorkloads - schemas::kInferOperatorKinds,
     "external-force and external-grace are used only for what infer-operator runs.",
     "With these values the scheduler deletes nothing: it only marks the faulty pod with "
     "huawei.com/pod-status and leaves the rest to infer-operator, which handles no other kind. "
     "The pod stays on its broken card.",
     "Write force or grace.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/reschedule.go and "
     "component/infer-operator/pkg/controller/rescheduling. Your own controller may act on the "
     "mark: hence a warning.",
     CheckExternalScheduling},
    {"MG065", "tor-affinity-value", Severity::kError, Mode::kEnforce, kWorkloads,
     "The label tor-affinity is large-model-schema, normal-schema or null.",
     "Any value but \"null\" hands the job to the plugin's switch affinity, which checks the value "
     "and refuses all others: the job fails validation in every session and stays Pending.",
     "Write one of the three values in quotes; \"null\" switches the affinity off.",
     "mind-cluster: component/ascend-for-volcano/common/util/job.go (IsTorAffinityJob), "
     "internal/nslb/frame.go; documents of basic scheduling.",
     CheckTorAffinityValue},
    {"MG066", "scheduler-owned-annotations", Severity::kWarning, Mode::kWarn, kWorkloads,
     "A pod template carries none of the annotations that the scheduler, the device plugin or an "
     "operator write on running pods.",
     "They say which chips a pod holds, which rank it has and whether it is being moved. A value "
     "set beforehand is overwritten at best; at worst a container starts on chips that belong to "
     "another pod, or rescheduling compares the pod with the wrong cards and misses the fault.",
     "Remove the annotation. To pass the chosen chips on, read the annotation with a fieldRef "
     "instead of setting it.",
     "mind-cluster: component/ascend-for-volcano, component/ascend-device-plugin, "
     "component/ascend-operator. volcano: pkg/controllers/podgroup/pg_controller.go for "
     "scheduling.k8s.io/group-name, which a template may set on purpose to join your own PodGroup: "
     "hence a warning.",
     CheckSchedulerOwned},
    {"MG067", "misspelled-key", Severity::kWarning, Mode::kWarn, kWorkloads,
     "Labels and annotations that resemble those of fault handling are spelled correctly, and "
     "labels are not written as annotations or the other way round.",
     "Nothing rejects an unknown label. The setting is simply off, and that shows only when a card "
     "breaks.",
     "Write the key as the finding says.",
     "mind-cluster: component/ascend-common/api/consts.go. mindcluster-deploy's own sample writes "
     "subHeathyStrategy (k8s-deploy-tool/config/stormservice-config.yaml). Only keys with a strong "
     "resemblance are reported, and only on objects that concern NPUs.",
     CheckMisspelledKeys},
    {"MG068", "unreachable-fault-settings", Severity::kWarning, Mode::kWarn, kWorkloads,
     "Fault labels and scheduling annotations are written where they reach the pods or their "
     "PodGroup.",
     "Kubernetes does not copy the metadata of a Deployment, StatefulSet, Job, LeaderWorkerSet, "
     "StormService or OME runtime to any pod, and Volcano makes the PodGroup without it. The "
     "settings are in the manifest, but the scheduler sees none of them.",
     "Move them to the pod template; for OME, to labels and annotations of engineConfig and "
     "decoderConfig.",
     "volcano: pkg/controllers/podgroup/pg_controller_handler.go copies volcano.sh annotations "
     "only. ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go. aibrix: "
     "pkg/controller/roleset/utils.go. A sample in MindCluster's documents puts the labels on the "
     "metadata of a ServingRuntime; mindgate copies those to engine and decoder and keeps the "
     "metadata.",
     CheckUnreachable},
    {"MG069", "redundant-pod-rescheduling", Severity::kInfo, Mode::kAudit, schemas::kOnlyAscendJob,
     "MindIE controllers and coordinators do not need pod-rescheduling.",
     "The scheduler limits them to pod level by their app label and never escalates, whatever "
     "other labels say. The documents describe a fallback to the whole job, but the code has none.",
     "Remove the label, or keep it as a note.",
     "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go, setReScheduleLimit. "
     "Recorded only: the label is harmless.",
     CheckRedundantPodRescheduling},
};

}  // namespace

std::span<const Rule> FaultLabelRules() { return kFaultLabelRules; }

}  // namespace mindgate::policies
