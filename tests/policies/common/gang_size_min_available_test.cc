#include "policies/common/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(MinAvailableValue, Table) {
  const auto finding = [](const std::string& k, const std::string& effect) {
    return std::vector<std::string>{"spec.template.metadata.annotations" + kAt + kName + " is \"" +
                                    k + "\"" + effect};
  };
  const std::string no_number =
      ", not a whole number: the scheduler refuses the job and no pod starts";
  const std::string too_small = ", below 1: the scheduler counts the NPUs of the job wrongly";
  ExpectFindings(
      "MG070",
      {
          {"0", Native("Deployment", "", "0"), finding("0", too_small)},
          {"-1", Native("Deployment", "", "-1"), finding("-1", too_small)},
          {"abc", Native("Deployment", "", "abc"), finding("abc", no_number)},
          {"a space", Native("Deployment", "", " 2"), finding(" 2", no_number)},
          {"beyond int32", Native("Deployment", "", "2147483648"),
           finding("2147483648", ", more pods than Kubernetes can count: the gang never fills")},
          {"3.0", Native("Deployment", "", "3.0"), finding("3.0", no_number)},
          {"deploy tool D11: what a missing min_replicas leaves behind",
           OmeService(K("")),
           {"spec.engine.annotations" + kAt + kName + " is \"\"" + no_number}},
          {"a sign is read", Native("Deployment", "", "+3"), {}},
          {"the largest", Native("Deployment", "", "2147483647"), {}},
          {"a number is the wrong-type rule's business",
           "{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: {annotations: "
           "{huawei.com/schedule_minAvailable: 0}}}}}",
           {}},
      });
}

TEST(MinAvailableNoEffect, Table) {
  const auto ignored = [](const std::string& k, const std::string& m) {
    return " is " + k + " but the PodGroup has minMember " + m +
           ", so it is ignored: it counts only where minMember is 1";
  };
  const std::string group =
      " is 4 on a leader-worker group: ignored with LWS gang scheduling, and without it leaders of "
      "different groups wait for each other";
  ExpectFindings(
      "MG072",
      {
          {"a Volcano Job with a gang of its own",
           TwoTasks("minAvailable: 4, ", "2"),
           {"spec.tasks[0].template.metadata.annotations" + kAt + kName + ignored("2", "4")}},
          {"a Volcano Job with minAvailable 1", TwoTasks("minAvailable: 1, ", "2"), {}},
          {"a Volcano Job without minAvailable: not known", TwoTasks("", "2"), {}},
          {"the same number misleads nobody", TwoTasks("minAvailable: 4, ", "4"), {}},
          {"an AscendJob, on its metadata",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + K("2") +
               "}, spec: {replicaSpecs: {Worker: {replicas: 3, template: {spec: {" +
               kNpuContainers + "}}}}}}",
           {"metadata.annotations" + kAt + kName + ignored("2", "3")}},
          {"deploy tool D21: an OME component of several nodes",
           OmeService("minReplicas: 4, leader: {}, worker: {size: 1}, " + K("4")),
           {"spec.engine.annotations" + kAt + kName + group}},
          {"a LeaderWorkerSet",
           Lws("", K("4"), ""),
           {"spec.leaderWorkerTemplate.leaderTemplate.metadata.annotations" + kAt + kName + group}},
          {"1 on a LeaderWorkerSet harms nobody", Lws("", K("1"), ""), {}},
          {"a Deployment", Native("Deployment", "replicas: 2, ", "2"), {}},
      });
}

TEST(MinAvailableInRuntime, Table) {
  ExpectFindings(
      "MG073",
      {
          {"shared by services of different sizes",
           OmeRuntime(K("2") +
                      ", runner: {name: m, resources: {limits: {huawei.com/Ascend910: 8}}}"),
           {"spec.engineConfig.annotations" + kAt + kName +
            " is 2 in a runtime, and so in every service that uses it: one with fewer replicas "
            "never starts, one with more starts in parts"}},
          {"several nodes: ignored, which another rule says",
           OmeRuntime(K("2") + ", leader: {runner: {name: m, resources: {limits: "
                               "{huawei.com/Ascend910: 8}}}}"),
           {}},
          {"none",
           OmeRuntime("runner: {name: m, resources: {limits: {huawei.com/Ascend910: 8}}}"),
           {}},
      });
}

TEST(MinAvailableDiffers, Table) {
  const std::string effect = ": the scheduler picks one of them at random in each session";
  ExpectFindings(
      "MG074",
      {
          {"roles that share a PodGroup",
           TwoRoles("replicas: 1", "1", "replicas: 2", "2"),
           {"spec.roles[1].template.metadata.annotations" + kAt + kName +
            " is \"2\" here and \"1\" at "
            "spec.roles[0].template.metadata.annotations[huawei.com/schedule_minAvailable]" +
            effect}},
          {"the sum on both", TwoRoles("replicas: 1", "3", "replicas: 2", "3"), {}},
          {"the same number written otherwise",
           TwoRoles("replicas: 1", "3", "replicas: 2", "+3"),
           {}},
          {"a PodSet is another PodGroup",
           TwoRoles("replicas: 1", "1", "replicas: 2, podGroupSize: 2", "2"),
           {}},
          {"tasks of a Volcano Job with minAvailable 1",
           TwoTasks("minAvailable: 1, ", "2", "3"),
           {"spec.tasks[1].template.metadata.annotations" + kAt + kName +
            " is \"3\" here and \"2\" at "
            "spec.tasks[0].template.metadata.annotations[huawei.com/schedule_minAvailable]" +
            effect}},
          {"tasks of a Volcano Job with a gang of its own: ignored anyway",
           TwoTasks("minAvailable: 4, ", "2", "3"),
           {}},
          {"the PodGroup's own wins over its pods",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, " + K("1") +
               "}, spec: {replicaSpecs: {Worker: {template: {metadata: {" + K("2") + "}, spec: {" +
               kNpuContainers + "}}}}}}",
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
