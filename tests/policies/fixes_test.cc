#include <optional>

#include "support/fix_cases.h"
#include "support/npu_manifests.h"

// Every fix is tried: broken manifest, finding, manifest with the fix in it, and then silence.
namespace mindgate::testing {
namespace {

const std::string kTemplateMetadata = "/spec/template/metadata";
const std::string kLabelAt = kTemplateMetadata + "/labels/";
const std::string kAnnotationAt = kTemplateMetadata + "/annotations/huawei.com~1";
const std::string kFirstContainer = "/spec/template/spec/containers/0";

std::string Labelled(const std::string& labels) { return Deployment({.labels = labels}); }
std::string Annotated(const std::string& annotations) {
  return Deployment({.annotations = annotations});
}
std::string JobOf(const std::string& annotations, const std::string& labels = "") {
  return AscendJob(annotations, "framework: pytorch" + (labels.empty() ? "" : ", " + labels),
                   "Master", {}, {});
}
std::string K(const std::string& size) {
  return "huawei.com/schedule_minAvailable: '" + size + "'";
}

const std::string kAnnotationOfRole =
    "/template/metadata/annotations/huawei.com~1schedule_minAvailable";

std::string RoleSetWith(const std::string& roles) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, spec: "
         "{roles: [" +
         roles + "]}}";
}
std::string AibrixRole(const std::string& fields, const NpuPod& pod) {
  return "{" + fields + ", template: " + PodTemplate(pod) + "}";
}
// Two roles of so many pods, with these annotations on both.
std::string RoleSetOf(int prefill, int decode, const std::string& annotations) {
  const NpuPod pod{.annotations = annotations};
  return RoleSetWith(AibrixRole("name: prefill, replicas: " + std::to_string(prefill), pod) + ", " +
                     AibrixRole("name: decode, replicas: " + std::to_string(decode), pod));
}
// The manifest with one text in it replaced, which must be there.
std::string WithText(std::string manifest, const std::string& old, const std::string& now) {
  const size_t at = manifest.find(old);
  EXPECT_NE(at, std::string::npos) << old << " is not in " << manifest;
  return at == std::string::npos ? manifest : manifest.replace(at, old.size(), now);
}
std::string ServiceOfRuntime(const std::string& spec) {
  return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s}, spec: "
         "{runtime: {name: r}, " +
         spec + "}}";
}

std::vector<FixCase> FaultCases() {
  return {
      {"MG050", Labelled("fault-scheduling: Force")},
      {"MG050", Labelled("fault-scheduling: 'yes'")},
      {"MG050",
       "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: p, labels: "
       "{fault-scheduling: Force}}, spec: {minMember: 2}}"},
      {"MG051", Labelled("fault-scheduling: force, pod-rescheduling: 'On'")},
      {"MG052", Labelled("fault-scheduling: force, subHealthyStrategy: forceexit")},
      {"MG053", Labelled("fault-scheduling: force, fault-retry-times: three")},
      {"MG054", JobOf("", "fault-scheduling: grace, process-recover-enable: 'On'")},
      {"MG059", Deployment({.annotations = "huawei.com/recover_policy_path: pods",
                            .labels = "fault-scheduling: force, pod-rescheduling: 'on'"})},
      {"MG060",
       Deployment({.annotations = "huawei.com/recover_policy_path: pod",
                   .labels = "fault-scheduling: force"}),
       "",
       {},
       true},
      {"MG061", Annotated("wait-reschedule-timeout: '500'")},
      {"MG063", JobOf("recover-strategy: 'recover, dump'", "fault-scheduling: grace")},
      {"MG065", JobOf("", "tor-affinity: large-model")},
      {"MG066",
       Annotated("scheduling.k8s.io/group-name: mine"),
       "remove the annotation",
       {{kTemplateMetadata + "/annotations/scheduling.k8s.io~1group-name"}}},
      {"MG067",
       Labelled("fault-schedule: force"),
       "write the label fault-scheduling",
       {{kLabelAt + "fault-schedule"}, {kLabelAt + "fault-scheduling", "force"}}},
      {"MG187", Labelled("fault-scheduling: force, subHealthyStrategy: hotSwitch")},
      {"MG188", JobOf("recover-strategy: recover", "fault-scheduling: force")},
  };
}

std::vector<FixCase> GangCases() {
  return {
      {"MG070", Annotated(K("two"))},
      {"MG071",
       StatefulSet({.annotations = K("2")}, 2),
       "write podManagementPolicy: \"Parallel\" in the StatefulSet's spec",
       {{"/spec/podManagementPolicy", "Parallel"}}},
      {"MG071",
       StatefulSet({.annotations = K("2")}, 2),
       "huawei.com/schedule_minAvailable: \"1\"",
       {{kAnnotationAt + "schedule_minAvailable", "'1'"}}},
      {"MG075", VolcanoJob("", {.annotations = K("5")}, {.annotations = K("5")})},
      {"MG076", Deployment({.annotations = K("3")}, 2)},
      {.rule = "MG195",
       .broken = Deployment({.annotations = K("4")}, 4),
       .others = {"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, "
                  "namespace: ns}, spec: {minReplicas: 2, maxReplicas: 8, scaleTargetRef: "
                  "{apiVersion: apps/v1, kind: Deployment, name: d}}}"}},
      {"MG077",
       Deployment({.annotations = K("2")}, 2),
       "write type: \"Recreate\"",
       {{"/spec/strategy", "{type: Recreate}"}}},
      {.rule = "MG172",
       .broken = Deployment(
           {.annotations = K("2"),
            .labels = "mind-cluster/scaling-rule: r, mind-cluster/group-name: g, jobID: j"}),
       .elastic_scaling = schemas::EnforcementMode::kEnforce},
      {"MG177",
       RoleSetOf(2, 1, K("2")),
       "write huawei.com/schedule_minAvailable: \"3\"",
       {{"/spec/roles/0" + kAnnotationOfRole, "'3'"},
        {"/spec/roles/1" + kAnnotationOfRole, "'3'"}}},
  };
}

std::vector<FixCase> ChipCases() {
  const std::string block = "sp-block: '24', " + kPolicy + "chip2-node16-sp";
  const NpuPod none{.chips = ""};
  const NpuPod whole{.chips = "16"};
  const auto mixed = [&](const std::string& policy, const NpuPod& pod) {
    return AscendJob(kPolicy + policy, "framework: pytorch", "Master", none, pod, 2);
  };
  const std::string master = "/spec/replicaSpecs/Master/template/spec/containers/0/resources";
  return {
      {"MG080",
       Deployment({.chips = "3"}),
       "request 1, 2, 4",
       {{kFirstContainer + "/resources/limits/huawei.com~1Ascend910", "4"},
        {kFirstContainer + "/resources/requests/huawei.com~1Ascend910", "4"}}},
      {"MG082", mixed("chip2-node16", whole)},
      {"MG082", mixed("chip2-node16-sp", whole)},
      {"MG082",
       mixed("chip8-node8-sp", {.chips = "8", .resource = "huawei.com/npu"}),
       "request the 8 chips of a node for them",
       {{master, "{limits: {huawei.com/npu: 8}, requests: {huawei.com/npu: 8}}"}}},
      {"MG084",
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
       "{containers: [{name: m, resources: {requests: {huawei.com/Ascend910: 4}, limits: "
       "{huawei.com/Ascend910: 8}}}]}}}}",
       "the same whole number under limits and requests",
       {{kFirstContainer + "/resources/requests/huawei.com~1Ascend910", "8"}}},
      {"MG086", Annotated(kPolicy + "chip8-nod8")},
      {"MG088", Deployment({.chips = "16", .selector = "accelerator-type: module-910c-8"})},
      {"MG088", Deployment({.selector = "accelerator-type: module-910b"})},
      {"MG090", Deployment({.chips = "16", .annotations = block})},
      {.rule = "MG090",
       .broken =
           ServiceOfRuntime("engine: {minReplicas: 2, annotations: {sp-block: '24'}, nodeSelector: "
                            "{accelerator-type: module-a3-16-super-pod}}"),
       .others = {ServingRuntime({.chips = "16"})}},
      {"MG093",
       Deployment(
           {.resource = "huawei.com/npu",
            .annotations = "sp-block: '8', ra-block: '7', " + kPolicy + "chip8-node8-ra64-sp"}),
       "",
       {{kTemplateMetadata + "/annotations/ra-block"}}},
      {"MG101", Deployment({.selector = "host-arch: arm64"})},
      {"MG102", Deployment({.selector = "accelerator: huawei-ascend910"})},
      {"MG109",
       Deployment({.resource = "huawei.com/Ascend-910"}),
       "write huawei.com/Ascend910",
       {{kFirstContainer + "/resources/limits", "{huawei.com/Ascend910: 8}"},
        {kFirstContainer + "/resources/requests", "{huawei.com/Ascend910: 8}"}}},
      {"MG162", ServingRuntime({.chips = "16",
                                .annotations = "sp-block: '32'",
                                .selector = "accelerator-type: module-a3-16-super-pod"})},
      {"MG185",
       Deployment({.chips = "4",
                   .annotations = kPolicy + "multilevel, huawei.com/affinity-config: level1=1"}),
       "request 8 or 16",
       {{kFirstContainer + "/resources",
         "{limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: 8}}"}}},
  };
}

std::vector<FixCase> WiringCases() {
  return {
      {"MG180",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, labels: "
       "{framework: pytorch}}, spec: {schedulerName: volcano, replicaSpecs: {Master: {replicas: 1, "
       "template: {spec: {containers: [{name: ascend, image: a, resources: {limits: "
       "{huawei.com/Ascend910: 8}}}]}}}}}}",
       "write huawei.com/Ascend910: 8 under requests too",
       {{"/spec/replicaSpecs/Master/template/spec/containers/0/resources/requests",
         "{huawei.com/Ascend910: 8}"}},
       true},
      {"MG175",
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: train, labels: "
       "{ring-controller.atlas: ascend-910b}}, spec: {replicas: 2, template: {metadata: {labels: "
       "{deploy-name: mindx-dls-test}}, spec: {volumes: [{name: ranktable, configMap: {name: "
       "rings-config-train}}], containers: [{name: ascend, resources: {requests: "
       "{huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: 8}}}]}}}}"},
      {"MG191",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, labels: "
       "{fault-scheduling: force}}, spec: {schedulerName: volcano, minAvailable: 2, policies: "
       "[{event: PodEvicted, action: AbortJob}], tasks: [{name: a, replicas: 2, template: " +
           PodTemplate({}) + "}]}}",
       "action: RestartJob",
       {{"/spec/policies/0/action", "RestartJob"}}},
      {"MG134",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, labels: "
       "{fault-scheduling: force, pod-rescheduling: 'on'}}, spec: {schedulerName: volcano, "
       "minAvailable: 2, policies: [{event: PodEvicted, action: RestartPartition}], tasks: [{name: "
       "a, replicas: 2, template: " +
           PodTemplate({}) + "}]}}",
       "action: RestartPod",
       {{"/spec/policies/0/action", "RestartPod"}}},
  };
}

std::vector<FixCase> JobCases() {
  const std::string policies = "schedulerName: volcano, minAvailable: 2, ";
  const auto tasks = [](const std::string& first, const std::string& second) {
    return "tasks: [{" + first + "replicas: 1, template: " + PodTemplate({}) + "}, {" + second +
           "replicas: 1, template: " + PodTemplate({.chips = ""}) + "}]";
  };
  const auto job = [](const std::string& spec) {
    return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v}, spec: {" +
           spec + "}}";
  };
  const auto ascend = [](const std::string& spec) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: j, labels: "
           "{framework: pytorch}}, spec: {" +
           spec + ", replicaSpecs: {Master: {replicas: 1, template: " + PodTemplate({}, true) +
           "}}}}";
  };
  return {
      {"MG016",
       ascend("schedulerName: volcano, successPolicy: Some"),
       "remove",
       {{"/spec/successPolicy"}}},
      {"MG130",
       job("schedulerName: volcano, minAvailable: 3, " + tasks("name: a, ", "name: b, ")),
       "",
       {{"/spec/minAvailable", "2"}}},
      {"MG133", job(policies + tasks("", ""))},
      {"MG133", job(policies + tasks("name: worker, ", ""))},
      {"MG193",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, labels: "
       "{fault-scheduling: force, fault-retry-times: '10'}}, spec: {schedulerName: volcano, "
       "minAvailable: 2, maxRetry: 3, policies: [{event: PodEvicted, action: RestartJob}], tasks: "
       "[{name: a, replicas: 2, template: " +
           PodTemplate({}) + "}]}}"},
      {"MG190",
       ascend("schedulerName: volcano, runPolicy: {schedulingPolicy: {queue: default, "
              "minResources: {cpu: 1}}}"),
       "leave",
       {{"/spec/runPolicy/schedulingPolicy/minResources"}}},
      {"MG181",
       "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, "
       "spec: "
       "{leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {schedulerName: volcano, "
       "containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}",
       "write huawei.com/Ascend910: 8 under requests too",
       {{"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources/requests",
         "{huawei.com/Ascend910: 8}"}},
       true},
  };
}

std::string RoleOfInferOperator(const std::string& fields) {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: chat}, "
         "spec: {replicas: 2, template: {roles: [{name: p, replicas: 1, workload: {apiVersion: "
         "apps/v1, kind: StatefulSet}, " +
         fields +
         "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
         "b, fault-scheduling: external-force}}, spec: {schedulerName: volcano, containers: "
         "[{name: c, resources: {requests: {huawei.com/Ascend910: 8}, limits: "
         "{huawei.com/Ascend910: 8}}}]}}}}]}}}";
}

std::vector<FixCase> InferCases() {
  const auto role = RoleOfInferOperator;
  const auto ports = [](const std::string& items) {
    return "services: [{name: web, spec: {type: NodePort, ports: [" + items + "]}}], ";
  };
  return {
      {"MG150", role(ports("{port: 80}, {port: 81}"))},
      {"MG150", role(ports("{port: 80, nodePort: 30001}, {port: 81}"))},
      {"MG156",
       role("scalingPolicy: {type: VPA}, "),
       "",
       {{"/spec/template/roles/0/scalingPolicy"}}},
      {"MG178",
       role("scalingPolicy: {type: HPA, spec: {minReplicas: 1}}, "),
       "write maxReplicas: 1 or more",
       {{"/spec/template/roles/0/scalingPolicy/spec/maxReplicas", "4"}}},
      {"MG192", role("metadata: {labels: {infer.huawei.com/gang-schedule: 'True'}}, ")},
      {"MG140",
       "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: c}, spec: "
       "{replicas: 0, template: {roles: []}}}",
       "",
       {{"/spec/replicas", "1"}}},
  };
}

std::vector<FixCase> PodCases() {
  const std::string queue = "scheduling.volcano.sh/queue-name: research";
  return {
      {"MG095",
       Annotated(kPolicy + "multilevel, huawei.com/affinity-config: 'level1=1, level2=1'")},
      {"MG184",
       Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, value: '0'}, {name: "
                          "ASCEND_VISIBLE_DEVICES, value: '1'}"}),
       "",
       {{kFirstContainer + "/env"}}},
      {"MG186",
       Deployment(
           {.chips = "2",
            .resource = "huawei.com/npu-core",
            .labels = "ring-controller.atlas: ascend-310P, vnpu-dvpp: 'yes', vnpu-level: low"}),
       "",
       {{kLabelAt + "vnpu-dvpp"}, {kLabelAt + "vnpu-level"}}},
      {"MG194", LeaderWorkerSet({.annotations = queue}, {.annotations = queue}, 2)},
      {"MG056",
       Labelled("pod-rescheduling: 'on'"),
       "fault-scheduling",
       {{kLabelAt + "fault-scheduling", "force"}},
       true},
      {"MG078",
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, annotations: "
       "{scheduling.volcano.sh/group-min-member: '2'}}, spec: {replicas: 2, template: " +
           PodTemplate({}) + "}}",
       "remove",
       {{"/metadata/annotations/scheduling.volcano.sh~1group-min-member"}},
       true},
  };
}

std::vector<FixCase> MoreFaultCases() {
  const NpuPod retries{.labels = "fault-scheduling: force, fault-retry-times: '3'"};
  const std::string fault = kLabelAt + "fault-scheduling";
  return {
      {"MG055", VolcanoJob("", retries, retries)},
      {"MG057",
       VolcanoJob("", {.labels = "fault-scheduling: force"}, {.labels = "fault-scheduling: grace"}),
       "such as \"force\"",
       {{"/spec/tasks/1/template/metadata/labels/fault-scheduling", "force"}}},
      {"MG058",
       RoleSetWith(AibrixRole("name: decode, replicas: 1, podGroupSize: 2",
                              {.labels = "fault-scheduling: force, pod-rescheduling: 'on'"})),
       "remove the label",
       {{"/spec/roles/0/template/metadata/labels/pod-rescheduling"}}},
      {"MG062",
       Annotated("huawei.com/schedule.filter.faultCode: ':60'"),
       "80E01801:60",
       {{kTemplateMetadata + "/annotations/huawei.com~1schedule.filter.faultCode",
         "'80E01801:60'"}}},
      {"MG064", Labelled("fault-scheduling: external-force")},
      {"MG068",
       WithText(Deployment({}), "metadata: {name: d}",
                "metadata: {name: d, labels: {fault-scheduling: grace}}"),
       "move it to spec.template.metadata.labels",
       {{"/metadata/labels"}, {fault, "grace"}}},
      {"MG069",
       JobOf("",
             "jobID: a, app: mindie-ms-controller, fault-scheduling: force, pod-rescheduling: "
             "'on'"),
       "remove the label",
       {{"/metadata/labels/pod-rescheduling"}}},
      {"MG072",
       LeaderWorkerSet({.annotations = K("4")}, {}, 2),
       "remove the annotation",
       {{"/spec/leaderWorkerTemplate/leaderTemplate/metadata/annotations"}}},
      {"MG073",
       ServingRuntime({.annotations = K("2")}),
       "move it to engine and decoder of each InferenceService",
       {{"/spec/engineConfig/annotations"}}},
      {"MG074",
       RoleSetWith(AibrixRole("name: p, replicas: 2", {.annotations = K("3")}) + ", " +
                   AibrixRole("name: d, replicas: 1", {.annotations = K("2")})),
       "write the same number for all pods",
       {{"/spec/roles/1" + kAnnotationOfRole, "'3'"}}},
      {"MG137",
       WithText(LeaderWorkerSet({.labels = "fault-scheduling: force"},
                                {.labels = "fault-scheduling: force"}, 2),
                "{size: ", "{restartPolicy: None, size: "),
       "or leave it out",
       {{"/spec/leaderWorkerTemplate/restartPolicy"}}},
  };
}

std::vector<FixCase> PlaceCases() {
  const std::string resources = kFirstContainer + "/resources";
  const std::string eight =
      "{limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: 8}}";
  return {
      {"MG002",
       WithText(Deployment({}), "metadata: {name: d}",
                "metadata: {name: d, labels: {mindgate.io/inject: 'yes'}}"),
       "",
       {{"/metadata/labels/mindgate.io~1inject", "enabled"}}},
      {"MG004", Deployment({.scheduler = "vocano"})},
      {"MG007",
       Deployment({.resource = "Ascend910"}),
       "write huawei.com/Ascend910",
       {{resources, eight}}},
      {"MG008",
       WithText(Deployment({}), "nodeSelector: {", "nodeName: a, nodeSelector: {"),
       "remove nodeName",
       {{"/spec/template/spec/nodeName"}}},
      {"MG081",
       Deployment({.chips = "16", .annotations = kPolicy + "chip2-node8"}),
       "",
       {{resources, eight}}},
      {"MG083",
       VolcanoJob("", {}, {.chips = "1", .resource = "huawei.com/Ascend310P"}),
       "",
       {{"/spec/tasks/1/template/spec/containers/0/resources", eight}}},
      {"MG085",
       Deployment({.resource = "huawei.com/npu"}),
       "write huawei.com/schedule_policy: chip8-node8",
       {{kAnnotationAt + "schedule_policy", "chip8-node8"}}},
      {"MG089",
       RoleSetWith(AibrixRole("name: p, replicas: 1", {.annotations = kPolicy + "chip8-node8"}) +
                   ", " +
                   AibrixRole("name: d, replicas: 1", {.annotations = kPolicy + "chip4-node8"})),
       "write the same value on every pod template",
       {{"/spec/roles/1/template/metadata/annotations/huawei.com~1schedule_policy",
         "chip8-node8"}}},
      {"MG092",
       Annotated("sp-block: '8', " + kPolicy + "chip8-node8"),
       "leave it out",
       {{kTemplateMetadata + "/annotations/sp-block"}}},
      {"MG100",
       Deployment({.selector = "schedulerName: volcano"}),
       "indent schedulerName like nodeSelector",
       {{"/spec/template/spec/nodeSelector/schedulerName"},
        {"/spec/template/spec/schedulerName", "volcano"}}},
      {"MG103",
       Deployment({.env = "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: "
                          "\"metadata.annotations['huawei.com/Ascend310P']\"}}}"}),
       "",
       {{kFirstContainer + "/env"}}},
      {"MG106",
       Deployment({.chips = "2", .resource = "huawei.com/Ascend310P-2c"}),
       "request one huawei.com/Ascend310P-2c",
       {{resources,
         "{limits: {huawei.com/Ascend310P-2c: 1}, requests: {huawei.com/Ascend310P-2c: 1}}"}}},
      {"MG107",
       Deployment({.chips = "3",
                   .resource = "huawei.com/npu-core",
                   .labels = "ring-controller.atlas: ascend-310P"}),
       "write 1, 2, 4",
       {{resources, "{limits: {huawei.com/npu-core: 2}, requests: {huawei.com/npu-core: 2}}"}}},
      {"MG108",
       Deployment({.annotations = kPolicy + "chip1-softShareDev"}),
       "",
       {{kLabelAt + "huawei.com~1scheduler.softShareDev.aicoreQuota", "'50'"},
        {kLabelAt + "huawei.com~1scheduler.softShareDev.hbmQuota", "'1024'"},
        {kLabelAt + "huawei.com~1scheduler.softShareDev.policy", "elastic"}}},
      {"MG173",
       WithText(Deployment({}), "env: [", "securityContext: {privileged: true}, env: ["),
       "",
       {{kFirstContainer + "/securityContext"}}},
      {"MG174",
       WithText(Deployment({}), "nodeSelector: {",
                "volumes: [{name: m, hostPath: {path: /mnt}}], nodeSelector: {"),
       "",
       {{"/spec/template/spec/volumes/0/hostPath/path", "/mnt/models"}}},
      {"MG176",
       WithText(WithText(VolcanoJob("", {}, {}), "name: v,", "name: 7b-chat,"), "spec: {",
                "spec: {plugins: {svc: []}, "),
       "write a name that begins with a letter",
       {{"/metadata/name", "chat-7b"}}},
      {"MG182",
       Deployment({.scheduler = "hami-scheduler"}),
       "request whole cards of MindCluster alone",
       {{"/spec/template/spec/schedulerName", "volcano"}}},
      {"MG183",
       Deployment({.resource = "huawei.com/Ascend910B4-1"}),
       "write huawei.com/Ascend910",
       {{resources, eight}}},
      {"MG169",
       "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 1, nodePort: "
       "31015}]}}",
       "or leave it out",
       {{"/spec/ports/0/nodePort"}}},
      {"MG170",
       "{apiVersion: v1, kind: Service, metadata: {name: mindie-ms-coordinator}, spec: {}}",
       "",
       {{"/metadata/name", "chat-coordinator"}}},
  };
}

std::vector<FixCase> OmeCases() {
  const std::vector<std::string> runtime = {ServingRuntime({})};
  const std::string component =
      "{schedulerName: volcano, runner: {name: d, image: a:1, resources: {requests: "
      "{huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: 8}}}}, ";
  const std::string external = ServiceOfRuntime("engine: {minReplicas: 2, annotations: {" + K("2") +
                                                ", ome.io/autoscalerClass: external}}");
  const NpuPod super_pod{.chips = "16", .annotations = kPolicy + "chip2-node16-sp"};
  return {
      {.rule = "MG079",
       .broken = external,
       .advises = "let OME scale the component",
       .edits = {{"/spec/engine/annotations/ome.io~1autoscalerClass"}},
       .others = runtime},
      {.rule = "MG079",
       .broken = external,
       .advises = "remove the annotation",
       .edits = {{"/spec/engine/annotations/huawei.com~1schedule_minAvailable"}},
       .others = runtime},
      {.rule = "MG110",
       .broken = ServiceOfRuntime("decoder: {minReplicas: 1}"),
       .advises = "engine: {minReplicas: 1}",
       .edits = {{"/spec/engine", "{minReplicas: 1}"}},
       .others = runtime},
      {.rule = "MG111",
       .broken = ServiceOfRuntime("engine: {minReplicas: 1}"),
       .advises = "decoder: {minReplicas: 1}",
       .edits = {{"/spec/decoder", "{minReplicas: 1}"}},
       .others = {ServingRuntime({}, "decoderConfig: " + component)}},
      {.rule = "MG112",
       .broken = ServiceOfRuntime("engine: {minReplicas: 1}, decoder: {minReplicas: 1}"),
       .advises = "router: {minReplicas: 1}",
       .edits = {{"/spec/router", "{minReplicas: 1}"}},
       .others = {ServingRuntime(
           {}, "decoderConfig: " + component + "routerConfig: {runner: {name: r, image: a}}, ")}},
      {.rule = "MG114",
       .broken = ServiceOfRuntime("engine: {minReplicas: 1, runner: {image: a:2}}"),
       .advises = "name: engine",
       .edits = {{"/spec/engine/runner/name", "engine"}},
       .others = runtime},
      {.rule = "MG115",
       .broken = ServiceOfRuntime("engine: {minReplicas: 0}"),
       .advises = "write minReplicas: 1",
       .edits = {{"/spec/engine/minReplicas", "1"}},
       .others = runtime},
      {.rule = "MG116",
       .broken = ServiceOfRuntime("engine: {minReplicas: 1, leader: " + component +
                                  "worker: " + component + "}"),
       .advises = "worker: {size: 1}",
       .edits = {{"/spec/engine/worker/size", "1"}},
       .others = runtime},
      {"MG117",
       ServingRuntime({}, "schedulerName: volcano, "),
       "write it in spec.engineConfig",
       {{"/spec/schedulerName"}}},
      {"MG118",
       ServingRuntime({.annotations = "ome.io/volcano-queue: q"}),
       "write scheduling.volcano.sh/queue-name: \"q\"",
       {{"/spec/engineConfig/annotations/scheduling.volcano.sh~1queue-name", "q"}}},
      {"MG119",
       WithText(ServingRuntime({}), "engineConfig: {", "engineConfig: {minReplicas: 2, "),
       "write minReplicas in the InferenceService",
       {{"/spec/engineConfig/minReplicas"}}},
      {.rule = "MG165",
       .broken =
           WithText(ServiceOfRuntime("engine: {minReplicas: 1}"), "{name: r}", "{name: chats}"),
       .advises = "write spec.runtime.name: chat",
       .edits = {{"/spec/runtime/name", "chat"}},
       .others = {WithText(ServingRuntime({}), "{name: r}", "{name: chat}")}},
      {.rule = "MG179",
       .broken = ServiceOfRuntime(
           "engine: {runner: {name: engine, resources: {requests: {huawei.com/Ascend910: 4}}}}"),
       .others = runtime},
      {.rule = "MG189",
       .broken = ServiceOfRuntime("engine: {minReplicas: 2, annotations: {sp-block: '32', " +
                                  K("2") + "}}"),
       .others = {ServingRuntime(super_pod)}},
  };
}

std::vector<FixCase> MoreInferCases() {
  const std::string roles = "template: {roles";
  const auto strategy = [&](const std::string& type, const std::string& fields) {
    return WithText(RoleOfInferOperator(fields), roles,
                    "template: {schedulingStrategy: {type: " + type + "}, roles");
  };
  const std::string at = "/spec/template/roles/0/";
  const std::string type_at = "/spec/template/schedulingStrategy/type";
  const std::string plain = RoleOfInferOperator("");
  return {
      {"MG142", WithText(plain, "{name: p,", "{name: P,"), "lower-case", {{at + "name", "p"}}},
      {"MG143", strategy("Paralel", ""), "write type: Parallel", {{type_at, "Parallel"}}},
      {"MG144", strategy("Priority", "priority: 40, "), "", {{at + "priority", "2"}}},
      {"MG145",
       WithText(plain, "kind: StatefulSet}", "kind: DaemonSet}"),
       "write workload: {apiVersion: apps/v1, kind: StatefulSet}",
       {{at + "workload", "{apiVersion: apps/v1, kind: StatefulSet}"}}},
      {"MG146",
       WithText(plain, "matchLabels: {a: b}", "matchLabels: {c: d}"),
       "write the same label in spec.template.metadata.labels",
       {{at + "spec/template/metadata/labels/c", "d"}}},
      {"MG147",
       WithText(plain, "name: p, replicas: 1,", "name: p,"),
       "write replicas: 1",
       {{at + "replicas", "1"}}},
      {"MG148",
       WithText(plain, "name: p, replicas: 1,", "name: p, replicas: 300,"),
       "write replicas: 256 or less",
       {{at + "replicas", "256"}}},
      {"MG154",
       WithText(plain, "spec: {replicas: 1, selector", "spec: {selector"),
       "replicas: 1",
       {{at + "spec/replicas", "1"}}},
      {"MG155",
       WithText(
           RoleOfInferOperator("metadata: {labels: {infer.huawei.com/gang-schedule: 'true'}}, "),
           "spec: {replicas: 1, selector", "spec: {replicas: 2, selector"),
       "write podManagementPolicy: Parallel",
       {{at + "spec/podManagementPolicy", "Parallel"}}},
      {"MG157", WithText(plain, "external-force", "force")},
      {"MG159", strategy("Sequential", ""), "write type: Parallel", {{type_at, "Parallel"}}},
  };
}

std::vector<FixCase> PodSpecCases() {
  const auto declined = [](const NpuPod& pod) {
    return WithText(Deployment(pod), "metadata: {name: d}",
                    "metadata: {name: d, labels: {mindgate.io/inject: disabled}}");
  };
  const std::string resources = kFirstContainer + "/resources";
  const std::string two_npus =
      "resources: {requests: {huawei.com/Ascend910: 2}, limits: {huawei.com/Ascend910: 2}}";
  return {
      {"MG001",
       WithText(Deployment({}), "metadata: {name: d}", "metadata: {name: d, labels: {a: 1}}"),
       "",
       {{"/metadata/labels/a", "'1'"}}},
      {"MG005",
       WithText(Deployment({}), "containers: [{",
                "containers: [{name: b, image: a, " + two_npus + "}, {"),
       "",
       {{resources}}},
      {"MG006",
       WithText(Deployment({}), "containers: [{",
                "initContainers: [{name: b, image: a, " + two_npus + "}], containers: [{"),
       "",
       {{"/spec/template/spec/initContainers/0/resources"}}},
      {"MG009",
       declined({}),
       "metadata.annotations['huawei.com/Ascend910']",
       {{kFirstContainer + "/env",
         "[{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: "
         "\"metadata.annotations['huawei.com/Ascend910']\"}}}]"}},
       true},
      {"MG048",
       Labelled("ring-controller.atlas: ascend910b"),
       "",
       {{kLabelAt + "ring-controller.atlas", "ascend-910b"}}},
      {"MG087", Annotated(kPolicy + "chip4-node8"), "", {{kAnnotationAt + "schedule_policy"}}},
      {"MG094", Annotated("ra-block: '8'"), "", {{kTemplateMetadata + "/annotations/ra-block"}}},
      {"MG096",
       Deployment({.chips = "16",
                   .annotations = "sp-block: '16', " + kPolicy + "chip2-node16-sp",
                   .labels = "super-pod-affinity: Soft"}),
       "",
       {{kLabelAt + "super-pod-affinity", "soft"}}},
      {"MG097",
       Deployment(
           {.chips = "1", .resource = "huawei.com/Ascend310", .labels = "npu-310-strategy: cards"}),
       "",
       {{kLabelAt + "npu-310-strategy", "card"}}},
      {"MG098",
       Deployment({.chips = "1", .resource = "huawei.com/Ascend310P", .labels = "duo: 'yes'"}),
       "",
       {{kLabelAt + "duo", "'true'"}}},
      {"MG104",
       Deployment(
           {.env = "{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}"}),
       "",
       {{kFirstContainer + "/env/0/value"}}},
      {"MG105",
       declined({.scheduler = "default-scheduler"}),
       "",
       {{"/spec/template/spec/schedulerName", "volcano"}},
       true},
      {"MG136",
       LeaderWorkerSet({}, {.chips = "", .scheduler = "default-scheduler"}, 2),
       "write schedulerName: volcano",
       {{"/spec/leaderWorkerTemplate/workerTemplate/spec/schedulerName", "volcano"}},
       true},
      {"MG161",
       Deployment({.chips = "16",
                   .annotations = "sp-block: '16'",
                   .selector = "accelerator-type: module-a3-16"}),
       "module-a3-16-super-pod",
       {{"/spec/template/spec/nodeSelector/accelerator-type", "module-a3-16-super-pod"}}},
      {"MG163",
       VolcanoJob("", {.selector = "host-arch: huawei-arm"}, {.selector = "host-arch: huawei-x86"}),
       "",
       {{"/spec/tasks/1/template/spec/nodeSelector/host-arch", "huawei-arm"}}},
      {"MG164",
       Deployment({.selector = "accelerator_type: module-910b-8"}),
       "accelerator-type",
       {{"/spec/template/spec/nodeSelector", "{accelerator-type: module-910b-8}"}}},
      {"MG166",
       Labelled("mind-cluster/scaling-rule: r"),
       "",
       {{kLabelAt + "mind-cluster~1group-name", "g"}, {kLabelAt + "jobID", "a"}}},
  };
}

std::vector<FixCase> AscendJobCases() {
  const std::string pod = "{replicas: 1, template: " + PodTemplate({}, true) + "}";
  const auto job = [](const std::string& labels, const std::string& fields,
                      const std::string& types) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: j, labels: {" +
           labels + "}}, spec: {schedulerName: volcano, " + fields + "replicaSpecs: {" + types +
           "}}}";
  };
  const auto typed = [&](const std::string& types) { return job("framework: pytorch", "", types); };
  const auto with = [&](const std::string& fields) {
    return job("framework: pytorch", fields, "Master: " + pod);
  };
  const auto policy = [&](const std::string& fields) {
    return with("runPolicy: {schedulingPolicy: {" + fields + "}}, ");
  };
  const std::string master = "/spec/replicaSpecs/Master";
  const std::string min_available = "/spec/runPolicy/schedulingPolicy/minAvailable";
  return {
      {"MG010", typed(""), "add replica type Master", {{master, pod}}},
      {"MG011",
       job("framework: PyTorch", "", "Master: " + pod),
       "pytorch",
       {{"/metadata/labels/framework", "pytorch"}}},
      {"MG012", typed("master: " + pod), "Master", {{"/spec/replicaSpecs/master"}, {master, pod}}},
      {"MG013",
       typed("Master: " + WithText(pod, "replicas: 1", "replicas: 2")),
       "",
       {{master + "/replicas", "1"}}},
      {"MG014", typed("Worker: " + pod), "Master", {{master, pod}}},
      {"MG015",
       typed("Master: {replicas: 1, template: " + PodTemplate({}) + "}"),
       "ascend",
       {{master + "/template/spec/containers/0/name", "ascend"}}},
      {"MG018",
       job("framework: pytorch, scaleout-type: RoCEE", "", "Master: " + pod),
       "",
       {{"/metadata/labels/scaleout-type", "ROCE"}}},
      {"MG019",
       policy("minAvailable: 1"),
       "queue: default",
       {{"/spec/runPolicy/schedulingPolicy/queue", "default"}}},
      {"MG021", policy("minAvailable: 5, queue: default"), "", {{min_available, "1"}}},
      {"MG022", policy("minAvailable: 0, queue: default"), "", {{min_available, "1"}}},
      {"MG023",
       with("runPolicy: {backoffLimit: 0}, "),
       "such as 3",
       {{"/spec/runPolicy/backoffLimit", "3"}}},
      {"MG024",
       typed("Master: " + WithText(pod, "replicas: 1", "replicas: 1, restartPolicy: Sometimes")),
       "Never",
       {{master + "/restartPolicy", "Never"}}},
      {"MG025",
       typed("Master: " +
             WithText(WithText(pod, "replicas: 1", "replicas: 1, restartPolicy: Never"), "spec: {",
                      "spec: {restartPolicy: OnFailure, ")),
       "",
       {{master + "/template/spec/restartPolicy"}}},
      {"MG026",
       AscendJob("", "framework: pytorch", "Master", {}, {.scheduler = "other"}),
       "",
       {{"/spec/replicaSpecs/Worker/template/spec/schedulerName", "volcano"}}},
      {"MG030",
       job("framework: pytorch, mind-cluster/scaling-rule: r", "", "Master: " + pod),
       "",
       {{"/metadata/labels/mind-cluster~1group-name", "g"}, {"/metadata/labels/jobID", "a"}}},
      {"MG034",
       job("framework: pytorch, jobID: a, mind-cluster/group-name: g", "", "Master: " + pod),
       "add mind-cluster/scaling-rule",
       {{"/metadata/labels/mind-cluster~1scaling-rule", "r"}}},
      {"MG040",
       job("framework: pytorch, jobID: a, app: mindeie-ms-server", "", "Master: " + pod),
       "mindie-ms-server",
       {{"/metadata/labels/app", "mindie-ms-server"}}},
      {"MG047",
       job("framework: pytorch, app: mindie-ms-server", "", "Master: " + pod),
       "",
       {{"/metadata/labels/jobID", "a"}}},
  };
}

std::vector<FixCase> RoleAndTaskCases() {
  const std::string role = "/spec/roles/0/";
  const std::string vcjob = VolcanoJob("", {}, {});
  schemas::Versions volcano;
  volcano.Set(schemas::Component::kVolcano, {1, 12});
  return {
      {"MG120", RoleSetWith(AibrixRole("name: p", {})), "replicas", {{role + "replicas", "1"}}},
      {"MG121",
       RoleSetWith(AibrixRole("name: p, replicas: 2, podGroupSize: 2, schedulingStrategy: "
                              "{volcanoSchedulingStrategy: {minMember: 2}}",
                              {})),
       "",
       {{role + "schedulingStrategy"}}},
      {"MG124",
       WithText(StormService({}, {}), "replicas: 1", "replicas: 2"),
       "",
       {{"/spec/replicas", "1"}}},
      {"MG126",
       RoleSetWith(AibrixRole("name: p, replicas: 1", {}) + ", " +
                   AibrixRole("name: proxy, replicas: 1", {.chips = ""})),
       "",
       {{"/spec/roles/1/template/spec/schedulerName"}}},
      {"MG128",
       RoleSetWith(AibrixRole("name: p, replicas: 1, podgroupSize: 2", {})),
       "write podGroupSize instead of podgroupSize",
       {{role + "podgroupSize"}, {role + "podGroupSize", "2"}}},
      {.rule = "MG131",
       .broken = vcjob,
       .edits = {{"/spec/queue", "default"}},
       .versions = volcano},
      {"MG132", vcjob, "", {{"/spec/minAvailable", "2"}}},
      {"MG138",
       WithText(VolcanoJob("", {}, {}, 2), "spec: {", "spec: {minAvailable: 2, "),
       "",
       {{"/spec/minAvailable", "3"}}},
      {"MG158",
       WithText(RoleOfInferOperator(""), "{name: chat}", "{name: " + std::string(60, 'a') + "}"),
       "shorten the names",
       {{"/metadata/name", "chat"}}},
  };
}

std::vector<FixCase> ShapeCases() {
  const std::string sp_block_at = kTemplateMetadata + "/annotations/sp-block";
  const std::string selector_at = "/spec/template/spec/nodeSelector/accelerator-type";
  const auto graceful = [](const std::string& period) {
    return WithText(Labelled("fault-scheduling: grace"), "nodeSelector: {",
                    "terminationGracePeriodSeconds: " + period + ", nodeSelector: {");
  };
  const std::string period_at = "/spec/template/spec/terminationGracePeriodSeconds";
  const std::string block = "sp-block: '32', " + kPolicy + "chip2-node16-sp";
  const std::string two_duos = Deployment({.chips = "1",
                                           .resource = "huawei.com/Ascend310P",
                                           .labels = "duo: 'true', distributed: 'true'"},
                                          2);
  return {
      {"MG029", graceful("1200"), "at most 900 seconds", {{period_at, "900"}}},
      {"MG029", graceful("0"), "more than 0", {{period_at, "60"}}},
      {"MG029",
       graceful("1200"),
       "fault-scheduling: force",
       {{kLabelAt + "fault-scheduling", "force"}}},
      {"MG091",
       StatefulSet({.chips = "16", .annotations = block}, 2),
       "beside it, and podManagementPolicy: \"Parallel\"",
       {{kAnnotationAt + "schedule_minAvailable", "'2'"},
        {"/spec/podManagementPolicy", "Parallel"}}},
      {"MG091",
       Deployment({.resource = "huawei.com/npu",
                   .annotations = "sp-block: '4', " + kPolicy + "chip8-node8-sp"},
                  2),
       "write a multiple of 8",
       {{sp_block_at, "'8'"}}},
      {"MG099", two_duos, "distributed: \"false\"", {{kLabelAt + "distributed", "'false'"}}},
      {"MG099", two_duos, "one pod per workload", {{"/spec/replicas", "1"}}},
      {"MG160",
       Deployment({.annotations = "sp-block: '8'", .selector = "accelerator-type: module-910b-8"}),
       "remove sp-block",
       {{sp_block_at}}},
      {"MG160",
       Deployment({.chips = "16",
                   .annotations = "sp-block: '16'",
                   .selector = "accelerator-type: module-910b-8"}),
       "accelerator-type: module-a3-16-super-pod",
       {{selector_at, "module-a3-16-super-pod"}}},
      {"MG160",
       Deployment({.annotations = kPolicy + "chip2-node16-sp",
                   .selector = "accelerator-type: module-910b-8"}),
       "of the selected servers",
       {{kAnnotationAt + "schedule_policy", "chip8-node8"}}},
  };
}

std::vector<FixCase> StrategyCases() {
  const std::string role = "/spec/roles/0/";
  const std::string strategy =
      "schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 2, minResources: "
      "{huawei.com/Ascend910: 16}}}, ";
  const std::string pair = AibrixRole(strategy + "name: p, replicas: 1, podGroupSize: 2", {});
  const std::string component =
      "{schedulerName: volcano, runner: {name: d, image: a:1, resources: {requests: "
      "{huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: 8}}}}";
  const std::string engine = "/spec/engineConfig/";
  return {
      {"MG113",
       WithText(ServingRuntime({}), "engineConfig: {",
                "engineConfig: {leader: " + component + ", worker: " + component + ", "),
       "into leader and worker",
       {{engine + "runner"}, {engine + "schedulerName"}}},
      {.rule = "MG113",
       .broken = ServiceOfRuntime("engine: {minReplicas: 1, leader: " + component +
                                  ", worker: {size: 1}}"),
       .advises = "remove leader and worker",
       .edits = {{"/spec/engine/leader"}, {"/spec/engine/worker"}},
       .others = {ServingRuntime({})}},
      {"MG122",
       RoleSetWith(pair),
       "remove the schedulingStrategy",
       {{role + "schedulingStrategy"}}},
      {"MG123",
       WithText(RoleSetWith(pair), "spec: {roles", "spec: {" + strategy + "roles"),
       "for NPU roles remove both",
       {{role + "schedulingStrategy"}, {"/spec/schedulingStrategy"}}},
      {"MG125",
       StormService({}, {}),
       "write stateful: true",
       {{"/spec/stateful", "true"},
        {"/spec/template/spec/roles/0/stateful", "true"},
        {"/spec/template/spec/roles/1/stateful", "true"}}},
      {"MG127",
       RoleSetWith(AibrixRole("name: p, replicas: 1, podGroupSize: 200", {})),
       "replicas counts instances",
       {{role + "replicas", "2"}, {role + "podGroupSize", "100"}}},
  };
}

std::vector<FixCase> InferServiceCases() {
  const auto ports = [](const std::string& items) {
    return RoleOfInferOperator("services: [{name: web, spec: {type: NodePort, ports: [" + items +
                               "]}}], ");
  };
  const std::string ports_at = "/spec/template/roles/0/services/0/spec/ports/";
  const std::string one_port = ports("{port: 80, nodePort: 30000}");
  const auto of_service = [](const std::string& set) {
    const std::string service = WithText(set, "InferServiceSet", "InferService");
    return WithText(service.substr(0, service.size() - 1), "replicas: 2, template: {roles",
                    "roles");
  };
  return {
      {"MG149",
       "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: i, labels: "
       "{infer.huawei.com/inferservice-name: chat-0}}, spec: {replicas: 1, workload: {apiVersion: "
       "apps/v1, kind: StatefulSet}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, "
       "template: " +
           PodTemplate({.labels = "a: b"}) + "}}}",
       "add the label",
       {{"/metadata/labels/infer.huawei.com~1instanceset-name", "prefill"}}},
      {"MG151",
       ports("{port: 80, nodePort: 30000}, {port: 81, nodePort: 30001}"),
       "keep the nodePorts 2 apart",
       {{ports_at + "1/nodePort", "30002"}}},
      {"MG152",
       ports("{port: 80, nodePort: 32767}"),
       "from 30000 to 32766",
       {{ports_at + "0/nodePort", "32766"}}},
      {"MG153", of_service(one_port), "name it like \"chat-0\"", {{"/metadata/name", "chat-0"}}},
      {"MG168",
       WithText(
           WithText(RoleOfInferOperator(""), "template: {roles",
                    "template: {schedulingStrategy: {type: Priority}, roles"),
           "labels: {a: b,",
           "labels: {mind-cluster/scaling-rule: r, mind-cluster/group-name: g, jobID: a, a: b,"),
       "write type: Parallel",
       {{"/spec/template/schedulingStrategy/type", "Parallel"}}},
  };
}

std::vector<FixCase> AllFixCases() {
  std::vector<FixCase> all;
  for (auto part :
       {FaultCases(), GangCases(), ChipCases(), WiringCases(), JobCases(), InferCases(), PodCases(),
        MoreFaultCases(), PlaceCases(), OmeCases(), MoreInferCases(), PodSpecCases(),
        AscendJobCases(), RoleAndTaskCases(), ShapeCases(), StrategyCases(), InferServiceCases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(Fixes, EndTheFindingAndAreAdmitted) {
  for (const FixCase& c : AllFixCases()) ExpectFixed(c);
}

// What a program may write; no text: it is the user's to choose.
struct ProgramCase {
  FixCase fix;
  std::optional<std::string> text;
};

std::vector<ProgramCase> ProgramCases() {
  return {
      {{"MG001", Labelled("fault-retry-times: 3, fault-scheduling: force")}, "3"},
      {{"MG001", Labelled("fault-scheduling: force, pod-rescheduling: on")}, "on"},
      {{"MG001", Labelled("a: 1.5")}, "1.5"},
      {{"MG001", Labelled("fault-scheduling: on")}, {}},
      {{"MG001", Labelled("fault-scheduling: force, fault-retry-times: -1")}, {}},
      {{"MG004", Deployment({.scheduler = "vocano"})}, "volcano"},
      {{"MG004", Deployment({.scheduler = "Volcano"})}, "volcano"},
      {{"MG050", Labelled("fault-scheduling: Force")}, "force"},
      {{"MG050", Labelled("fault-scheduling: grase")}, "grace"},
      {{"MG050", Labelled("fault-scheduling: 'yes'")}, {}},
      {{"MG051", Labelled("fault-scheduling: force, pod-rescheduling: 'On'")}, "on"},
      {{"MG051", Labelled("fault-scheduling: force, pod-rescheduling: 'true'")}, {}},
      {{"MG052", Labelled("fault-scheduling: force, subHealthyStrategy: forceexit")}, "forceExit"},
      {{"MG053", Labelled("fault-scheduling: force, fault-retry-times: three")}, {}},
      {{"MG101", Deployment({.selector = "host-arch: arm64"})}, "huawei-arm"},
      {{"MG105", Deployment({.scheduler = "default"})}, {}},
  };
}

TEST(Fixes, ForProgramsAreThoseForPeopleAndEndTheFinding) {
  for (const ProgramCase& c : ProgramCases()) {
    SCOPED_TRACE(c.fix.rule + ": " + c.fix.broken);
    const policies::Rule* rule = policies::FindRule(c.fix.rule);
    const json::Document broken = YamlDocument(c.fix.broken);
    const auto of_rule = FindingsOf(rule, internal::Answer(broken.root(), c.fix).findings);
    ASSERT_EQ(of_rule.size(), 1u);
    EXPECT_TRUE(AgreesWithItself(of_rule[0])) << of_rule[0].fix;
    ASSERT_EQ(of_rule[0].right.has_value(), c.text.has_value()) << of_rule[0].fix;
    if (!c.text) continue;
    EXPECT_EQ(of_rule[0].right->text, *c.text);
    const json::Document fixed(CorrectedObject(of_rule, json::TreeOf(broken.root())).object);
    const auto answer = internal::Answer(fixed.root(), c.fix);
    EXPECT_EQ(answer.outcome, admission::Outcome::kAdmitted);
    EXPECT_TRUE(FindingsOf(rule, answer.findings).empty());
  }
}

// The rules whose fix no test tries, and why: scripts/check-tests. May only shrink: a new rule
// comes with a case, here or in its own test.
struct WithoutCase {
  std::string_view why;
  std::vector<std::string_view> rules;
};

std::vector<WithoutCase> RulesWithoutCase() {
  return {
      {"what to write is in another object",
       {"MG020", "MG027", "MG031", "MG032", "MG033", "MG038", "MG046", "MG167", "MG171", "MG196"}},
      {"the fix is an action in the cluster, or another kind", {"MG028", "MG039", "MG135"}},
      {"the fix is to divide the object", {"MG003", "MG141"}},
      {"the fix rewrites the text in a ConfigMap, which its own tests try",
       {"MG035", "MG036", "MG037", "MG049"}},
      {"the labels and text of a rank table, several at once",
       {"MG041", "MG042", "MG043", "MG044", "MG045"}},
      {"only recorded, and every sample of the vendor has it", {"MG017"}},
  };
}

TEST(Fixes, WhatIsListedHasNoCase) {
  std::set<std::string, std::less<>> tried;
  for (const FixCase& c : AllFixCases()) tried.insert(c.rule);
  for (const WithoutCase& each : RulesWithoutCase()) {
    EXPECT_FALSE(each.why.empty());
    for (const std::string_view rule : each.rules) {
      EXPECT_NE(policies::FindRule(rule), nullptr) << rule;
      EXPECT_FALSE(tried.contains(rule)) << rule;
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
