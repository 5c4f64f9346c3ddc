#include <gtest/gtest.h>

#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string VcJob(const std::string& spec, const std::string& metadata = "name: j") {
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {" + metadata +
         "}, spec: {" + spec + "}}";
}

// "{name: NAME, replicas: N, FIELDS, template of NPUs}"
std::string Task(const std::string& name, const std::string& fields) {
  return "{name: " + name + ", " + fields + ", template: {" + kNpuSpec + "}}";
}

TEST(VcjobRetries, Table) {
  const auto job = [](const std::string& spec, const std::string& retries) {
    return VcJob(
        spec + "tasks: [" + Task("a", "replicas: 2") + "]",
        "name: j, labels: {fault-scheduling: force, fault-retry-times: '" + retries + "'}");
  };
  const std::string restart = "policies: [{event: PodEvicted, action: RestartJob}], ";
  ExpectFindings(
      "MG193",
      {
          {"fewer than the label asks for",
           job("schedulerName: volcano, maxRetry: 3, " + restart, "10"),
           {"spec.maxRetry: maxRetry is 3, and fault-retry-times asks for 10: PodEvicted restarts "
            "the job, which counts against maxRetry, and the job fails after 3 restarts"}},
          {"as many", job("schedulerName: volcano, maxRetry: 10, " + restart, "10"), {}},
          {"left out", job("schedulerName: volcano, " + restart, "10"), {}},
          {"the label is no number",
           job("schedulerName: volcano, maxRetry: 3, " + restart, "x"),
           {}},
          {"the job does not restart", job("schedulerName: volcano, maxRetry: 3, ", "10"), {}},
      });
}

TEST(JobEndsOnFault, Table) {
  const auto job = [](const std::string& labels, const std::string& policies,
                      const std::string& task = "") {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v, labels: {" +
           labels + "}}\nspec: {schedulerName: volcano, policies: [" + policies +
           "], tasks: [{name: w, replicas: 2, " + task +
           "template: {spec: {containers: [{name: m, resources: {requests: {huawei.com/Ascend910: "
           "8}, limits: {huawei.com/Ascend910: 8}}}]}}}]}";
  };
  const std::string evicted =
      " has no effect for task \"w\": the scheduler deletes the faulty pod, which is PodEvicted, "
      "and ";
  const std::string failed = " has no effect for task \"w\": a pod that fails is PodFailed, and ";
  const std::string ends = " ends the job for good";
  ExpectFindings(
      "MG191",
      {
          {"evicted pods end the job",
           job("fault-scheduling: force", "{event: PodEvicted, action: AbortJob}"),
           {"spec.policies: fault-scheduling: force" + evicted + "AbortJob" + ends}},
          {"so does any event",
           job("fault-scheduling: grace", "{event: '*', action: CompleteJob}"),
           {"spec.policies: fault-scheduling: grace" + evicted + "CompleteJob" + ends}},
          {"failed pods end the task's job",
           job("fault-retry-times: '3'", "",
               "policies: [{event: PodFailed, action: TerminateJob}], "),
           {"spec.tasks[0].policies: fault-retry-times: 3" + failed + "TerminateJob" + ends}},
          {"a restart",
           job("fault-scheduling: force", "{event: PodEvicted, action: RestartJob}"),
           {}},
          {"another event",
           job("fault-scheduling: force", "{event: PodFailed, action: AbortJob}"),
           {}},
          {"no rescheduling",
           job("fault-scheduling: 'off'", "{event: PodEvicted, action: AbortJob}"),
           {}},
          {"no retries", job("fault-retry-times: '0'", "{event: PodFailed, action: AbortJob}"), {}},
      });
}

TEST(VcjobGangSize, Table) {
  const auto tasks = [](const std::string& first, const std::string& second) {
    return "tasks: [" + Task("a", first) + ", {" + second + "}]";
  };
  ExpectFindings(
      "MG130",
      {
          {"more than all tasks make",
           VcJob("minAvailable: 5, " + tasks("replicas: 2", "replicas: 2")),
           {"spec.minAvailable: minAvailable 5 is more than the 4 pods of all tasks: the job never "
            "starts"}},
          {"without NPUs it is nobody's business",
           VcJob("minAvailable: 5, tasks: [{replicas: 2, template: {}}, {replicas: 2}]"),
           {}},
          {"equal", VcJob("minAvailable: 4, " + tasks("replicas: 2", "replicas: 2")), {}},
          {"missing replicas are 0",
           VcJob("minAvailable: 2, " + tasks("replicas: 1", "name: b")),
           {"spec.minAvailable: minAvailable 2 is more than the 1 pods of all tasks: the job never "
            "starts"}},
          // Its fix names no number: MG132 refuses 0.
          {"no pods at all",
           VcJob("minAvailable: 1, " + tasks("replicas: 0", "replicas: 0")),
           {"spec.minAvailable: minAvailable 1 is more than the 0 pods of all tasks: the job never "
            "starts"}},
          {"of one task",
           VcJob("minAvailable: 2, " + tasks("replicas: 2, minAvailable: 3", "replicas: 1")),
           {"spec.tasks[0].minAvailable: minAvailable 3 is more than the 2 replicas of task \"a\": "
            "the job never starts"}},
          {"a CronJob of Volcano",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, spec: {jobTemplate: {spec: "
           "{minAvailable: 2, tasks: [" +
               Task("a", "replicas: 1") + "]}}}}",
           {"spec.jobTemplate.spec.minAvailable: minAvailable 2 is more than the 1 pods of all "
            "tasks: the job never starts"}},
          {"missing", VcJob(tasks("replicas: 1", "replicas: 1")), {}},
          {"text is MG001's",
           VcJob("minAvailable: 5, " + tasks("replicas: '2'", "replicas: 1")),
           {}},
          RefusedBefore({"counts beyond int64",
                         VcJob("minAvailable: 5, " + tasks("replicas: 9223372036854775807",
                                                           "replicas: 9223372036854775807")),
                         {}}),
      });
}

TEST(VcjobQueue, Table) {
  const std::string task = "tasks: [" + Task("a", "replicas: 1") + "]";
  const std::string message =
      ": the job names no queue: before Volcano 1.15, and without Volcano's admission, its "
      "controller looks for a queue without a name, fails, and makes no pods";
  ExpectFindings("MG131",
                 {
                     {"missing", VcJob(task), {"spec.queue" + message}},
                     {"empty", VcJob("queue: '', " + task), {"spec.queue" + message}},
                     {"named", VcJob("queue: default, " + task), {}},
                     {"without NPUs", VcJob("tasks: [{name: a, replicas: 1}]"), {}},
                     {"no spec at all",
                      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {labels: "
                      "{mindgate.io/inject: enabled}}}",
                      {}},
                 });
}

schemas::Versions Volcano(int minor) {
  schemas::Versions versions;
  versions.Set(schemas::Component::kVolcano, {1, minor});
  return versions;
}

TEST(VcjobQueue, DependsOnTheVersionOfVolcano) {
  const std::string object = VcJob("tasks: [" + Task("a", "replicas: 1") + "]");
  const std::string message =
      "spec.queue: the job names no queue: without Volcano's admission, its controller looks for a "
      "queue without a name, fails, and makes no pods";
  ExpectFindings("MG131",
                 {
                     {.name = "1.12", .object = object, .want = {message}, .versions = Volcano(12)},
                     {.name = "1.15", .object = object, .versions = Volcano(15)},
                 });
}

TEST(VcjobMinAvailable, Table) {
  const std::string tasks =
      "tasks: [" + Task("a", "replicas: 1") + ", " + Task("b", "replicas: 3") + "]";
  const std::string message =
      ": the job is not a gang, and its pods take NPUs one by one while the others wait";
  ExpectFindings(
      "MG132",
      {
          {"missing", VcJob(tasks), {"spec.minAvailable: minAvailable is missing" + message}},
          {"zero",
           VcJob("minAvailable: 0, " + tasks),
           {"spec.minAvailable: minAvailable is 0" + message}},
          {"one, on purpose", VcJob("minAvailable: 1, " + tasks), {}},
          {"text is MG001's", VcJob("minAvailable: '0', " + tasks), {}},
          {"without NPUs", VcJob("tasks: [{replicas: 1}]"), {}},
      });
}

TEST(VcjobTaskName, Table) {
  ExpectFindings(
      "MG133",
      {
          {"two tasks without names",
           VcJob("tasks: [{replicas: 1, template: {" + std::string(kNpuSpec) +
                 "}}, {replicas: 1}]"),
           {"spec.tasks[0].name: task 0 has no name: without Volcano's admission its pods have no "
            "name that distinguishes them",
            "spec.tasks[1].name: task 1 has no name: without Volcano's admission its pods have no "
            "name that distinguishes them, and two such tasks share their pods' names"}},
          {"the same name twice",
           VcJob("tasks: [" + Task("a", "replicas: 1") + ", " + Task("a", "replicas: 1") + "]"),
           {"spec.tasks[1].name: another task is named \"a\" too: both create pods with the same "
            "names, and the second task gets none"}},
          {"named", VcJob("tasks: [" + Task("a", "replicas: 1") + "]"), {}},
          {"a number is MG001's", VcJob("tasks: [" + Task("1", "replicas: 1") + "]"), {}},
          {"without NPUs", VcJob("tasks: [{replicas: 1}]"), {}},
      });
}

TEST(VcjobPodFailure, DependsOnTheVersionOfVolcano) {
  const std::string object =
      VcJob("policies: [{event: PodEvicted, action: RestartTask}], tasks: [" +
                Task("a", "replicas: 2") + "]",
            "labels: {pod-rescheduling: 'on'}");
  const std::string message =
      "spec.policies: pod-rescheduling: on has no effect for task \"a\": the scheduler deletes the "
      "faulty pod, which is PodEvicted, and ";
  ExpectFindings(
      "MG134",
      {
          {.name = "unknown",
           .object = object,
           .want = {message + "from Volcano 1.11 on RestartTask deletes all pods "
                              "of the task with it"}},
          {.name = "1.10 does what SyncJob does", .object = object, .versions = Volcano(10)},
          {.name = "1.11",
           .object = object,
           .want = {message + "RestartTask deletes all pods of the task with it"},
           .versions = Volcano(11)},
      });
}

TEST(VcjobFailurePolicy, Table) {
  const std::string on = "name: j, labels: {fault-scheduling: force, pod-rescheduling: 'on'}";
  const std::string path = "name: j, annotations: {huawei.com/recover_policy_path: pod}";
  const std::string task = "tasks: [" + Task("a", "replicas: 2") + "]";
  const auto policy = [](const std::string& event, const std::string& action) {
    return "policies: [{event: " + event + ", action: " + action + "}]";
  };
  const std::string label = "pod-rescheduling: on has no effect for task \"a\"";
  const std::string evicted = ": the scheduler deletes the faulty pod, which is PodEvicted, and ";
  const std::string failed = ": a pod that fails is PodFailed, and ";
  const std::string of_task = " deletes all pods of the task with it";
  ExpectFindings(
      "MG134",
      {
          {"without a policy Volcano only makes the pod again", VcJob(task, on), {}},
          {"PodEvicted is what the scheduler causes",
           VcJob(policy("PodEvicted", "RestartJob") + ", " + task, on),
           {"spec.policies: " + label + evicted + "RestartJob takes the whole job down"}},
          {"recover_policy_path",
           VcJob(policy("PodEvicted", "AbortJob") + ", " + task, path),
           {"spec.policies: huawei.com/recover_policy_path: pod has no effect for task \"a\"" +
            evicted + "AbortJob takes the whole job down"}},
          {"a pod that fails by itself",
           VcJob(policy("PodFailed", "RestartJob") + ", " + task, on),
           {"spec.policies: " + label + failed + "RestartJob takes the whole job down"}},
          {"any event",
           VcJob(policy("'*'", "TerminateJob") + ", " + task, on),
           {"spec.policies: " + label + evicted + "TerminateJob takes the whole job down"}},
          {"on the template",
           VcJob(policy("PodEvicted", "RestartJob") +
                 ", tasks: [{name: a, replicas: 1, template: {metadata: {labels: "
                 "{pod-rescheduling: 'on'}}, " +
                 std::string(kNpuSpec) + "}}]"),
           {"spec.policies: " + label + evicted + "RestartJob takes the whole job down"}},
          {"a task's own policy wins",
           VcJob(policy("PodEvicted", "RestartPod") + ", tasks: [" +
                     Task("a", "replicas: 1, " + policy("PodEvicted", "AbortJob")) + "]",
                 on),
           {"spec.tasks[0].policies: " + label + evicted + "AbortJob takes the whole job down"}},
          {"and saves the task",
           VcJob(policy("PodEvicted", "RestartJob") + ", tasks: [" +
                     Task("a", "replicas: 1, " + policy("PodEvicted", "RestartPod")) + "]",
                 on),
           {}},
          {"RestartTask, as the documents have it",
           VcJob(policy("PodFailed", "RestartTask") + ", " + task, on),
           {"spec.policies: " + label + failed + "from Volcano 1.11 on RestartTask" + of_task}},
          {"of a task of one pod",
           VcJob(policy("PodFailed", "RestartTask") + ", tasks: [" + Task("a", "replicas: 1") + "]",
                 on),
           {}},
          {"RestartPartition",
           VcJob(policy("PodEvicted", "RestartPartition") + ", " + task, on),
           {"spec.policies: " + label + evicted +
            "RestartPartition deletes all pods of the partition with it"}},
          {"of partitions of one pod",
           VcJob(policy("PodEvicted", "RestartPartition") + ", tasks: [" +
                     Task("a",
                          "replicas: 2, partitionPolicy: {totalPartitions: 2, partitionSize: "
                          "1}") +
                     "]",
                 on),
           {}},
          {"RestartPod", VcJob(policy("PodEvicted", "RestartPod") + ", " + task, on), {}},
          {"Ignore is MindCluster's own action",
           VcJob(policy("PodFailed", "Ignore") + ", " + task, on),
           {}},
          {"among several events",
           VcJob("policies: [{events: [PodEvicted, PodFailed], action: RestartJob}], " + task, on),
           {"spec.policies: " + label + evicted + "RestartJob takes the whole job down"}},
          {"fault-scheduling alone wants the whole job",
           VcJob(policy("PodEvicted", "RestartJob") + ", " + task,
                 "name: j, labels: {fault-scheduling: force}"),
           {}},
          {"policies of the wrong type", VcJob("policies: 3, " + task, on), {}},
      });
}

TEST(BatchJobNpus, Table) {
  const std::string pod_template = "template: {" + std::string(kNpuSpec) + "}";
  ExpectFindings(
      "MG135",
      {
          {"a Job of batch/v1",
           "{apiVersion: batch/v1, kind: Job, spec: {" + pod_template + "}}",
           {"kind: no MindCluster component handles a batch Job: its NPUs get no rank table and no "
            "job summary, only scheduling"}},
          {"CronJob",
           "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {" + pod_template +
               "}}}}",
           {"kind: no MindCluster component handles a batch CronJob: its NPUs get no rank table "
            "and no job summary, only scheduling"}},
          {"the Job of a CronJob was evaluated with it",
           "{apiVersion: batch/v1, kind: Job, metadata: {ownerReferences: [{apiVersion: batch/v1, "
           "kind: CronJob, name: c, controller: true}]}, spec: {" +
               pod_template + "}}",
           {}},
          {"without NPUs", "{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {}}}}", {}},
      });
}

TEST(PartialGang, Table) {
  const auto waits = [](std::string_view field, int least, int pods) {
    return std::string(field) + ": minAvailable is " + std::to_string(least) + " of " +
           std::to_string(pods) +
           " pods: the job starts when these fit, and its processes hold their NPUs while they "
           "wait for the others";
  };
  const auto job = [](const std::string& least, const std::string& metadata = "name: j") {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {" + metadata +
           "}, spec: {runPolicy: {schedulingPolicy: {queue: default" + least +
           "}}, replicaSpecs: {Master: {template: {" + kNpuSpec +
           "}}, Worker: {replicas: 3, template: {" + kNpuSpec + "}}}}}";
  };
  const std::string tasks = ", tasks: [" + Task("a", "replicas: 4") + "]";
  ExpectFindings(
      "MG138",
      {
          {"of an AscendJob",
           job(", minAvailable: 2"),
           {waits("spec.runPolicy.schedulingPolicy.minAvailable", 2, 4)}},
          {"one of an AscendJob",
           job(", minAvailable: 1"),
           {waits("spec.runPolicy.schedulingPolicy.minAvailable", 1, 4)}},
          {"all", job(", minAvailable: 4"), {}},
          {"left out", job(""), {}},
          {"zero has a rule of its own", job(", minAvailable: 0"), {}},
          {"elastic training goes on with fewer",
           job(", minAvailable: 2", "name: j, annotations: {recover-strategy: elastic-training}"),
           {}},
          {"of a vcjob", VcJob("minAvailable: 3" + tasks), {waits("spec.minAvailable", 3, 4)}},
          {"independent pods of a vcjob", VcJob("minAvailable: 1" + tasks), {}},
          {"without NPUs", VcJob("minAvailable: 3, tasks: [{name: a, replicas: 4}]"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
