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

// Two roles of so many pods, with these annotations on both.
std::string RoleSetOf(int prefill, int decode, const std::string& annotations) {
  const auto role = [&](const std::string& name, int replicas) {
    return "{name: " + name + ", replicas: " + std::to_string(replicas) +
           ", template: " + PodTemplate({.annotations = annotations}) + "}";
  };
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, spec: "
         "{roles: [" +
         role("prefill", prefill) + ", " + role("decode", decode) + "]}}";
}

std::vector<FixCase> FaultCases() {
  return {
      {"MG050", Labelled("fault-scheduling: Force")},
      {"MG050", Labelled("fault-scheduling: 'yes'")},
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
      {"MG077",
       Deployment({.annotations = K("2")}, 2),
       "write type: \"Recreate\"",
       {{"/spec/strategy", "{type: Recreate}"}}},
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

std::vector<FixCase> InferCases() {
  const auto role = [](const std::string& fields) {
    return "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: chat}, "
           "spec: {replicas: 2, template: {roles: [{name: p, replicas: 1, workload: {apiVersion: "
           "apps/v1, kind: StatefulSet}, " +
           fields +
           "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
           "b, fault-scheduling: external-force}}, spec: {schedulerName: volcano, containers: "
           "[{name: c, resources: {requests: {huawei.com/Ascend910: 8}, limits: "
           "{huawei.com/Ascend910: 8}}}]}}}}]}}}";
  };
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
      {.rule = "MG179",
       .broken = "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s}, spec: "
                 "{runtime: {name: r}, engine: {runner: {name: engine, resources: {requests: "
                 "{huawei.com/Ascend910: 4}}}}}}",
       .others = {ServingRuntime({})}},
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

std::vector<FixCase> AllFixCases() {
  std::vector<FixCase> all;
  for (auto part : {FaultCases(), GangCases(), ChipCases(), WiringCases(), JobCases(), InferCases(),
                    PodCases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(Fixes, EndTheFindingAndAreAdmitted) {
  for (const FixCase& c : AllFixCases()) ExpectFixed(c);
}

// The rules that have no case yet. May only shrink: a new rule comes with one.
const char* const kWithoutCase[] = {
    "MG001", "MG002", "MG003", "MG004", "MG005", "MG006", "MG007", "MG008", "MG009", "MG010",
    "MG011", "MG012", "MG013", "MG014", "MG015", "MG017", "MG018", "MG019", "MG020", "MG021",
    "MG022", "MG023", "MG024", "MG025", "MG026", "MG027", "MG028", "MG029", "MG030", "MG031",
    "MG032", "MG033", "MG034", "MG035", "MG036", "MG037", "MG038", "MG039", "MG040", "MG041",
    "MG042", "MG043", "MG044", "MG045", "MG046", "MG047", "MG048", "MG049", "MG055", "MG057",
    "MG058", "MG062", "MG064", "MG068", "MG069", "MG072", "MG073", "MG074", "MG079", "MG081",
    "MG083", "MG085", "MG087", "MG089", "MG091", "MG092", "MG094", "MG096", "MG097", "MG098",
    "MG099", "MG100", "MG103", "MG104", "MG105", "MG106", "MG107", "MG108", "MG110", "MG111",
    "MG112", "MG113", "MG114", "MG115", "MG116", "MG117", "MG118", "MG119", "MG120", "MG121",
    "MG122", "MG123", "MG124", "MG125", "MG126", "MG127", "MG128", "MG131", "MG132", "MG135",
    "MG136", "MG137", "MG138", "MG141", "MG142", "MG143", "MG144", "MG145", "MG146", "MG147",
    "MG148", "MG149", "MG151", "MG152", "MG153", "MG154", "MG155", "MG157", "MG158", "MG159",
    "MG160", "MG161", "MG163", "MG164", "MG165", "MG166", "MG167", "MG168", "MG169", "MG170",
    "MG171", "MG172", "MG173", "MG174", "MG176", "MG182", "MG183", "MG189", "MG196",
};

TEST(Fixes, EveryRuleHasACaseOrIsListed) {
  std::set<std::string> missing;
  for (const policies::Rule* rule : policies::Catalogue()) missing.insert(std::string(rule->id));
  for (const FixCase& c : AllFixCases()) missing.erase(c.rule);
  EXPECT_EQ(missing, std::set<std::string>(std::begin(kWithoutCase), std::end(kWithoutCase)));
}

}  // namespace
}  // namespace mindgate::testing
