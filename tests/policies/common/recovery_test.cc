#include "policies/common/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string VolcanoJobWith(const std::string& metadata, const std::string& spec) {
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v, " + metadata +
         "}, spec: {tasks: [{name: t, replicas: 1, template: {spec: {" + spec + kNpuContainers +
         "}}}]}}";
}

std::string PodSetWith(const std::string& metadata, const std::string& spec = "") {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, metadata: {name: p}, spec: "
         "{podGroupSize: 2, template: {metadata: {" +
         metadata + "}, spec: {" + spec + kNpuContainers + "}}}}";
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

TEST(RetryRestartPolicy, Table) {
  const auto finding = [](const std::string& field, const std::string& policy) {
    return field + ": restartPolicy is \"" + policy +
           "\" but fault-retry-times counts failed pods: containers restart in place instead, on "
           "the same cards, and their pod stays marked as failed";
  };
  const std::string retries = "labels: {fault-retry-times: '3'}";
  ExpectFindings(
      "MG055",
      {
          {"an AscendJob's replica spec decides",
           AscendJobWith(retries, "restartPolicy: OnFailure, "),
           {finding("spec.replicaSpecs.Worker.restartPolicy", "OnFailure")}},
          {"and its default is Never", AscendJobWith(retries), {}},
          {"a template's own is overwritten",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {" + retries +
               "}, spec: {replicaSpecs: {Worker: {template: {spec: {restartPolicy: Always, " +
               kNpuContainers + "}}}}}}",
           {}},
          {"ExitCode becomes Never", AscendJobWith(retries, "restartPolicy: ExitCode, "), {}},
          {"MindIE's controller restarts in place, as the documents have it",
           AscendJobWith("labels: {fault-retry-times: '3', jobID: j, app: mindie-ms-controller}",
                         "restartPolicy: Always, "),
           {}},
          {"MindIE's server does not",
           AscendJobWith("labels: {fault-retry-times: '3', jobID: j, app: mindie-ms-server}",
                         "restartPolicy: Always, "),
           {finding("spec.replicaSpecs.Worker.restartPolicy", "Always")}},
          {"a Volcano task, labelled on the job",
           VolcanoJobWith(retries, "restartPolicy: OnFailure, "),
           {finding("spec.tasks[0].template.spec.restartPolicy", "OnFailure")}},
          {"a Volcano task without one gets Kubernetes' default",
           VolcanoJobWith(retries, ""),
           {finding("spec.tasks[0].template.spec.restartPolicy", "Always")}},
          {"a Volcano task with Never", VolcanoJobWith(retries, "restartPolicy: Never, "), {}},
          {"no retries", VolcanoJobWith("labels: {fault-retry-times: '0'}", ""), {}},
          {"AIBrix", PodSetWith(retries), {finding("spec.template.spec.restartPolicy", "Always")}},
          {"AIBrix with Never", PodSetWith(retries, "restartPolicy: Never, "), {}},
          {"a batch Job",
           "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {" +
               retries + "}, spec: {restartPolicy: OnFailure, " + kNpuContainers + "}}}}",
           {finding("spec.template.spec.restartPolicy", "OnFailure")}},
          {"a bare pod",
           "{apiVersion: v1, kind: Pod, metadata: {name: p, " + retries + "}, spec: {" +
               kNpuContainers + "}}",
           {finding("spec.restartPolicy", "Always")}},
          {"a pod of a Deployment cannot choose",
           "{apiVersion: v1, kind: Pod, metadata: {name: p, " + retries +
               ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, controller: "
               "true}]}, spec: {" +
               kNpuContainers + "}}",
           {}},
      });
  EXPECT_FALSE(policies::FindRule("MG055")->kinds.Has(schemas::Kind::kDeployment));
  EXPECT_FALSE(policies::FindRule("MG055")->kinds.Has(schemas::Kind::kStatefulSet));
  EXPECT_FALSE(policies::FindRule("MG055")->kinds.Has(schemas::Kind::kLeaderWorkerSet));
  EXPECT_FALSE(policies::FindRule("MG055")->kinds.Has(schemas::Kind::kInferenceService));
}

TEST(FaultLabelsNeedFaultScheduling, Table) {
  const std::string effect =
      " has no effect without fault-scheduling: the pods are rescheduled neither when they fail "
      "nor when a card breaks";
  const std::string service =
      "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {runtime: "
      "{name: r}, engine: {labels: {fault-retry-times: '3'}}, router: {labels: "
      "{fault-retry-times: '3'}}}}";
  const auto runtime = [](const std::string& labels) {
    return "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: r}, spec: "
           "{engineConfig: {labels: {" +
           labels + "}, runner: {name: m, resources: {limits: {huawei.com/Ascend910: 8}}}}}}";
  };
  RuleCase unknown{"runtime not known", service, {}};
  unknown.want_skipped = true;
  ExpectFindings(
      "MG056",
      {
          {"retries",
           DeploymentWith("labels: {fault-retry-times: '3'}"),
           {"spec.template.metadata.labels[fault-retry-times]: fault-retry-times" + effect}},
          {"the other labels, on a job's metadata",
           AscendJobWith("labels: {pod-rescheduling: 'on', subHealthyStrategy: graceExit}"),
           {"metadata.labels[pod-rescheduling]: pod-rescheduling" + effect,
            "metadata.labels.subHealthyStrategy: subHealthyStrategy" + effect}},
          {"fault-scheduling alone is enough for hardware faults",
           DeploymentWith("labels: {fault-scheduling: force}"),
           {}},
          {"an unquoted one is reported by wrong-type",
           DeploymentWith("labels: {fault-scheduling: on, pod-rescheduling: 'on'}"),
           {}},
          {"off is a decision",
           DeploymentWith("labels: {fault-scheduling: 'off', fault-retry-times: '3'}"),
           {}},
          {"labels that ask for nothing",
           DeploymentWith("labels: {fault-retry-times: '0', pod-rescheduling: 'off', "
                          "subHealthyStrategy: ignore}"),
           {}},
          {"on the job for the template",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {labels: "
           "{fault-scheduling: force}}, spec: {replicaSpecs: {Worker: {template: {metadata: "
           "{labels: {fault-retry-times: '3'}}, spec: {" +
               kNpuContainers + "}}}}}}",
           {}},
          {"a workload without NPUs",
           "{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: {labels: "
           "{fault-retry-times: '3'}}}}}",
           {}},
          unknown,
          {"the runtime has it", service, {}, "", {runtime("fault-scheduling: force")}},
          {"the runtime has none either",
           service,
           {"spec.engine.labels[fault-retry-times]: fault-retry-times" + effect},
           "",
           {runtime("")}},
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

// Without a gang provider, the default of LWS, leaders and workers are in PodGroups of their own.
TEST(ConflictingFaultLabels, OfLeaderAndWorkers) {
  const auto set = [](const std::string& leader, const std::string& worker) {
    const auto pods = [](const std::string& labels) {
      return "{metadata: {labels: {" + labels + "}}, spec: {" + kNpuContainers + "}}";
    };
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, "
           "spec: {leaderWorkerTemplate: {size: 2, leaderTemplate: " +
           pods(leader) + ", workerTemplate: " + pods(worker) + "}}}";
  };
  const std::string conflict =
      "spec.leaderWorkerTemplate.workerTemplate.metadata.labels[pod-rescheduling]: "
      "pod-rescheduling is \"off\" here and \"on\" at "
      "spec.leaderWorkerTemplate.leaderTemplate.metadata.labels[pod-rescheduling]: under gang "
      "scheduling of LWS the scheduler joins them to \"on|off\", so it counts as off";
  schemas::Versions before;
  before.Set(schemas::Component::kLeaderWorkerSet, {0, 6});
  const std::string differ = set("pod-rescheduling: 'on'", "pod-rescheduling: 'off'");
  ExpectFindings(
      "MG057",
      {
          {.name = "two values", .object = differ, .want = {conflict}, .warned = true},
          {.name = "before there was gang scheduling", .object = differ, .versions = before},
          {.name = "one value", .object = set("pod-rescheduling: 'on'", "pod-rescheduling: 'on'")},
      });
}

TEST(PodReschedulingPlacement, Table) {
  const std::string pod_set =
      ": pod-rescheduling does not fit a podGroupSize above 1: its pods are one instance and only "
      "work again when all of them restart";
  const auto roles = [](const std::string& size) {
    return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, "
           "spec: {roles: [{name: a, replicas: 1, podGroupSize: " +
           size + ", template: {metadata: {labels: {pod-rescheduling: 'on'}}, spec: {" +
           kNpuContainers + "}}}]}}";
  };
  ExpectFindings("MG058",
                 {
                     {"PodSet",
                      PodSetWith("labels: {pod-rescheduling: 'on'}"),
                      {"spec.template.metadata.labels[pod-rescheduling]" + pod_set}},
                     {"a role of two",
                      roles("2"),
                      {"spec.roles[0].template.metadata.labels[pod-rescheduling]" + pod_set}},
                     {"a role of one must have it", roles("1"), {}},
                 });
}

TEST(RecoverPolicyWithoutPodRescheduling, Table) {
  const std::string pod = "annotations: {huawei.com/recover_policy_path: pod}";
  const std::string effect =
      ": huawei.com/recover_policy_path: \"pod\" is set without pod-rescheduling: \"on\", which "
      "the documents require with it";
  ExpectFindings(
      "MG060",
      {
          {"alone",
           DeploymentWith(pod),
           {"spec.template.metadata.annotations[huawei.com/recover_policy_path]" + effect}},
          {"off",
           DeploymentWith(pod + ", labels: {pod-rescheduling: 'off'}"),
           {"spec.template.metadata.annotations[huawei.com/recover_policy_path]" + effect}},
          {"on a job",
           AscendJobWith(pod),
           {"spec.replicaSpecs.Worker.template.metadata.annotations[huawei.com/"
            "recover_policy_path]" +
            effect}},
          {"together", DeploymentWith(pod + ", labels: {pod-rescheduling: 'on'}"), {}},
          {"another path",
           DeploymentWith("annotations: {huawei.com/recover_policy_path: job}"),
           {}},
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

TEST(RedundantPodRescheduling, Table) {
  const auto job = [](const std::string& app) {
    return AscendJobWith("labels: {pod-rescheduling: 'on', jobID: j, app: " + app + "}");
  };
  const auto finding = [](const std::string& app) {
    return std::vector<std::string>{
        "metadata.labels[pod-rescheduling]: pod-rescheduling changes nothing for \"" + app +
        "\": the scheduler always deletes only its faulty pod"};
  };
  ExpectFindings(
      "MG069", {
                   {"controller", job("mindie-ms-controller"), finding("mindie-ms-controller")},
                   {"coordinator", job("mindie-ms-coordinator"), finding("mindie-ms-coordinator")},
                   {"a server can use it", job("mindie-ms-server"), {}},
               });
}

}  // namespace
}  // namespace mindgate::testing
