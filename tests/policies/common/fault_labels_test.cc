#include "support/rules.h"

namespace mindgate::testing {
namespace {

// A Deployment whose template has these labels and annotations and one container with NPUs.
std::string LabelledDeployment(const std::string& labels, const std::string& annotations = "",
                               const std::string& metadata = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, " + metadata +
         "}, spec: {template: {metadata: {labels: {" + labels + "}, annotations: {" + annotations +
         "}}, spec: {containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}";
}

std::string LabelledAscendJob(const std::string& metadata,
                              const std::string& worker_metadata = "") {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + metadata +
         "}, spec: {replicaSpecs: {Worker: {template: {metadata: {" + worker_metadata +
         "}, spec: {containers: [{name: ascend, resources: {limits: {huawei.com/Ascend910: "
         "8}}}]}}}}}}";
}

std::string LabelledService(const std::string& engine, const std::string& metadata = "") {
  return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i, " + metadata +
         "}, spec: {runtime: {name: r}, engine: {" + engine + "}}}";
}

std::string LabelledRuntime(const std::string& engine, const std::string& metadata = "",
                            const std::string& spec = "") {
  return "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: r, " +
         metadata + "}, spec: {" + spec + "engineConfig: {" + engine + "}}}";
}

std::string LabelledStormService(const std::string& prefill, const std::string& decode) {
  const auto role = [](const std::string& name, const std::string& fields) {
    return "{name: " + name + ", replicas: 1, " + fields +
           ", spec: {containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]}}}";
  };
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: s}, "
         "spec: {template: {spec: {roles: [" +
         role("prefill", prefill) + ", " + role("decode", decode) + "]}}}}";
}

const std::string kTemplateLabels = "spec.template.metadata.labels";
const std::string kTemplateAnnotations = "spec.template.metadata.annotations";

TEST(FaultSchedulingValue, Table) {
  const std::string effect =
      ", which the scheduler does not know: after a fault the job is stuck in its fault cache";
  ExpectFindings(
      "MG050", {
                   {"matching is exact",
                    LabelledDeployment("fault-scheduling: Force"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"Force\"" +
                     effect + ", did you mean \"force\"?"}},
                   {"a value that only infer-operator acts on is not suggested",
                    LabelledDeployment("fault-scheduling: external-forc"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"external-forc\"" +
                     effect}},
                   {"an empty value is unknown too",
                    LabelledDeployment("fault-scheduling: ''"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"\"" + effect}},
                   {"on the metadata that an AscendJob's PodGroup copies",
                    LabelledAscendJob("labels: {fault-scheduling: on1}"),
                    {"metadata.labels[fault-scheduling]: fault-scheduling is \"on1\"" + effect}},
                   {"on a service's metadata, which reaches every component",
                    LabelledService("", "labels: {fault-scheduling: forced}"),
                    {"metadata.labels[fault-scheduling]: fault-scheduling is \"forced\"" + effect +
                     ", did you mean \"force\"?"}},
                   {"metadata that reaches nobody is another rule's business",
                    LabelledDeployment("", "", "labels: {fault-scheduling: Force}"),
                    {}},
                   {"force", LabelledDeployment("fault-scheduling: force"), {}},
                   {"grace", LabelledDeployment("fault-scheduling: grace"), {}},
                   {"external-force", LabelledDeployment("fault-scheduling: external-force"), {}},
                   {"external-grace", LabelledDeployment("fault-scheduling: external-grace"), {}},
                   {"off", LabelledDeployment("fault-scheduling: 'off'"), {}},
                   {"absent", LabelledDeployment(""), {}},
                   {"a boolean is the wrong-type rule's business",
                    LabelledDeployment("fault-scheduling: off"),
                    {}},
               });
}

TEST(PodReschedulingValue, Table) {
  const std::string effect = ", which counts as off: one fault deletes every pod of the group";
  ExpectFindings(
      "MG051",
      {
          {"deploy tool D42: what an unquoted on became",
           LabelledDeployment("pod-rescheduling: 'True'"),
           {kTemplateLabels + "[pod-rescheduling]: pod-rescheduling is \"True\"" + effect}},
          {"case",
           LabelledDeployment("pod-rescheduling: 'On'"),
           {kTemplateLabels + "[pod-rescheduling]: pod-rescheduling is \"On\"" + effect +
            ", did you mean \"on\"?"}},
          {"on", LabelledDeployment("pod-rescheduling: 'on'"), {}},
          {"off", LabelledDeployment("pod-rescheduling: 'off'"), {}},
          {"false is a legal off", LabelledDeployment("pod-rescheduling: 'false'"), {}},
      });
}

TEST(SubHealthyStrategyValue, Table) {
  ExpectFindings(
      "MG052",
      {
          {"unknown counts as ignore",
           LabelledDeployment("subHealthyStrategy: forceexit"),
           {kTemplateLabels +
            ".subHealthyStrategy: subHealthyStrategy is \"forceexit\", which counts as ignore: "
            "pods stay on a sub-healthy card, did you mean \"forceExit\"?"}},
          {"hotSwitch is missing in some tables of the documents",
           LabelledDeployment("subHealthyStrategy: hotSwitch"),
           {}},
          {"graceExit", LabelledDeployment("subHealthyStrategy: graceExit"), {}},
          {"ignore", LabelledDeployment("subHealthyStrategy: ignore"), {}},
      });
}

TEST(HotSwitchOutsideJobs, Table) {
  const std::string effect =
      ".subHealthyStrategy: subHealthyStrategy hotSwitch has no effect here: only ascend-operator "
      "switches the pods of AscendJobs over, and the scheduler waits for it in vain";
  ExpectFindings("MG187",
                 {
                     {"a Deployment",
                      LabelledDeployment("subHealthyStrategy: hotSwitch"),
                      {kTemplateLabels + effect}},
                     {"another strategy", LabelledDeployment("subHealthyStrategy: graceExit"), {}},
                     {"a pod of an AscendJob",
                      "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: "
                      "{subHealthyStrategy: hotSwitch}, ownerReferences: [{apiVersion: "
                      "mindxdl.gitee.com/v1, kind: AscendJob, name: j, controller: true}]}}",
                      {}},
                 });
}

TEST(RecoverStrategyNeedsGrace, Table) {
  const auto job = [](const std::string& mode) {
    return LabelledAscendJob("annotations: {recover-strategy: 'recover,dump'}, labels: {" + mode +
                             "}");
  };
  ExpectFindings(
      "MG188",
      {
          {"force",
           job("fault-scheduling: force"),
           {"metadata.labels[fault-scheduling]: fault-scheduling is \"force\" beside "
            "recover-strategy: the pods are deleted before the training process can recover in any "
            "of its ways"}},
          {"grace", job("fault-scheduling: grace"), {}},
          {"left to mindgate", job(""), {}},
          {"without it", LabelledAscendJob("labels: {fault-scheduling: force}"), {}},
      });
}

TEST(FaultRetryTimesValue, Table) {
  const std::string at = kTemplateLabels + "[fault-retry-times]: fault-retry-times is ";
  const std::string no_number =
      ", not a whole number, and counts as 0: failed pods are never restarted";
  ExpectFindings(
      "MG053",
      {
          {"words", LabelledDeployment("fault-retry-times: three"), {at + "\"three\"" + no_number}},
          {"empty", LabelledDeployment("fault-retry-times: ''"), {at + "\"\"" + no_number}},
          {"Go's Atoi takes no spaces",
           LabelledDeployment("fault-retry-times: ' 3'"),
           {at + "\" 3\"" + no_number}},
          {"negative",
           LabelledDeployment("fault-retry-times: '-1'"),
           {at + "\"-1\": with a negative budget failed pods are noticed but never restarted"}},
          {"an AscendJob may not even start",
           LabelledAscendJob("labels: {fault-retry-times: 3x}"),
           {"metadata.labels[fault-retry-times]: fault-retry-times is \"3x\"" + no_number +
            "; the operator may not start the AscendJob at all"}},
          {"0", LabelledDeployment("fault-retry-times: '0'"), {}},
          {"Go's Atoi takes a sign", LabelledDeployment("fault-retry-times: '+3'"), {}},
          {"beyond the documents' range, as their own samples",
           LabelledDeployment("fault-retry-times: '100000000'"),
           {}},
      });
}

TEST(ProcessRecoverValue, Table) {
  ExpectFindings(
      "MG054",
      {
          {"unknown",
           LabelledAscendJob("labels: {process-recover-enable: 'yes'}"),
           {"metadata.labels[process-recover-enable]: process-recover-enable is \"yes\", which "
            "counts as off: healthy pods are deleted along with the faulty one"}},
          {"on", LabelledAscendJob("labels: {process-recover-enable: 'on'}"), {}},
          {"pause is ClusterD's own",
           LabelledAscendJob("labels: {process-recover-enable: pause}"),
           {}},
      });
}

TEST(ConflictingFaultLabels, Table) {
  const std::string vcjob_start =
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, labels: {";
  const auto vcjob = [&](const std::string& job, const std::string& task,
                         const std::string& other = "") {
    return vcjob_start + job +
           "}}, spec: {tasks: [{name: t, replicas: 1, template: {metadata: " + "{labels: {" + task +
           "}}}}, {name: u, replicas: 1, template: {metadata: {labels: {" + other + "}}}}]}}";
  };
  ExpectFindings(
      "MG057",
      {
          {"a Volcano Job and its task",
           vcjob("fault-scheduling: grace", "fault-scheduling: force"),
           {"spec.tasks[0].template.metadata.labels[fault-scheduling]: fault-scheduling is "
            "\"force\" here and \"grace\" at metadata.labels[fault-scheduling]: the scheduler "
            "joins them to \"grace|force\", so nothing is rescheduled on a fault"}},
          {"two tasks, several labels",
           vcjob("", "pod-rescheduling: 'on', fault-retry-times: '1'",
                 "pod-rescheduling: 'off', fault-retry-times: '2'"),
           {"spec.tasks[1].template.metadata.labels[pod-rescheduling]: pod-rescheduling is \"off\" "
            "here and \"on\" at spec.tasks[0].template.metadata.labels[pod-rescheduling]: the "
            "scheduler joins them to \"on|off\", so it counts as off",
            "spec.tasks[1].template.metadata.labels[fault-retry-times]: fault-retry-times is "
            "\"2\" here and \"1\" at spec.tasks[0].template.metadata.labels[fault-retry-times]: "
            "the scheduler joins them to \"1|2\", so it counts as 0 retries"}},
          {"an AscendJob and its template",
           LabelledAscendJob("labels: {subHealthyStrategy: ignore}",
                             "labels: {subHealthyStrategy: forceExit}"),
           {"spec.replicaSpecs.Worker.template.metadata.labels.subHealthyStrategy: "
            "subHealthyStrategy is \"forceExit\" here and \"ignore\" at "
            "metadata.labels.subHealthyStrategy: the scheduler joins them to "
            "\"ignore|forceExit\", so it counts as ignore"}},
          {"AIBrix roles that share a PodGroup",
           LabelledStormService("template: {metadata: {labels: {fault-scheduling: force}}",
                                "template: {metadata: {labels: {fault-scheduling: grace}}"),
           {"spec.template.spec.roles[1].template.metadata.labels[fault-scheduling]: "
            "fault-scheduling is \"grace\" here and \"force\" at "
            "spec.template.spec.roles[0].template.metadata.labels[fault-scheduling]: the "
            "scheduler joins them to \"force|grace\", so nothing is rescheduled on a fault"}},
          {"a PodSet is another PodGroup",
           LabelledStormService(
               "template: {metadata: {labels: {fault-scheduling: force}}",
               "podGroupSize: 2, template: {metadata: {labels: {fault-scheduling: grace}}"),
           {}},
          {"case does not count", vcjob("fault-scheduling: grace", "fault-scheduling: Grace"), {}},
          {"a missing label conflicts with nothing", vcjob("fault-scheduling: grace", ""), {}},
          {"a service wins over its runtime, they are not joined",
           LabelledService("labels: {fault-scheduling: grace}"),
           {},
           "",
           {LabelledRuntime("labels: {fault-scheduling: force}")}},
          {"an instance's PodGroup has the role's metadata",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: i}, spec: "
           "{roles: [{name: r, metadata: {labels: {infer.huawei.com/gang-schedule: 'true', "
           "fault-scheduling: external-force}}, spec: {template: {metadata: {labels: "
           "{fault-scheduling: external-grace}}}}}]}}",
           {"spec.roles[0].spec.template.metadata.labels[fault-scheduling]: fault-scheduling is "
            "\"external-grace\" here and \"external-force\" at "
            "spec.roles[0].metadata.labels[fault-scheduling]: the scheduler joins them to "
            "\"external-force|external-grace\", so nothing is rescheduled on a fault"}},
      });
}

TEST(ExternalFaultScheduling, Table) {
  ExpectFindings(
      "MG064",
      {
          {"a Deployment",
           LabelledDeployment("fault-scheduling: external-force"),
           {kTemplateLabels +
            "[fault-scheduling]: fault-scheduling is \"external-force\", but only "
            "infer-operator acts on it: a faulty pod here is marked but never deleted"}},
          {"a Deployment that infer-operator made",
           LabelledDeployment("fault-scheduling: external-force", "",
                              "ownerReferences: [{apiVersion: mindcluster.huawei.com/v1, kind: "
                              "InstanceSet, name: i, controller: true}]"),
           {}},
          {"force", LabelledDeployment("fault-scheduling: force"), {}},
      });
}

TEST(TorAffinityValue, Table) {
  ExpectFindings("MG065",
                 {
                     {"near miss",
                      LabelledDeployment("tor-affinity: normal-scheme"),
                      {kTemplateLabels +
                       "[tor-affinity]: tor-affinity is \"normal-scheme\", which the scheduler "
                       "refuses: the job stays Pending, did you mean \"normal-schema\"?"}},
                     {"the word null", LabelledDeployment("tor-affinity: 'null'"), {}},
                     {"normal-schema", LabelledDeployment("tor-affinity: normal-schema"), {}},
                 });
}

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
TEST(PodGroupsOfUsers, AreJudged) {
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
  EXPECT_FALSE(schemas::BuildView(owned.root())) << "a controller's copies what was judged";
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
