#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kNpuContainers =
    "containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]";

std::string DeploymentWith(const std::string& metadata) {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: "
         "{metadata: {" +
         metadata + "}, spec: {" + kNpuContainers + "}}}}";
}

std::string AscendJobWith(const std::string& metadata, const std::string& replica_spec = "") {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + metadata +
         "}, spec: {replicaSpecs: {Worker: {" + replica_spec + "template: {spec: {" +
         kNpuContainers + "}}}}}}";
}

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
          {"an unquoted one is wrong-type's to tell",
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

TEST(RecoverPolicyValue, Table) {
  const std::string effect =
      ", which has no effect: only \"pod\" keeps a fault from taking down the whole group";
  ExpectFindings(
      "MG059",
      {
          {"pod,job",
           DeploymentWith("annotations: {huawei.com/recover_policy_path: 'pod,job'}"),
           {"spec.template.metadata.annotations[huawei.com/recover_policy_path]: "
            "huawei.com/recover_policy_path is \"pod,job\"" +
            effect}},
          {"job, on an AscendJob",
           AscendJobWith("annotations: {huawei.com/recover_policy_path: job}"),
           {"metadata.annotations[huawei.com/recover_policy_path]: huawei.com/recover_policy_path "
            "is \"job\"" +
            effect}},
          {"pod", DeploymentWith("annotations: {huawei.com/recover_policy_path: pod}"), {}},
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

TEST(WaitRescheduleTimeout, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {wait-reschedule-timeout: '" + value + "'}");
  };
  const auto finding = [](const std::string& value) {
    return std::vector<std::string>{
        "metadata.annotations[wait-reschedule-timeout]: wait-reschedule-timeout is \"" + value +
        "\", not seconds from 30 to 270: 270 is used instead"};
  };
  ExpectFindings("MG061", {
                              {"below", job("29"), finding("29")},
                              {"above", job("271"), finding("271")},
                              {"with a unit", job("60s"), finding("60s")},
                              {"least", job("30"), {}},
                              {"most", job("270"), {}},
                          });
}

TEST(FaultFilters, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {huawei.com/schedule.filter.faultCode: '" + value + "'}");
  };
  const std::string at = "metadata.annotations[huawei.com/schedule.filter.faultCode]: the filter ";
  ExpectFindings(
      "MG062",
      {
          {"seconds out of range",
           job("8C1F8608:86401"),
           {at + "\"8C1F8608:86401\" cannot be read: \"86401\" is not a number of seconds from 0 "
                 "to 86400"}},
          {"a unit, and an empty entry",
           job("8C1F8608:60s,,4C1F8608"),
           {at + "\"8C1F8608:60s\" cannot be read: \"60s\" is not a number of seconds from 0 to "
                 "86400",
            at + "\"\" cannot be read: it does not name a fault"}},
          {"two colons",
           job("a:1:2"),
           {at + "\"a:1:2\" cannot be read: it has more than one colon"}},
          {"levels are checked as well",
           AscendJobWith(
               "annotations: {huawei.com/schedule.filter.faultLevel: 'RestartRequest:x'}"),
           {"metadata.annotations[huawei.com/schedule.filter.faultLevel]: the filter "
            "\"RestartRequest:x\" cannot be read: \"x\" is not a number of seconds from 0 to "
            "86400"}},
          {"as documented", job("8C1F8608:0,4C1F8608:86400, 80E01801"), {}},
          {"full-width punctuation is accepted", job("8C1F8608：60，4C1F8608"), {}},
          {"switch codes have commas of their own", job("[0x08520003,na,L2,na]:60"), {}},
      });
}

TEST(RecoverStrategy, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {recover-strategy: '" + value + "'}");
  };
  ExpectFindings(
      "MG063",
      {
          {"near miss",
           job("retry,recovery"),
           {"metadata.annotations[recover-strategy]: recover-strategy names \"recovery\", which "
            "the operator does not know, did you mean \"recover\"?"}},
          {"all six", job("retry,recover,recover-in-place,elastic-training,dump,exit"), {}},
          {"the operator does not remove spaces",
           job("recover, dump"),
           {"metadata.annotations[recover-strategy]: recover-strategy names \" dump\" with a "
            "space, and the operator compares without removing it: dump stays off"}},
          {"more entries than there are",
           job(std::string(40, ',')),
           {"metadata.annotations[recover-strategy]: recover-strategy has 41 entries, but the "
            "operator knows 6"}},
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
