#include "policies/common/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kTemplateAnnotations = "spec.template.metadata.annotations";

TEST(SchedulerOwnedAnnotations, Table) {
  const std::string chips =
      " is where the scheduler writes the chips it chose: until then containers would see chips of "
      "other pods";
  const std::string running =
      " is written by MindCluster while the pod runs: a value set beforehand is overwritten, or "
      "misleads rescheduling and rank tables";
  const std::string pod_start =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
      "{huawei.com/Ascend910: Ascend910-0}";
  ExpectFindings(
      "MG066",
      {
          {"chips, also of slices",
           LabelledDeployment("",
                              "huawei.com/Ascend910: x, huawei.com/npu: y, "
                              "huawei.com/Ascend310P-2c.1cpu: z"),
           {kTemplateAnnotations +
                "[huawei.com/Ascend310P-2c.1cpu]: huawei.com/Ascend310P-2c.1cpu" + chips,
            kTemplateAnnotations + "[huawei.com/Ascend910]: huawei.com/Ascend910" + chips,
            kTemplateAnnotations + "[huawei.com/npu]: huawei.com/npu" + chips}},
          {"what the device plugin and the operator write",
           LabelledAscendJob("",
                             "annotations: {huawei.com/AscendReal: a, hccl/rankIndex: '0', "
                             "predicate-time: b, huawei.com/pod-status: c}"),
           {"spec.replicaSpecs.Worker.template.metadata.annotations[huawei.com/AscendReal]: "
            "huawei.com/AscendReal" +
                running,
            "spec.replicaSpecs.Worker.template.metadata.annotations[huawei.com/pod-status]: "
            "huawei.com/pod-status" +
                running,
            "spec.replicaSpecs.Worker.template.metadata.annotations[hccl/rankIndex]: "
            "hccl/rankIndex" +
                running,
            "spec.replicaSpecs.Worker.template.metadata.annotations[predicate-time]: "
            "predicate-time" +
                running}},
          {"the PodGroup's name",
           LabelledDeployment("", "scheduling.k8s.io/group-name: mine"),
           {kTemplateAnnotations +
            "[scheduling.k8s.io/group-name]: scheduling.k8s.io/group-name is written by the "
            "controller that creates the PodGroup: with it Volcano creates none for these pods, "
            "and they wait for the PodGroup that it names"}},
          {"a PodGroup of the user's own in the same apply",
           LabelledDeployment("", "scheduling.k8s.io/group-name: mine"),
           {},
           "",
           {"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: mine}, "
            "spec: {minMember: 2}}"}},
          {"a pod that a person creates",
           pod_start + "}}",
           {"metadata.annotations[huawei.com/Ascend910]: huawei.com/Ascend910" + chips}},
          {"a pod that is running", pod_start + "}}", {}, pod_start + "}}"},
          {"a pod that an operator creates",
           pod_start + ", ownerReferences: [{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, "
                       "controller: true}]}}",
           {}},
          {"what users do set",
           LabelledDeployment("",
                              "huawei.com/schedule_policy: chip8-node8, sp-block: "
                              "'16', huawei.com/skip-ascend-plugin: enabled"),
           {}},
      });
}

// Pods of a user's own PodGroup take what it says, and so does the scheduler.
TEST(PodGroupsOfUsers, AreEvaluated) {
  const auto group = [](const std::string& metadata) {
    return "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: mine, " +
           metadata + "}, spec: {minMember: 2}}";
  };
  ExpectFindings(
      "MG050",
      {
          {"Force",
           group("labels: {fault-scheduling: Force}"),
           {"metadata.labels[fault-scheduling]: fault-scheduling is \"Force\", which the scheduler "
            "does not know: after a fault the job is stuck in its fault cache, did you mean "
            "\"force\"?"}},
          {"force", group("labels: {fault-scheduling: force}"), {}},
      });
  ExpectFindings(
      "MG067",
      {{"a misspelled key",
        group("labels: {fault-schedule: force}"),
        {"metadata.labels[fault-schedule]: no component reads \"fault-schedule\", did you mean "
         "\"fault-scheduling\"? As it is, it has no effect"}}});
  ExpectFindings(
      "MG070",
      {{"no number",
        group("annotations: {huawei.com/schedule_minAvailable: two}"),
        {"metadata.annotations[huawei.com/schedule_minAvailable]: "
         "huawei.com/schedule_minAvailable is \"two\", not a whole number: the scheduler refuses "
         "the job and no pod starts"}}});
  const json::Document owned = YamlDocument(
      group("ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: u, "
            "controller: true}], labels: {fault-scheduling: Force}"));
  EXPECT_FALSE(schemas::BuildView(owned.root())) << "a controller's copies what was evaluated";
}

TEST(MisspelledKey, Table) {
  const auto meant = [](const std::string& at, const std::string& key, const std::string& known) {
    return at + ": no component reads \"" + key + "\", did you mean \"" + known +
           "\"? As it is, it has no effect";
  };
  ExpectFindings(
      "MG067",
      {
          {"deploy tool D29: the sample's own spelling",
           LabelledDeployment("subHeathyStrategy: ignore"),
           {meant(kTemplateLabels + ".subHeathyStrategy", "subHeathyStrategy",
                  "subHealthyStrategy")}},
          {"other words for the same",
           LabelledDeployment(
               "fault-schedule: force, fault-retry-time: '3', pod_rescheduling: 'on'"),
           {meant(kTemplateLabels + "[fault-retry-time]", "fault-retry-time", "fault-retry-times"),
            meant(kTemplateLabels + "[fault-schedule]", "fault-schedule", "fault-scheduling"),
            meant(kTemplateLabels + ".pod_rescheduling", "pod_rescheduling", "pod-rescheduling")}},
          {"separators and case",
           LabelledAscendJob("labels: {Fault_Scheduling: force}"),
           {meant("metadata.labels.Fault_Scheduling", "Fault_Scheduling", "fault-scheduling")}},
          {"a missing or wrong prefix",
           LabelledDeployment(
               "",
               "schedule_minAvailable: '2', huawei.com/schedule_minavailable: '2', "
               "huawei.com/recovery_policy_path: pod, huawei.com/schedule-policy: x"),
           {meant(kTemplateAnnotations + "[huawei.com/recovery_policy_path]",
                  "huawei.com/recovery_policy_path", "huawei.com/recover_policy_path"),
            meant(kTemplateAnnotations + "[huawei.com/schedule-policy]",
                  "huawei.com/schedule-policy", "huawei.com/schedule_policy"),
            meant(kTemplateAnnotations + "[huawei.com/schedule_minavailable]",
                  "huawei.com/schedule_minavailable", "huawei.com/schedule_minAvailable"),
            meant(kTemplateAnnotations + ".schedule_minAvailable", "schedule_minAvailable",
                  "huawei.com/schedule_minAvailable")}},
          {"an annotation of the operator among the labels",
           LabelledAscendJob("labels: {recover-strategy: recover}"),
           {"metadata.labels[recover-strategy]: recover-strategy is a label here, but it is read "
            "as an annotation: it has no effect"}},
          {"a label among the annotations and the other way round",
           LabelledDeployment("huawei.com/schedule_minAvailable: '2'", "fault-scheduling: force"),
           {kTemplateLabels +
                "[huawei.com/schedule_minAvailable]: huawei.com/schedule_minAvailable is a label "
                "here, but it is read as an annotation: it has no effect",
            kTemplateAnnotations +
                "[fault-scheduling]: fault-scheduling is an annotation here, but it is read as a "
                "label: it has no effect"}},
          {"other words for moving one pod",
           LabelledDeployment("pod-reschedule: 'on'"),
           {meant(kTemplateLabels + "[pod-reschedule]", "pod-reschedule", "pod-rescheduling")}},
          {"shares of a chip by their old names",
           LabelledDeployment("scheduler-share-hbm-quota: '1024', scheduler-share-other: a"),
           {meant(kTemplateLabels + "[scheduler-share-hbm-quota]", "scheduler-share-hbm-quota",
                  "huawei.com/scheduler.softShareDev.hbmQuota")}},
          {"the service of super pods in other letters",
           LabelledDeployment("infer-serviceId: a, inferservice: b"),
           {meant(kTemplateLabels + "[infer-serviceId]", "infer-serviceId", "inferserviceid")}},
          {"sp-block with an underscore, and as a label",
           LabelledDeployment("sp-block: '16'", "sp_block: '16'"),
           {kTemplateLabels +
                "[sp-block]: sp-block is a label here, but it is read as an annotation: it has no "
                "effect",
            meant(kTemplateAnnotations + ".sp_block", "sp_block", "sp-block")}},
          {"a scaling rule of another domain",
           LabelledAscendJob("labels: {mindcluster/scaling-rule: r, mind-cluster/group-names: g}"),
           {meant("metadata.labels[mind-cluster/group-names]", "mind-cluster/group-names",
                  "mind-cluster/group-name"),
            meant("metadata.labels[mindcluster/scaling-rule]", "mindcluster/scaling-rule",
                  "mind-cluster/scaling-rule")}},
          {"labels of MindIE as annotations",
           LabelledAscendJob("annotations: {jobID: a, app: mindie-ms-server, "
                             "mind-cluster/group-name: g}"),
           {"metadata.annotations.app: app is an annotation here, but it is read as a label: it "
            "has no effect",
            "metadata.annotations.jobID: jobID is an annotation here, but it is read as a label: "
            "it has no effect",
            "metadata.annotations[mind-cluster/group-name]: mind-cluster/group-name is an "
            "annotation here, but it is read as a label: it has no effect"}},
          {"somebody's own annotation beside the label",
           LabelledAscendJob("labels: {app: a}, annotations: {app: b}"),
           {}},
          {"an annotation that Volcano does not read",
           LabelledDeployment("", "scheduling.volcano.sh/queue: q"),
           {meant(kTemplateAnnotations + "[scheduling.volcano.sh/queue]",
                  "scheduling.volcano.sh/queue", "scheduling.volcano.sh/queue-name")}},
          {"unrelated keys",
           LabelledDeployment(
               "app: a, role: b, component: c, sp: d, fault-type: e, jobid: f, "
               "gang-scheduling: g, schedule-policy: h, app.kubernetes.io/name: i, "
               "volcano.sh/job-name: j, example.com/fault-schedulin: k, deploy-name: l",
               "affinity-config: a, prometheus.io/scrape: 'true'"),
           {}},
          {"right keys",
           LabelledDeployment(
               "fault-scheduling: force, pod-rescheduling: 'on', fault-retry-times: '3', "
               "subHealthyStrategy: ignore, process-recover-enable: 'on'",
               "huawei.com/schedule_minAvailable: '1', huawei.com/recover_policy_path: pod, "
               "huawei.com/affinity-config: level1=1, wait-reschedule-timeout: '30'"),
           {}},
          {"a workload without NPUs is none of our business",
           "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {fault-schedule: "
           "a}}}",
           {}},
      });
}

TEST(UnreachableFaultSettings, Table) {
  const auto dead = [](const std::string& field, const std::string& key, const std::string& map,
                       const std::string& kind, const std::string& more = "") {
    return field + ": " + key + " does not reach any pod from here" + more + ": " + map + " of " +
           kind + " are not copied to pods or their PodGroup";
  };
  const std::string both = "labels: {fault-scheduling: force}, annotations: {sp-block: '16'}";
  const auto dead_metadata = [&](const std::string& kind) {
    return std::vector<std::string>{
        dead("metadata.labels[fault-scheduling]", "fault-scheduling", "metadata.labels", kind),
        dead("metadata.annotations[sp-block]", "sp-block", "metadata.annotations", kind)};
  };
  const auto object = [&](const std::string& api, const std::string& kind,
                          const std::string& spec = "{}") {
    return "{apiVersion: " + api + ", kind: " + kind + ", metadata: {name: a, " + both +
           "}, spec: " + spec + "}";
  };
  ExpectFindings(
      "MG068",
      {
          {"Deployment", object("apps/v1", "Deployment"), dead_metadata("Deployment")},
          {"StatefulSet", object("apps/v1", "StatefulSet"), dead_metadata("StatefulSet")},
          {"Job", object("batch/v1", "Job"), dead_metadata("Job")},
          {"LeaderWorkerSet", object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
           dead_metadata("LeaderWorkerSet")},
          {"RoleSet", object("orchestration.aibrix.ai/v1alpha1", "RoleSet"),
           dead_metadata("RoleSet")},
          {"InferServiceSet", object("mindcluster.huawei.com/v1", "InferServiceSet"),
           dead_metadata("InferServiceSet")},
          {"the queue of a Deployment",
           "{apiVersion: apps/v1, kind: Deployment, metadata: {annotations: "
           "{scheduling.volcano.sh/queue-name: q}}, spec: {template: {spec: {containers: "
           "[{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}",
           {dead("metadata.annotations[scheduling.volcano.sh/queue-name]",
                 "scheduling.volcano.sh/queue-name", "metadata.annotations", "Deployment")}},
          {"a queue without NPUs",
           "{apiVersion: apps/v1, kind: Deployment, metadata: {annotations: "
           "{scheduling.volcano.sh/queue-name: q}}, spec: {template: {spec: {containers: []}}}}",
           {}},
          {"a LeaderWorkerSet reads it",
           "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: "
           "{annotations: {scheduling.volcano.sh/queue-name: q}}, spec: {leaderWorkerTemplate: "
           "{size: 1, workerTemplate: {spec: {containers: [{resources: {limits: "
           "{huawei.com/Ascend910: 8}}}]}}}}}",
           {}},
          {"CronJob: neither its own nor that of its Jobs",
           "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {metadata: {labels: "
           "{pod-rescheduling: 'on'}}}}}",
           {dead("spec.jobTemplate.metadata.labels[pod-rescheduling]", "pod-rescheduling",
                 "spec.jobTemplate.metadata.labels", "CronJob")}},
          {"Volcano CronJob: only that of its jobs counts",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, metadata: {labels: "
           "{fault-retry-times: '3'}}, spec: {jobTemplate: {metadata: {labels: "
           "{fault-retry-times: '3'}}}}}",
           {dead("metadata.labels[fault-retry-times]", "fault-retry-times", "metadata.labels",
                 "CronJob")}},
          {"StormService: neither its own nor that of its RoleSets",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {labels: "
           "{fault-scheduling: force}}, spec: {template: {metadata: {labels: {subHealthyStrategy: "
           "ignore}, annotations: {huawei.com/schedule_minAvailable: '2'}}}}}",
           {dead("metadata.labels[fault-scheduling]", "fault-scheduling", "metadata.labels",
                 "StormService"),
            dead("spec.template.metadata.labels.subHealthyStrategy", "subHealthyStrategy",
                 "spec.template.metadata.labels", "StormService"),
            dead("spec.template.metadata.annotations[huawei.com/schedule_minAvailable]",
                 "huawei.com/schedule_minAvailable", "spec.template.metadata.annotations",
                 "StormService")}},
          {"runtime: its metadata and the legacy fields beside the components; a copy is named",
           LabelledRuntime("labels: {fault-scheduling: grace}", "labels: {fault-scheduling: grace}",
                           "labels: {pod-rescheduling: 'on'}, "),
           {dead("metadata.labels[fault-scheduling]", "fault-scheduling", "metadata.labels",
                 "ClusterServingRuntime", "; a copy is in spec.engineConfig.labels"),
            dead("spec.labels[pod-rescheduling]", "pod-rescheduling", "spec.labels",
                 "ClusterServingRuntime")}},
          {"labels of an OME leader are pruned",
           LabelledService("leader: {labels: {fault-scheduling: force}}"),
           {dead("spec.engine.leader.labels[fault-scheduling]", "fault-scheduling",
                 "spec.engine.leader.labels", "InferenceService")}},
          {"the pods carry something else",
           LabelledDeployment("fault-scheduling: force", "", "labels: {fault-scheduling: grace}"),
           {dead("metadata.labels[fault-scheduling]", "fault-scheduling", "metadata.labels",
                 "Deployment", "; its pods carry \"force\" from spec.template.metadata.labels")}},
          {"a role's metadata without a gang",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, spec: {roles: [{name: r, "
           "metadata: {labels: {fault-scheduling: external-force}}, spec: {template: {}}}]}}",
           {dead("spec.roles[0].metadata.labels[fault-scheduling]", "fault-scheduling",
                 "spec.roles[0].metadata.labels", "InferService")}},
          {"a role's metadata with a gang reaches its PodGroup",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, spec: {roles: [{name: r, "
           "metadata: {labels: {fault-scheduling: external-force, "
           "infer.huawei.com/gang-schedule: 'true'}}, spec: {template: {}}}]}}",
           {}},
          {"an AscendJob's retries are read on the job",
           LabelledAscendJob("", "labels: {fault-retry-times: '3', fault-scheduling: force}"),
           {"spec.replicaSpecs.Worker.template.metadata.labels[fault-retry-times]: "
            "fault-retry-times is only on the pod template: ascend-operator reads it on the "
            "AscendJob and fails the job at the first failed pod"}},
          {"an AscendJob's metadata reaches the PodGroup", LabelledAscendJob(both), {}},
          {"a Volcano Job's too",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, " + both + "}}",
           {}},
          {"a service's metadata reaches its pods", LabelledService("", both), {}},
          {"a Deployment that a controller made has copies on both",
           LabelledDeployment(
               "fault-scheduling: force", "",
               "labels: {fault-scheduling: force}, ownerReferences: [{apiVersion: "
               "ome.io/v1beta1, kind: InferenceService, name: i, controller: true}]"),
           {}},
          {"where it belongs", LabelledDeployment("fault-scheduling: force", "sp-block: '16'"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
