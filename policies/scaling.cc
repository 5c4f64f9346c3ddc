#include "policies/rule.h"
#include "policies/scaling_checks.h"
#include "schemas/kinds.h"

// Elastic scaling of MindIE Motor services: AscendJobs that name a scaling rule, and the ConfigMap
// that holds it.
namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::Mode;

constexpr Rule kScalingRules[] = {
    {
        "MG030",
        "scaling-labels",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "A job with the label mind-cluster/scaling-rule has mind-cluster/group-name and jobID too, "
        "and none of the three is empty.",
        "Without the other two labels the operator fails the job, and adding them later does not "
        "bring it back. Empty values pass that check, but no ConfigMap, group or service has an "
        "empty name, so the job waits forever or is counted wrongly.",
        "Write the ConfigMap's name, the group_name of the rule and the id of the service.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go",
        scaling::CheckLabels,
    },
    {
        "MG031",
        "scaling-rule-exists",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "The ConfigMap that mind-cluster/scaling-rule names exists in the namespace of the job.",
        "The operator reads the rule each time it wants to create pods. While it is missing the "
        "job waits without an Event, and the operator retries every 20 seconds.",
        "Create the ConfigMap in the job's own namespace.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. The sample "
        "in the documents puts rule and jobs in different namespaces, which does not work. A "
        "warning, because the rule may be created after the job.",
        scaling::CheckRuleExists,
    },
    {
        "MG032",
        "scaling-group",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyAscendJob,
        "The group of a job is in every tier of a valid scaling rule.",
        "When the tier that the operator targets lacks the job's group, it dereferences a nil "
        "pointer and crashes, for all jobs of the cluster and again after each restart. Under a "
        "rule that cannot be read no job gets pods.",
        "Write a group_name of the rule, and list every group in every tier of the rule.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. The "
        "operator's own validation does not check the rule.",
        scaling::CheckGroup,
    },
    {
        "MG033",
        "scaling-server-count",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "server_num_per_group of the job's group is the number of the job's pods.",
        "The operator compares the number only between tiers, never with a job. If they differ, "
        "the rule describes shapes that the service does not have, and MindIE's controller may use "
        "them.",
        "Make server_num_per_group and the sum of the job's replicas equal.",
        "Documents of MindIE Motor elastic scaling; mind-cluster: "
        "component/ascend-operator/pkg/controllers/scaling/utils.go does not compare. A warning, "
        "because only the documents ask for it.",
        scaling::CheckServerCount,
    },
    {
        "MG034",
        "scaling-labels-placement",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "The scaling labels are all in metadata.labels of the AscendJobs of server instances.",
        "A controller or coordinator under a rule gets pods only when the rule wants its group, so "
        "the service may never start. A group name without a rule, or a rule named on the pods "
        "only, has no effect: the job is created whatever shape the service is in.",
        "Write all scaling labels on the server jobs, and none on controller and coordinator.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go; documents "
        "of MindIE Motor elastic scaling",
        scaling::CheckPlacement,
    },
    {
        "MG035",
        "scaling-rule-readable",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyConfigMap,
        "The text under elastic_scaling.json is a rule that the operator can read.",
        "One fault makes the operator refuse the whole rule: a comment, a number without quotes, a "
        "missing number, a group that a tier adds, a number that grows down the list. Running pods "
        "stay, but none is recreated after a fault, and only the operator's log says why. mindgate "
        "itself reads no more than 64 tiers of 64 groups, in at most 256 KiB of text: no service "
        "has "
        "as many shapes, and a decision may not cost more than its text.",
        "Write plain JSON without comments, every number in quotes, the fullest shape first.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/{controller,utils}.go. "
        "The samples in the documents have comments inside the JSON and must not be used "
        "unchanged.",
        scaling::CheckReadable,
    },
    {
        "MG036",
        "scaling-rule-workable",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyConfigMap,
        "Every job under the rule can get pods, in every tier.",
        "The operator accepts an empty list, tiers without some group, a group written twice, "
        "negative numbers and names that are not valid label values. Then jobs wait forever, one "
        "of two entries is silently ignored, or a job of the missing group crashes the operator "
        "once the service has shrunk.",
        "List every group once in every tier, with \"0\" where a tier wants none of it.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/{controller,utils}.go",
        scaling::CheckWorkable,
    },
    {
        "MG037",
        "scaling-rule-documented",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyConfigMap,
        "The rule is as the documents and MindIE's controller expect it.",
        "The operator accepts more than they do: keys in any letter case, a server_num_per_group "
        "that shrinks, a minimal shape without some group. MindIE's controller reads the first "
        "two groups of the first tier by position, as prefill and decode, and picks its victims "
        "after a fault by those numbers.",
        "Write the documented keys, the prefill group first and the decode group second, and the "
        "same server_num_per_group in all tiers.",
        "Documents of MindIE Motor elastic scaling; MindIE Motor: "
        "mindie_motor/src/controller/fault_manager/FaultManager.cpp; mind-cluster: "
        "component/ascend-operator/pkg/controllers/scaling/utils.go is laxer. A warning, because "
        "the code decides.",
        scaling::CheckDocumented,
    },
    {
        "MG038",
        "scaling-rule-jobs",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyConfigMap,
        "The rule keeps the groups of the AscendJobs that exist under it.",
        "A job whose group was removed from the rule crashes the operator the next time it asks "
        "for pods, for example to replace one after a fault.",
        "Keep the group in every tier, or delete its jobs before the change.",
        "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go",
        scaling::CheckJobsOfRule,
    },
    {
        "MG039",
        "scaling-rule-update",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyConfigMap,
        "The MindIE controller is restarted after its rule changes.",
        "The operator reads the rule again each time, but the controller mounts it with subPath, "
        "which Kubernetes never refreshes. Until the controller restarts, the two decide by "
        "different rules.",
        "Restart the controller's pod after the change, and update the ConfigMap in place: while "
        "it is missing, no pod is created.",
        "MindIE Motor: mindie_motor/src/example/deploy_scripts/deploy_ac_job.py; Kubernetes: "
        "volumes, subPath. A warning, because the change itself is right.",
        scaling::CheckRunningController,
    },
};

}  // namespace

std::span<const Rule> ScalingRules() { return kScalingRules; }

}  // namespace mindgate::policies
