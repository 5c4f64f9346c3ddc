#include "policies/infer_operator.h"

// The operator has no admission webhook: it validates when it reconciles, writes an error to its
// log (for an InstanceSet also an Event) and creates nothing. These rules report the same mistakes
// at once.
namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::Mode;

constexpr KindSet kSet = {Kind::kInferServiceSet};
constexpr KindSet kInferWithRoles = {Kind::kInferServiceSet, Kind::kInferService};
constexpr KindSet kInstanceSet = {Kind::kInstanceSet};
constexpr KindSet kAll = schemas::kInferOperatorKinds;

constexpr std::string_view kSetSource =
    "mind-cluster: component/infer-operator/pkg/controller/v1/inferserviceset_controller.go";
constexpr std::string_view kServiceSource =
    "mind-cluster: component/infer-operator/pkg/controller/v1/inferservice_controller.go";
constexpr std::string_view kInstanceSource =
    "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go";

constexpr Rule kInferOperatorRules[] = {
    {.id = "MG140",
     .name = "infer-set-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kSet,
     .summary = "An InferServiceSet makes 1 to 64 InferServices.",
     .why = "Outside that range the operator's validation fails and is retried forever, and "
            "nothing of the set is created or changed. 0 does not stop a set.",
     .fix = "Write replicas from 1 to 64; delete the set to stop it.",
     .source = kSetSource,
     .check = infer::CheckSetReplicas},
    {.id = "MG141",
     .name = "infer-role-count",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kInferWithRoles,
     .summary = "A service has at most 32 roles.",
     .why = "With more the operator's validation of the InferService fails and none of the roles "
            "is created.",
     .fix = "Split the service.",
     .source = kServiceSource,
     .check = infer::CheckRoleCount},
    {.id = "MG142",
     .name = "infer-role-name",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kInferWithRoles,
     .summary = "Each role has a unique name that is a DNS label.",
     .why = "The name becomes part of InstanceSets, Services and labels. One bad name fails the "
            "validation of the whole InferService, and none of its roles is created.",
     .fix = "Use lower-case letters, digits and '-', at most 63 characters.",
     .source = kServiceSource,
     .check = infer::CheckRoleNames},
    {.id = "MG143",
     .name = "infer-scheduling-strategy",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kInferWithRoles,
     .summary = "schedulingStrategy.type is Parallel, Priority or left out.",
     .why = "Nothing checks the value when the service is created. Every InstanceSet then fails "
            "with \"unknown scheduling strategy\", and no instance is started.",
     .fix = "Write Parallel or Priority.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/schedule/"
               "priority_scheduling.go",
     .check = infer::CheckStrategy},
    {.id = "MG144",
     .name = "infer-priority",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kInferWithRoles,
     .summary = "With strategy Priority each role's priority is 1 to 32.",
     .why = "The documents say 1 to 32, the operator's validation accepts 256. 33 is its internal "
            "mark for \"all roles are ready\": a role of 33 or more never starts, and no error is "
            "reported.",
     .fix = "Write 1 for the role that starts first, up to 32; left out counts as 32.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/schedule/"
               "priority_scheduling.go (AllReadyPriority); the documents and the validation "
               "disagree, and only 1 to 32 works",
     .check = infer::CheckPriority},
    {.id = "MG145",
     .name = "infer-workload-kind",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "The workload of a role is a Deployment or a StatefulSet of apps/v1.",
     .why = "The operator has handlers for these two only. For anything else it writes an Event "
            "and creates nothing.",
     .fix = "Write workload: {apiVersion: apps/v1, kind: Deployment} or StatefulSet.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/workload/"
               "workload_reconciler.go",
     .check = infer::CheckWorkloadKind},
    {.id = "MG146",
     .name = "infer-workload-spec",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "The spec of a role is a complete Deployment or StatefulSet spec, with a selector "
                "that matches its pod template.",
     .why = "The CRD has no schema for it, so every mistake is accepted and appears later, when "
            "the operator decodes the spec or Kubernetes refuses the workload.",
     .fix = "Write selector.matchLabels, and a template with the same labels and its containers.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/workload/"
               "{deployment,statefulset}_handler.go; Kubernetes API reference, DeploymentSpec",
     .check = infer::CheckWorkloadSpec},
    {.id = "MG147",
     .name = "infer-role-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "Each role says how many instances it has, 0 or more.",
     .why = "Neither CRD nor operator fill in a default. The InstanceSet's validation fails with "
            "an Event and is not even retried.",
     .fix = "Write replicas beside the role's name; spec.replicas counts pods of one instance.",
     .source = kInstanceSource,
     .check = infer::CheckRoleReplicas},
    {.id = "MG148",
     .name = "infer-role-replicas-limit",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = kAll,
     .summary = "A role has at most 256 instances.",
     .why = "The operator is specified for 256 instances of a role. It does not check the number, "
            "so more may work, slowly.",
     .fix = "Split the role.",
     .source = "mind-cluster: component/infer-operator/pkg/common/constant.go (MaxRoleReplicas); "
               "the code does not compare it with replicas, hence a warning",
     .check = infer::CheckRoleReplicasLimit},
    {.id = "MG149",
     .name = "infer-instance-set-labels",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kInstanceSet,
     .summary = "An InstanceSet carries the labels of its service and of its role.",
     .why = "The operator names workloads after infer.huawei.com/inferservice-name and "
            "infer.huawei.com/instanceset-name. Without them it writes an Event and does nothing.",
     .fix = "Let an InferService make InstanceSets, or add both labels.",
     .source = kInstanceSource,
     .check = infer::CheckInstanceSetLabels},
    {.id = "MG150",
     .name = "infer-node-port",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "Each port of a NodePort service names its nodePort.",
     .why = "The operator adds the index of the InferService to the nodePort and therefore cannot "
            "leave the choice to Kubernetes. It refuses the role.",
     .fix = "Write nodePort in every port.",
     .source = kInstanceSource,
     .check = infer::CheckNodePorts},
    {.id = "MG151",
     .name = "infer-node-port-clash",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "NodePorts of one set are as far apart as the set has replicas.",
     .why = "InferService i of a set uses nodePort + i. With 30000 and 30001 in one set of two, "
            "the second InferService wants a port that the first has, Kubernetes refuses its "
            "Service, and that role never starts.",
     .fix = "Leave room for all replicas between nodePorts.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/"
               "instanceset_controller.go (handleConflictNodePort); Kubernetes documentation, "
               "Service type NodePort",
     .check = infer::CheckNodePortClash},
    {.id = "MG152",
     .name = "infer-node-port-range",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = kAll,
     .summary = "NodePorts, including those of all replicas, stay within the cluster's range.",
     .why = "InferService i of a set uses nodePort + i. Ports outside the API server's "
            "service-node-port-range are refused, and for the last replicas only after the first "
            "ones run.",
     .fix = "Choose nodePorts that leave room for all replicas below 32768.",
     .source = "Kubernetes documentation, Service type NodePort. The range is a flag of the API "
               "server, hence a warning",
     .check = infer::CheckNodePortRange},
    {.id = "MG153",
     .name = "infer-node-port-name",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = {Kind::kInferService, Kind::kInstanceSet},
     .summary =
         "A standalone InferService with a NodePort service has a name that ends in a number.",
     .why = "The operator takes what follows the last '-' of the name as the index that it adds to "
            "nodePorts. If that is not a number, reconciling fails and no instance is created.",
     .fix = "Name it like chat-0, or use an InferServiceSet.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/"
               "instanceset_controller.go (handleConflictNodePort)",
     .check = infer::CheckNodePortName},
    {.id = "MG154",
     .name = "infer-workload-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = kAll,
     .summary = "A gang and a StatefulSet say how many pods one instance has.",
     .why = "The operator computes the PodGroup from spec.replicas and refuses to make a "
            "StatefulSet without it. The object looks accepted, and no pod appears.",
     .fix = "Write spec.replicas of the role.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/workload/"
               "{statefulset,deployment}_handler.go; some versions count a missing value as 1, "
               "hence a warning",
     .check = infer::CheckWorkloadReplicas},
    {.id = "MG155",
     .name = "infer-gang-order",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "A StatefulSet under infer.huawei.com/gang-schedule starts its pods in parallel.",
     .why = "The PodGroup wants all pods of the instance. An ordered StatefulSet makes the second "
            "pod when the first is ready, and the first waits for the gang: neither ever starts.",
     .fix = "Write podManagementPolicy: Parallel. The field cannot be changed later.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/workload/"
               "podgroup_manager.go; Kubernetes documentation, StatefulSet pod management policies",
     .check = infer::CheckGangOrder},
    {.id = "MG156",
     .name = "infer-scaling-policy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = kAll,
     .summary = "scalingPolicy.type is HPA.",
     .why = "Released versions create a HorizontalPodAutoscaler for HPA and know no other type: "
            "with another one nothing scales and the status stays not ready.",
     .fix = "Write type: HPA, or remove scalingPolicy.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/scaling/scaling_manager.go; "
               "development versions add types, hence a warning",
     .check = infer::CheckScalingPolicy},
    {.id = "MG157",
     .name = "infer-fault-scheduling",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = kAll,
     .summary = "Roles that should recover by instance use fault-scheduling external-force or "
                "external-grace.",
     .why = "With force or grace Volcano deletes pods by itself, which is fine for instances of "
            "one pod. infer-operator's recovery of a whole instance, with its order of priorities, "
            "starts only for the external values, and for failed processes only while "
            "fault-retry-times lasts.",
     .fix =
         "Write fault-scheduling: \"external-force\" in the labels of the pod template (mindgate "
         "injects it), and fault-retry-times beside it if failed processes count.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/rescheduling; force also "
               "works, hence only recorded",
     .check = infer::CheckFaultScheduling},
    {.id = "MG158",
     .name = "infer-derived-names",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = kAll,
     .summary = "Names of service and role leave room for the names made from them.",
     .why = "The operator makes <service>-<role>-<n> and service-<service>-<role>-<n>. A "
            "StatefulSet of more than 52 characters cannot make pods, a Service of more than 63 is "
            "refused.",
     .fix = "Shorten the names.",
     .source = "mind-cluster: component/infer-operator/pkg/common/utils.go; Kubernetes "
               "documentation, object names and label values (issue 64023)",
     .check = infer::CheckDerivedNames},
    {.id = "MG159",
     .name = "infer-strategy-sequential",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = kInferWithRoles,
     .summary = "The strategy that starts all roles at once is called Parallel.",
     .why = "Early development versions called it Sequential. Releases do not know that name and "
            "start no instance.",
     .fix = "Write Parallel, or leave schedulingStrategy out.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/schedule/"
               "priority_scheduling.go, before Parallel replaced Sequential; hence a warning",
     .check = infer::CheckStrategySequential},
};

}  // namespace

std::span<const Rule> InferOperatorRules() { return kInferOperatorRules; }

}  // namespace mindgate::policies
