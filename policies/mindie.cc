#include "policies/mindie_checks.h"
#include "policies/rule.h"
#include "policies/scaling_checks.h"
#include "schemas/kinds.h"

// MindIE Motor services: AscendJobs with jobID and app, and the rank tables that ClusterD joins to
// the global one.
namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::Mode;

constexpr Rule kMindieRules[] = {
    {
        "MG040",
        "mindie-app",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "The label app of a MindIE job is mindie-ms-server, mindie-ms-controller or "
        "mindie-ms-coordinator.",
        "A job with both jobID and app counts as a MindIE job whatever the values, and gets none "
        "of the variables of a training job. Rescheduling and ClusterD compare the value: with "
        "another one a controller or coordinator is deleted with its whole gang after a fault, "
        "and is missing from the global rank table.",
        "Write one of the three values, or remove the label from a job that is not a MindIE job.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go, "
        "component/ascend-for-volcano/internal/rescheduling, component/clusterd. The documents' "
        "own sample says mindeie-ms-server. A warning, because app is a common label.",
        mindie::CheckApp,
    },
    {
        "MG041",
        "mindie-template-labels",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "Pod templates of a MindIE job carry the job's jobID and app.",
        "ClusterD finds controller and coordinator by the labels of their pods. The scheduler "
        "joins the labels of a PodGroup and its pods; two values of one key become a value that "
        "nothing recognises.",
        "Write the job's own values in metadata.labels of every template.",
        "mind-cluster: component/clusterd/pkg/domain/epranktable, "
        "component/ascend-for-volcano/plugin/job.go. A warning, because MindIE's deploy script can "
        "make the global rank table without ClusterD.",
        mindie::CheckTemplateLabels,
    },
    {
        "MG042",
        "rank-table-both-deploy-servers",
        Severity::kError,
        Mode::kEnforce,
        schemas::kOnlyConfigMap,
        "A rank table does not carry grt-server/deploy-server and grt-group/deploy-server at once.",
        "ClusterD gives up on the whole service when one of its rank tables has both labels, so "
        "no instance ever learns about the others.",
        "Keep the one that says how the instance is deployed.",
        "mind-cluster: component/clusterd/pkg/domain/epranktable",
        mindie::CheckBothDeployServers,
    },
    {
        "MG043",
        "rank-table-deploy-server",
        Severity::kError,
        Mode::kWarn,
        schemas::kOnlyConfigMap,
        "The rank table of a MindIE server carries grt-group/deploy-server or "
        "grt-server/deploy-server.",
        "ClusterD gives up on the whole service when one of its rank tables has neither label: it "
        "tries three times and then waits until something changes.",
        "Write one of the two labels on the ConfigMap of every server job.",
        "mind-cluster: component/clusterd/pkg/domain/epranktable. A warning, because the "
        "documents and the vendor's samples lack the label, and MindIE's deploy script can make "
        "the global rank table without ClusterD.",
        mindie::CheckDeployServer,
    },
    {
        "MG044",
        "rank-table-labels",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyConfigMap,
        "The rank table of a MindIE server carries jobID, mx-consumer-cim: \"true\" and "
        "ring-controller.atlas.",
        "ClusterD collects the tables of a service by jobID and watches those with "
        "mx-consumer-cim. Without them the instance is missing from the global rank table, or a "
        "change after a fault goes unseen.",
        "Write the same three labels as on the job.",
        "mind-cluster: component/clusterd/pkg/domain/epranktable; documents of MindIE Motor. A "
        "warning, because MindIE's deploy script can make the global rank table without ClusterD. "
        "No code of the current release reads ring-controller.atlas on a ConfigMap.",
        mindie::CheckRankTableLabels,
    },
    {
        "MG045",
        "rank-table-content",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyConfigMap,
        "A new rank table holds hccl.json with status initializing.",
        "Pods wait while the status is initializing. A table that is missing or broken makes them "
        "fail, and one copied with status completed gives them and ClusterD the devices of "
        "another run.",
        "Write hccl.json: '{\"status\":\"initializing\"}' and nothing else.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go, "
        "component/clusterd/pkg/domain/epranktable. A warning, because the operator overwrites the "
        "text once it knows the devices.",
        mindie::CheckRankTableContent,
    },
    {
        "MG046",
        "rank-table-exists",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "For a MindIE server job N there is a ConfigMap rings-config-N with its jobID in its "
        "namespace.",
        "The operator fills the table only if it is there when the job starts; it never creates it "
        "and does not check again. ClusterD then leaves the instance out of the global rank table.",
        "Create the ConfigMap before the job.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go; documents of "
        "MindIE Motor. A warning, because MindIE can run on a table from elsewhere.",
        mindie::CheckRankTableExists,
    },
    {
        "MG047",
        "mindie-identity",
        Severity::kWarning,
        Mode::kWarn,
        schemas::kOnlyAscendJob,
        "A job of a MindIE service carries both jobID and app, and jobID is not empty.",
        "The operator recognises a MindIE job by the presence of both labels. With one of them it "
        "writes the variables of a training job, and ClusterD and elastic scaling do not find the "
        "job among those of its service.",
        "Write both labels in metadata.labels.",
        "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go",
        mindie::CheckIdentity,
    },
    {.id = "MG048",
     .name = "ring-controller-value",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "The label ring-controller.atlas is ascend-910, ascend-910b, ascend-310, "
                "ascend-310P or ascend-npu.",
     .why = "Most components only ask whether the label is there, but virtual NPUs are cut, and "
            "older releases make rank tables, by its exact value, in lower case but for the P.",
     .fix = "Write one of the five values.",
     .source = "mind-cluster: component/ascend-for-volcano/common/util (type.go), "
               "component/ascend-operator/pkg/controllers/v1. Only near misses are reported, and "
               "as a warning: whole cards are scheduled with any value",
     .check = mindie::CheckRingController},
    {.id = "MG049",
     .name = "scaling-rule-key",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOnlyConfigMap,
     .summary = "The data key of a scaling rule is elastic_scaling.json.",
     .why = "The operator reads this key only. In a ConfigMap that has the rule under another one "
            "it finds none, and no job under the rule gets pods.",
     .fix = "Write elastic_scaling.json: | and the rule below it.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. "
               "`mindgate apply` reports it; the webhook is not sent ConfigMaps without the key. A "
               "warning, because other programs may have a file of a similar name",
     .check = scaling::CheckRuleKey},
};

}  // namespace

std::span<const Rule> MindieRules() { return kMindieRules; }

}  // namespace mindgate::policies
