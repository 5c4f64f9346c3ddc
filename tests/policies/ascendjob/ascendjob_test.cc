#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Specs(const std::string& types) { return "replicaSpecs: {" + types + "}"; }

// A Worker whose container requests chips.
std::string Worker(int chips, int replicas) {
  return "Worker: {replicas: " + std::to_string(replicas) +
         ", template: {spec: {containers: [{name: ascend, image: i, resources: {requests: "
         "{huawei.com/Ascend910: " +
         std::to_string(chips) + "}}}]}}}";
}

const std::string kFails = ", so the operator fails the job permanently";

TEST(AscendJobReplicaSpecs, Table) {
  ExpectFindings(
      "MG010", {
                   {"a leader and workers", PytorchJob(), {}},
                   {"no spec at all",
                    "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: j}}",
                    {"spec.replicaSpecs: replicaSpecs is missing" + kFails}},
                   {"missing",
                    AscendJob("framework: pytorch", "schedulerName: volcano"),
                    {"spec.replicaSpecs: replicaSpecs is missing" + kFails}},
                   {"an empty map, which passes upstream for mindspore",
                    AscendJob("framework: mindspore", Specs("")),
                    {"spec.replicaSpecs: replicaSpecs is empty, so the job makes no pods"}},
                   {"an empty map",
                    AscendJob("framework: pytorch", Specs("")),
                    {"spec.replicaSpecs: replicaSpecs is empty, so the job makes no pods"}},
                   {"null types",
                    AscendJob("framework: pytorch", Specs("Master: null, Worker: null")),
                    {"spec.replicaSpecs.Master: replica type \"Master\" is null" + kFails,
                     "spec.replicaSpecs.Worker: replica type \"Worker\" is null" + kFails}},
                   {"of the wrong type: wrong-type tells", AscendJob("", "replicaSpecs: [1]"), {}},
               });
}

TEST(AscendJobFramework, Table) {
  ExpectFindings(
      "MG011",
      {
          {"pytorch", AscendJob("framework: pytorch", ""), {}},
          {"mindspore", AscendJob("framework: mindspore", ""), {}},
          {"tensorflow", AscendJob("framework: tensorflow", ""), {}},
          {"missing",
           AscendJob("", ""),
           {"metadata.labels.framework: label framework is missing" + kFails}},
          {"no labels at all",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: j}}",
           {"metadata.labels.framework: label framework is missing" + kFails}},
          {"another case",
           AscendJob("framework: PyTorch", ""),
           {"metadata.labels.framework: framework \"PyTorch\" is not known to the operator, which "
            "fails the job"}},
          {"empty",
           AscendJob("framework: ''", ""),
           {"metadata.labels.framework: framework \"\" is not known to the operator, which fails "
            "the "
            "job"}},
          {"no string: wrong-type tells", AscendJob("framework: 1", ""), {}},
      });
}

TEST(AscendJobReplicaTypes, Table) {
  ExpectFindings(
      "MG012",
      {
          {"mindspore", AscendJob("framework: mindspore", Specs("Scheduler: {}, Worker: {}")), {}},
          {"tensorflow", AscendJob("framework: tensorflow", Specs("Chief: {}, Worker: {}")), {}},
          {"type names are case-sensitive",
           AscendJob("framework: pytorch", Specs("master: {}, worker: {}")),
           {"spec.replicaSpecs.master: replica type \"master\" is not \"Master\" or \"Worker\" of "
            "pytorch" +
                kFails,
            "spec.replicaSpecs.worker: replica type \"worker\" is not \"Master\" or \"Worker\" of "
            "pytorch" +
                kFails}},
          {"another framework's leader",
           AscendJob("framework: mindspore", Specs("Master: {}, Worker: {}")),
           {"spec.replicaSpecs.Master: replica type \"Master\" is not \"Scheduler\" or \"Worker\" "
            "of "
            "mindspore" +
            kFails}},
          {"unknown framework: any leader may be right",
           AscendJob("framework: x", Specs("Chief: {}, Worker: {}, Ps/x: {}")),
           {"spec.replicaSpecs[Ps/x]: replica type \"Ps/x\" is not \"Scheduler\", \"Master\", "
            "\"Chief\" or \"Worker\"" +
            kFails}},
      });
}

TEST(AscendJobReplicas, Table) {
  ExpectFindings(
      "MG013",
      {
          {"unset, and the largest",
           AscendJob("", Specs("Master: {}, Worker: {replicas: 20000}")),
           {}},
          {"no workers", AscendJob("", Specs("Master: {replicas: 1}, Worker: {replicas: 0}")), {}},
          {"a leader has exactly one replica",
           AscendJob(
               "", Specs("Chief: {replicas: 0}, Master: {replicas: 2}, Scheduler: {replicas: -1}")),
           {"spec.replicaSpecs.Chief.replicas: replicas of Chief is 0, but a leader has exactly 1" +
                kFails,
            "spec.replicaSpecs.Master.replicas: replicas of Master is 2, but a leader has exactly "
            "1" +
                kFails,
            "spec.replicaSpecs.Scheduler.replicas: replicas of Scheduler is -1, but a leader has "
            "exactly 1" +
                kFails}},
          {"out of range",
           AscendJob("", Specs("Worker: {replicas: -1}")),
           {"spec.replicaSpecs.Worker.replicas: replicas of Worker is -1, outside 0 to 20000" +
            kFails}},
          {"above",
           AscendJob("", Specs("Worker: {replicas: 20001}")),
           {"spec.replicaSpecs.Worker.replicas: replicas of Worker is 20001, outside 0 to 20000" +
            kFails}},
          {"more than 64 bits hold",
           AscendJob("", Specs("Worker: {replicas: 18446744073709551615}")),
           {"spec.replicaSpecs.Worker.replicas: replicas of Worker is 18446744073709551615, "
            "outside 0 "
            "to 20000" +
            kFails}},
          {"no integer: wrong-type tells",
           AscendJob("", Specs("Master: {replicas: '2'}, Worker: {replicas: 1.5}")),
           {}},
      });
}

TEST(AscendJobLeader, Table) {
  const std::string kScheduler =
      "spec.replicaSpecs.Scheduler: replica type Scheduler is missing, but Worker requests ";
  ExpectFindings(
      "MG014",
      {
          {"pytorch", PytorchJob(), {}},
          {"pytorch without Master",
           AscendJob("framework: pytorch", Specs("Worker: {}")),
           {"spec.replicaSpecs.Master: replica type Master is missing, the leader of pytorch jobs" +
            kFails}},
          {"tensorflow without Chief",
           AscendJob("framework: tensorflow", Specs("Worker: {}")),
           {"spec.replicaSpecs.Chief: replica type Chief is missing, the leader of tensorflow "
            "jobs" +
            kFails}},
          {"a misspelled leader is told once, by its type",
           AscendJob("framework: pytorch", Specs("master: {}, Worker: {}")),
           {}},
          {"an empty map is told once", AscendJob("framework: pytorch", Specs("")), {}},
          {"mindspore with Scheduler",
           AscendJob("framework: mindspore", Specs("Scheduler: {}, " + Worker(16, 2))),
           {}},
          {"mindspore without Scheduler runs on one chip",
           AscendJob("framework: mindspore", Specs(Worker(1, 1))),
           {}},
          {"or on none", AscendJob("framework: mindspore", Specs("Worker: {replicas: 4}")), {}},
          {"but not on two",
           AscendJob("framework: mindspore", Specs(Worker(2, 1))),
           {kScheduler + "2 chips in 1 pod and only a job with 1 chip runs without it" + kFails}},
          {"nor on one in each of two pods",
           AscendJob("framework: mindspore", Specs(Worker(1, 2))),
           {kScheduler + "1 chip in each of 2 pods and only a job with 1 chip runs without it" +
            kFails}},
          {"limits do not count, the operator reads requests",
           AscendJob("framework: mindspore",
                     Specs("Worker: {template: {spec: {containers: [{name: ascend, image: i, "
                           "resources: {limits: {huawei.com/Ascend910: 8}}}]}}}")),
           {}},
          {"nor do other containers",
           AscendJob("framework: mindspore",
                     Specs("Worker: {template: {spec: {containers: [{name: side, image: i, "
                           "resources: {requests: {huawei.com/Ascend910: 8}}}]}}}")),
           {}},
      });
}

TEST(AscendJobContainer, Table) {
  const auto with = [](const std::string& containers) {
    return AscendJob("framework: pytorch",
                     Specs("Master: {template: {spec: {containers: " + containers + "}}}"));
  };
  ExpectFindings(
      "MG015",
      {
          {"ascend with an image", PytorchJob(), {}},
          {"ascend behind a sidecar",
           with("[{name: side, image: i}, {name: ascend, image: i}]"),
           {}},
          {"no template",
           AscendJob("", Specs("Master: {}")),
           {"spec.replicaSpecs.Master.template.spec.containers: replica type Master has no "
            "containers" +
            kFails}},
          {"no containers",
           with("[]"),
           {"spec.replicaSpecs.Master.template.spec.containers: replica type Master has no "
            "containers" +
            kFails}},
          {"one container of another name",
           with("[{name: Ascend, image: i}]"),
           {"spec.replicaSpecs.Master.template.spec.containers[0].name: no container of Master is "
            "named \"ascend\"" +
            kFails}},
          {"several of other names",
           with("[{name: a, image: i}, {name: b, image: i}]"),
           {"spec.replicaSpecs.Master.template.spec.containers: no container of Master is named "
            "\"ascend\"" +
            kFails}},
          {"an init container does not count",
           AscendJob("",
                     Specs("Worker: {template: {spec: {initContainers: [{name: ascend, image: i}], "
                           "containers: [{name: a, image: i}]}}}")),
           {"spec.replicaSpecs.Worker.template.spec.containers[0].name: no container of Worker is "
            "named \"ascend\"" +
            kFails}},
          {"no image",
           with("[{name: ascend}]"),
           {"spec.replicaSpecs.Master.template.spec.containers[0].image: container ascend of "
            "Master "
            "has no image" +
            kFails}},
          {"an empty image",
           with("[{name: ascend, image: ''}]"),
           {"spec.replicaSpecs.Master.template.spec.containers[0].image: container ascend of "
            "Master "
            "has no image" +
            kFails}},
          {"wrong types: wrong-type tells", with("[{name: 1}, 2]"), {}},
          {"no list: wrong-type tells", with("{name: ascend}"), {}},
      });
}

TEST(AscendJobSuccessPolicy, Table) {
  ExpectFindings("MG016",
                 {
                     {"absent", PytorchJob(), {}},
                     {"empty", PytorchJob("successPolicy: ''"), {}},
                     {"AllWorkers", PytorchJob("successPolicy: AllWorkers"), {}},
                     {"another",
                      PytorchJob("successPolicy: ChiefWorker"),
                      {"spec.successPolicy: successPolicy \"ChiefWorker\" is neither \"\" nor "
                       "\"AllWorkers\"" +
                       kFails}},
                     {"no string: wrong-type tells", PytorchJob("successPolicy: 1"), {}},
                 });
}

TEST(AscendJobSuccessPolicyEffect, Table) {
  ExpectFindings("MG017", {
                              {"absent", PytorchJob(), {}},
                              {"empty", PytorchJob("successPolicy: ''"), {}},
                              {"successPolicy has no effect",
                               PytorchJob("successPolicy: AllWorkers"),
                               {"spec.successPolicy: successPolicy AllWorkers has no effect: the "
                                "operator checks the value but never uses it"}},
                          });
}

TEST(AscendJobSuccessPolicyEffect, DoesNotTroubleUsersOfVendorSamples) {
  EXPECT_EQ(policies::FindRule("MG017")->default_mode, schemas::Mode::kAudit);
}

TEST(AscendJobScaleOutType, Table) {
  ExpectFindings(
      "MG018",
      {
          {"absent", PytorchJob(), {}},
          {"RoCE in any case", PytorchJob("", "scaleout-type: roce"), {}},
          {"UBOE", PytorchJob("", "scaleout-type: UBOE"), {}},
          {"blank", PytorchJob("", "scaleout-type: ''"), {}},
          {"another",
           PytorchJob("", "scaleout-type: tcp"),
           {"metadata.labels[scaleout-type]: scaleout-type \"tcp\" is neither \"ROCE\" nor "
            "\"UBOE\", so the operator fails the job without an Event"}},
      });
}

TEST(AscendJobQueueSet, Table) {
  const std::string kMissing =
      "spec.runPolicy.schedulingPolicy.queue: schedulingPolicy has no queue, so the operator looks "
      "for "
      "a queue without a name and fails the job";
  ExpectFindings(
      "MG019",
      {
          {"no schedulingPolicy", PytorchJob("runPolicy: {}"), {}},
          {"null schedulingPolicy", PytorchJob("runPolicy: {schedulingPolicy: null}"), {}},
          {"a queue", PytorchJob("runPolicy: {schedulingPolicy: {queue: default}}"), {}},
          {"schedulingPolicy without queue",
           PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 2}}"),
           {kMissing}},
          {"an empty schedulingPolicy",
           PytorchJob("runPolicy: {schedulingPolicy: {}}"),
           {kMissing}},
          {"an empty queue", PytorchJob("runPolicy: {schedulingPolicy: {queue: ''}}"), {kMissing}},
          {"no string: wrong-type tells",
           PytorchJob("runPolicy: {schedulingPolicy: {queue: 1}}"),
           {}},
      });
}

TEST(AscendJobQueueExists, Table) {
  const std::string job = PytorchJob("runPolicy: {schedulingPolicy: {queue: q}}");
  const std::string queue =
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}}";
  RuleCase absent{"absent",
                  job,
                  {"spec.runPolicy.schedulingPolicy.queue: Queue \"q\" does not exist; unless it "
                   "is created first, the operator fails the job permanently"}};
  absent.know_cluster = true;
  RuleCase present{"present", job, {}};
  present.others = {queue};
  RuleCase unknown{"unknown: skipped", job, {}};
  unknown.want_skipped = true;
  RuleCase standard{"the default queue is Volcano's own",
                    PytorchJob("runPolicy: {schedulingPolicy: {queue: default}}"),
                    {}};
  standard.know_cluster = true;
  ExpectFindings("MG020", {absent, present, unknown, standard});
}

TEST(AscendJobMinAvailable, Table) {
  const auto with = [](const std::string& min_available) {
    return PytorchJob("runPolicy: {schedulingPolicy: {queue: q, minAvailable: " + min_available +
                      "}}");
  };
  ExpectFindings(
      "MG021",
      {
          {"absent", PytorchJob(), {}},
          {"all pods", with("2"), {}},
          {"fewer", with("1"), {}},
          {"more",
           with("3"),
           {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is 3, more than the job's "
            "2 "
            "pods, so the gang never fills and none starts"}},
          {"negative",
           with("-1"),
           {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is -1, which no PodGroup "
            "accepts, so the job gets no pods"}},
          {"replicas that make no sense are told elsewhere",
           AscendJob("", Specs("Worker: {replicas: -1}") +
                             ", runPolicy: {schedulingPolicy: {minAvailable: 9}}"),
           {}},
          {"no integer: wrong-type tells", with("'3'"), {}},
      });
}

TEST(AscendJobGang, Table) {
  ExpectFindings("MG022",
                 {
                     {"absent", PytorchJob("runPolicy: {schedulingPolicy: {queue: q}}"), {}},
                     {"1", PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 1}}"), {}},
                     {"0",
                      PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 0}}"),
                      {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is 0, so the "
                       "pods are not a gang and each starts on its own"}},
                 });
}

TEST(AscendJobBackoffLimit, Table) {
  ExpectFindings("MG023", {
                              {"absent", PytorchJob("runPolicy: {}"), {}},
                              {"3, as documented", PytorchJob("runPolicy: {backoffLimit: 3}"), {}},
                              {"0 is unlimited",
                               PytorchJob("runPolicy: {backoffLimit: 0}"),
                               {"spec.runPolicy.backoffLimit: backoffLimit 0 means unlimited, not "
                                "zero: failed pods are recreated forever"}},
                              {"negative is unlimited",
                               PytorchJob("runPolicy: {backoffLimit: -1}"),
                               {"spec.runPolicy.backoffLimit: backoffLimit -1 means unlimited, not "
                                "zero: failed pods are recreated forever"}},
                          });
}

TEST(AscendJobRestartPolicy, Table) {
  ExpectFindings(
      "MG024",
      {
          {"the four and none",
           AscendJob("", Specs("A: {restartPolicy: Always}, B: {restartPolicy: OnFailure}, C: "
                               "{restartPolicy: Never}, D: {restartPolicy: ExitCode}, E: {}, F: "
                               "{restartPolicy: ''}")),
           {}},
          {"another",
           AscendJob("", Specs("Master: {restartPolicy: never}")),
           {"spec.replicaSpecs.Master.restartPolicy: restartPolicy \"never\" of Master is not one "
            "that pods can have, so the API server refuses them"}},
      });
}

TEST(AscendJobTemplateRestartPolicy, Table) {
  const auto with = [](const std::string& own, const std::string& written) {
    return AscendJob("", Specs("Master: {" + own + "template: {spec: {restartPolicy: " + written +
                               ", containers: []}}}"));
  };
  const std::string kField = "spec.replicaSpecs.Master.template.spec.restartPolicy: ";
  ExpectFindings(
      "MG025",
      {
          {"only beside replicas", AscendJob("", Specs("Master: {restartPolicy: Always}")), {}},
          {"both agree", with("restartPolicy: Always, ", "Always"), {}},
          {"Never is the default", with("", "Never"), {}},
          {"ExitCode makes pods with Never", with("restartPolicy: ExitCode, ", "Never"), {}},
          {"the template's value is overwritten by the default",
           with("", "Always"),
           {kField + "the template's restartPolicy \"Always\" is overwritten with \"Never\", which "
                     "Master has "
                     "beside its replicas"}},
          {"and by the replica type's",
           with("restartPolicy: OnFailure, ", "Never"),
           {kField + "the template's restartPolicy \"Never\" is overwritten with \"OnFailure\", "
                     "which Master "
                     "has beside its replicas"}},
      });
}

TEST(AscendJobSchedulerNames, Table) {
  const auto with = [](const std::string& master, const std::string& worker,
                       const std::string& more = "") {
    return AscendJob("", Specs("Master: {template: {spec: {" + master +
                               "}}}, Worker: {template: {spec: {" + worker + "}}}") +
                             more);
  };
  const std::string kWorker =
      "spec.replicaSpecs.Worker.template.spec.schedulerName: pods of Worker go ";
  ExpectFindings(
      "MG026",
      {
          {"none", with("", ""), {}},
          {"only the job names one", with("", "", ", schedulerName: volcano"), {}},
          {"all the same", with("schedulerName: volcano", "schedulerName: volcano"), {}},
          {"all another", with("schedulerName: mine", "schedulerName: mine"), {}},
          {"one names it and one does not, whatever the job says",
           with("schedulerName: volcano", "", ", schedulerName: volcano"),
           {kWorker + "to scheduler \"default-scheduler\" and those of Master to \"volcano\", so "
                      "they are not a gang"}},
          {"two different names",
           with("schedulerName: mine", "schedulerName: volcano"),
           {"spec.replicaSpecs.Master.template.spec.schedulerName: pods of Master go to scheduler "
            "\"mine\" and those of Worker to \"volcano\", so they are not a gang"}},
      });
}

TEST(AscendJobNameShadowed, Table) {
  const auto other = [](const std::string& api_version, const std::string& kind,
                        const std::string& ns) {
    return "{apiVersion: " + api_version + ", kind: " + kind +
           ", metadata: {name: j, namespace: " + ns + "}}";
  };
  std::vector<RuleCase> cases = {
      {"alone", PytorchJob(), {}},
      {"a Deployment",
       PytorchJob(),
       {"metadata.name: a Deployment is named \"j\" too, so the operator never reconciles this "
        "AscendJob"}},
      {"a StatefulSet and a vcjob",
       PytorchJob(),
       {"metadata.name: a StatefulSet is named \"j\" too, so the operator never reconciles this "
        "AscendJob",
        "metadata.name: a Job is named \"j\" too, so the operator never reconciles this "
        "AscendJob"}},
      {"a batch Job hides nothing, nor does another namespace", PytorchJob(), {}},
      {"unknown: skipped", PytorchJob(), {}},
      {"on update nothing can be changed to help", PytorchJob(), {}, PytorchJob()},
  };
  cases[0].know_cluster = true;
  cases[1].others = {other("apps/v1", "Deployment", "ns")};
  cases[2].others = {other("apps/v1", "StatefulSet", "ns"),
                     other("batch.volcano.sh/v1alpha1", "Job", "ns")};
  cases[3].others = {other("batch/v1", "Job", "ns"), other("apps/v1", "Deployment", "m")};
  cases[4].want_skipped = true;
  cases[5].others = {other("apps/v1", "Deployment", "ns")};
  ExpectFindings("MG027", cases);
}

TEST(AscendJobFrozenFields, Table) {
  const std::string kKeeps = ", but the PodGroup of the job keeps the old one";
  const auto job = [](const std::string& labels, const std::string& annotations,
                      const std::string& scheduling) {
    return AscendJob(
        labels,
        Specs("Worker: {replicas: 2}") + ", runPolicy: {schedulingPolicy: {" + scheduling + "}}",
        annotations);
  };
  ExpectFindings(
      "MG028",
      {
          {"labels, annotations, queue and gang size stay as they were",
           job("fault-scheduling: force, app: x", "sp-block: '16'", "queue: b, minAvailable: 1"),
           {"metadata.labels[fault-scheduling]: label fault-scheduling changes from \"grace\" to "
            "\"force\"" +
                kKeeps,
            "metadata.labels.jobID: label jobID changes from \"a\" to nothing" + kKeeps,
            "metadata.annotations[sp-block]: annotation sp-block changes from nothing to \"16\"" +
                kKeeps,
            "spec.runPolicy.schedulingPolicy.minAvailable: minAvailable changes from 2 to 1" +
                kKeeps,
            "spec.runPolicy.schedulingPolicy.queue: queue changes from \"a\" to \"b\"" + kKeeps},
           job("fault-scheduling: grace, app: x, jobID: a", "", "queue: a, minAvailable: 2")},
          {"replicas",
           AscendJob("", Specs("Worker: {replicas: 3}")),
           {"spec.replicaSpecs.Worker.replicas: replicas of Worker changes from nothing to 3" +
            kKeeps},
           AscendJob("", Specs("Worker: {}"))},
          {"replicas: 1 is what was meant before",
           AscendJob("", Specs("Worker: {replicas: 1}")),
           {},
           AscendJob("", Specs("Worker: {}"))},
          {"other labels and annotations are nobody's business",
           job("team: b", "note: b", "queue: a"),
           {},
           job("team: a", "note: a", "queue: a")},
          {"what injection adds to a job from before is no change",
           job("fault-scheduling: force", "", ""),
           {},
           job("", "", "")},
          {"nor is a label whose misspelled name injection corrects",
           job("fault-retry-time: '5', fault-retry-times: '5'", "", ""),
           {},
           job("fault-retry-time: '5'", "", "")},
          {"what a user adds is",
           job("fault-scheduling: grace", "", ""),
           {"metadata.labels[fault-scheduling]: label fault-scheduling changes from nothing to "
            "\"grace\"" +
            kKeeps},
           job("", "", "")},
          {"create", job("fault-scheduling: grace", "", "queue: b"), {}},
      });
}

TEST(GracePeriod, Table) {
  const auto job = [](const std::string& labels, const std::string& pod) {
    return AscendJob(labels, Specs("Master: {template: {spec: {" + pod +
                                   "containers: [{name: ascend, image: i, resources: {requests: "
                                   "{huawei.com/Ascend910: 8}}}]}}}"));
  };
  const std::string kPath =
      "spec.replicaSpecs.Master.template.spec.terminationGracePeriodSeconds: ";
  ExpectFindings(
      "MG029",
      {
          {"unset: 30 seconds", job("fault-scheduling: grace", ""), {}},
          {"as long as the scheduler waits",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 900, "),
           {}},
          {"longer than the scheduler waits",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 901, "),
           {kPath + "terminationGracePeriodSeconds is 901, more than the 900 seconds after which "
                    "fault-scheduling: grace kills the pods"}},
          {"no grace at all",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 0, "),
           {kPath + "terminationGracePeriodSeconds is 0, so pods are killed at once although "
                    "fault-scheduling "
                    "is grace"}},
          {"other modes",
           job("fault-scheduling: force", "terminationGracePeriodSeconds: 5000, "),
           {}},
          {"external-grace is infer-operator's",
           job("fault-scheduling: external-grace", "terminationGracePeriodSeconds: 5000, "),
           {}},
          {"no NPUs",
           AscendJob("fault-scheduling: grace",
                     Specs("Master: {template: {spec: {terminationGracePeriodSeconds: 0, "
                           "containers: []}}}")),
           {}},
          {"a Deployment's label stands in its template",
           R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    metadata: {labels: {fault-scheduling: grace}}
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 1000
      containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 8}}}]
)",
           {"spec.template.spec.terminationGracePeriodSeconds: terminationGracePeriodSeconds is "
            "1000, more than the 900 seconds after which fault-scheduling: grace kills the pods"}},
      });
}

// Whatever stands where a map, list or scalar should be: a verdict, and never a failing rule.
TEST(AscendJobRules, SurviveAnyShape) {
  const std::vector<std::string> odd = {"null",
                                        "1",
                                        "x",
                                        "[]",
                                        "[null, 1, x, [], {}]",
                                        "{}",
                                        "{a: null, Master: 1, Worker: {template: 2}}"};
  const std::vector<std::string> shapes = {
      "metadata: %",
      "metadata: {name: %, namespace: %, labels: %, annotations: %}",
      "metadata: {labels: {framework: %, jobID: %, app: %, mind-cluster/scaling-rule: %, "
      "mind-cluster/group-name: %, scaleout-type: %, fault-scheduling: grace}}",
      "spec: %",
      "spec: {replicaSpecs: %, runPolicy: %, successPolicy: %, schedulerName: %}",
      "spec: {runPolicy: {backoffLimit: %, schedulingPolicy: %}}",
      "spec: {runPolicy: {schedulingPolicy: {queue: %, minAvailable: %}}}",
      "spec: {replicaSpecs: {Master: %, Worker: {replicas: %, restartPolicy: %, template: %}}}",
      "metadata: {labels: {framework: mindspore}}\nspec: {replicaSpecs: {Worker: {template: "
      "{metadata: "
      "%, spec: %}}}}",
      "metadata: {labels: {framework: mindspore}}\nspec: {replicaSpecs: {Worker: {template: "
      "{metadata: "
      "{labels: %}, spec: {containers: %, restartPolicy: %, schedulerName: %, "
      "terminationGracePeriodSeconds: %}}}}}",
      "spec: {replicaSpecs: {Worker: {template: {spec: {containers: [{name: %, image: %, "
      "resources: "
      "%}]}}}}}",
  };
  const FakeObjects nothing({});
  for (const std::string& shape : shapes) {
    for (const std::string& value : odd) {
      std::string text = "apiVersion: mindxdl.gitee.com/v1\nkind: AscendJob\n";
      for (char c : shape) text += c == '%' ? value : std::string(1, c);
      SCOPED_TRACE(text);
      const json::Document object = YamlDocument(text);
      const json::Document plain = YamlDocument(PytorchJob("", "jobID: a, app: mindie-ms-server"));
      const auto view = schemas::BuildView(object.root());
      const auto plain_view = schemas::BuildView(plain.root());
      ASSERT_TRUE(view && plain_view);
      schemas::AdmissionRequest request;
      request.object = &object.root();
      request.objects = &nothing;
      const schemas::Config config;
      const auto created = policies::Judge({*view, nullptr, request, config});
      request.operation = schemas::Operation::kUpdate;
      request.old_object = &plain.root();
      const auto updated = policies::Judge({*view, &*plain_view, request, config});
      const auto back = policies::Judge({*plain_view, &*view, request, config});
      for (const auto* judgement : {&created, &updated, &back}) {
        for (const auto& finding : judgement->findings)
          EXPECT_FALSE(finding.error) << finding.message;
      }
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
