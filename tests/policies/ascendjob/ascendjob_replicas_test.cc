#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// A Worker whose container requests chips.
std::string Worker(int chips, int replicas) {
  return "Worker: {replicas: " + std::to_string(replicas) +
         ", template: {spec: {containers: [{name: ascend, image: i, resources: {requests: "
         "{huawei.com/Ascend910: " +
         std::to_string(chips) + "}}}]}}}";
}

TEST(AscendJobReplicaSpecs, Table) {
  ExpectFindings(
      "MG010",
      {
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
          {"of the wrong type: wrong-type reports it", AscendJob("", "replicaSpecs: [1]"), {}},
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
          {"no string: wrong-type reports it", AscendJob("framework: 1", ""), {}},
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
          RefusedBefore(
              {"more than 64 bits hold",
               AscendJob("", Specs("Worker: {replicas: 18446744073709551615}")),
               {"spec.replicaSpecs.Worker.replicas: replicas of Worker is 18446744073709551615, "
                "outside 0 "
                "to 20000" +
                kFails}}),
          {"no integer: wrong-type reports it",
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
          {"a misspelled leader is reported once, by its type",
           AscendJob("framework: pytorch", Specs("master: {}, Worker: {}")),
           {}},
          {"an empty map is reported once", AscendJob("framework: pytorch", Specs("")), {}},
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
          {"wrong types: wrong-type reports it", with("[{name: 1}, 2]"), {}},
          {"no list: wrong-type reports it", with("{name: ascend}"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
