#include "policies/chips/manifests.h"
#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kDeploymentChips =
    "spec.template.spec.containers[0].resources.limits[huawei.com/Ascend910]: ";
const std::string kRoleChips =
    "spec.template.spec.roles[0].template.spec.containers[0].resources.limits[huawei.com/"
    "Ascend910]: ";

TEST(ChipCount, Table) {
  const auto refused = [](std::string_view count, std::string_view how, std::string_view accepted) {
    const std::string_view verb =
        count == "1" ? " chip per pod is refused: " : " chips per pod are refused: ";
    return std::vector<std::string>{kDeploymentChips + std::string(count) + std::string(verb) +
                                    std::string(how) + " takes " + std::string(accepted) +
                                    "; the pods stay Pending"};
  };
  const std::string by_default = "the default policy (no schedule_policy, no accelerator-type)";
  ExpectFindings(
      "MG080",
      {
          {"A1 by default takes 8", Deployment({}), {}},
          {"A1 by default takes no 16", Deployment({.chips = "16"}),
           refused("16", by_default, "1, 2, 4 or 8")},
          {"A1 takes no 3", Deployment({.chips = "3", .selector = kType + "module"}),
           refused("3", "accelerator-type module", "1, 2, 4 or 8")},
          {"half takes no 3", WithPolicy("chip4-node4", "3"),
           refused("3", "schedule_policy chip4-node4", "1, 2 or 4")},
          {"card takes up to 8", WithPolicy("chip1-node2", "8"), {}},
          {"card takes no 9", Deployment({.chips = "9", .selector = kType + "card-910b-2"}),
           refused("9", "accelerator-type card", "1 to 8")},
          {"A2 takes any 1..8", WithPolicy("chip8-node8", "5"), {}},
          {"A2 takes no 16", WithPolicy("chip8-node8", "16"),
           refused("16", "schedule_policy chip8-node8", "1 to 8")},
          {"Box16 takes 12", WithPolicy("chip8-node16", "12"), {}},
          {"Box16 takes no 11", WithPolicy("chip8-node16", "11"),
           refused("11", "schedule_policy chip8-node16", "1 to 8, 10, 12, 14 or 16")},
          {"A3 takes one chip in a single pod", WithPolicy("chip2-node16", "1"), {}},
          {"A3 takes no single chip from each of several pods", WithPolicy("chip2-node16", "1", 2),
           refused("1", "schedule_policy chip2-node16",
                   "2, 4, 6, 8, 10, 12, 14 or 16 from each of several pods")},
          {"A3 takes parts of nodes from several pods", WithPolicy("chip2-node16", "8", 2), {}},
          {"A3 takes no odd count", WithPolicy("module-a3-16", "3"),
           refused("3", "schedule_policy module-a3-16", "1, 2, 4, 6, 8, 10, 12, 14 or 16")},
          {"chip2-node8 still takes 16", WithPolicy("chip2-node8", "16"), {}},
          {"an A3 super pod takes 8 from a single pod", WithPolicy("chip2-node16-sp", "8"), {}},
          {"an A3 super pod takes whole nodes from several", WithPolicy("chip2-node16-sp", "8", 2),
           refused("8", "schedule_policy chip2-node16-sp", "16 from each of several pods")},
          {"an A3 super pod of 8 takes no 10", WithPolicy("chip2-node8-sp", "10"),
           refused("10", "schedule_policy chip2-node8-sp", "1, 2, 4, 6 or 8")},
          {"sp-block alone makes it a super pod",
           Deployment({.chips = "3", .annotations = "sp-block: \"16\""}),
           refused("3", "sp-block for A3 super pods", "1, 2, 4, 6, 8, 10, 12, 14 or 16")},
          {"850 super pod takes 8 from several", WithPolicy("chip8-node8-sp", "8", 4), {}},
          {"multilevel does not count", WithPolicy("multilevel", "5", 2), {}},
          {"soft share does not count", WithPolicy("chip1-softShareDev", "100"), {}},
          {"huawei.com/npu is evaluated by its policy",
           Deployment({.chips = "9",
                       .resource = "huawei.com/npu",
                       .annotations = kPolicy + "chip1-node8"}),
           {"spec.template.spec.containers[0].resources.limits[huawei.com/npu]: 9 chips per pod "
            "are "
            "refused: schedule_policy chip1-node8 takes 1 to 8; the pods stay Pending"}},
          {"Ascend310 by card",
           Deployment({.chips = "5",
                       .resource = "huawei.com/Ascend310",
                       .labels = "npu-310-strategy: card"}),
           {"spec.template.spec.containers[0].resources.limits[huawei.com/Ascend310]: 5 chips "
            "per pod "
            "are refused: npu-310-strategy card takes 1 to 4; the pods stay Pending"}},
          {"Duo by chip",
           Deployment(
               {.chips = "17", .resource = "huawei.com/Ascend310P", .labels = "duo: \"true\""}),
           {"spec.template.spec.containers[0].resources.limits[huawei.com/Ascend310P]: 17 chips "
            "per pod "
            "are refused: Atlas 300I Duo by chip takes 1 to 16; the pods stay Pending"}},
          {"the container that requests, not index 0",
           R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
      schedulerName: volcano
      containers:
      - {name: sidecar}
      - {name: a, resources: {limits: {huawei.com/Ascend910: 2}}}
      - {name: b, resources: {limits: {huawei.com/Ascend910: 1}}}
)",
           {"spec.template.spec.containers[1].resources.limits[huawei.com/Ascend910]: 3 chips per "
            "pod are "
            "refused: the default policy (no schedule_policy, no accelerator-type) takes 1, 2, 4 "
            "or 8; the "
            "pods stay Pending"}},
          {"each replica type of an AscendJob",
           AscendJob(kPolicy + "chip4-node4", "framework: pytorch", "Master", {.chips = "4"},
                     {.chips = "3"}),
           {"spec.replicaSpecs.Worker.template.spec.containers[0].resources.limits[huawei.com/"
            "Ascend910]: 3 chips per pod are refused: schedule_policy chip4-node4 takes 1, 2 or 4; "
            "the "
            "pods stay Pending"}},
          {"a vcjob whose tasks together are distributed",
           VolcanoJob(kPolicy + "chip2-node16-sp", {.chips = "16"}, {.chips = "8"}),
           {"spec.tasks[1].template.spec.containers[0].resources.limits[huawei.com/Ascend910]: 8 "
            "chips "
            "per pod are refused: schedule_policy chip2-node16-sp takes 16 from each of several "
            "pods; "
            "the pods stay Pending"}},
          {"a LeaderWorkerSet may be evaluated pod by pod without gang scheduling",
           LeaderWorkerSet({.chips = "8", .annotations = kPolicy + "chip2-node16-sp"},
                           {.chips = "8", .annotations = kPolicy + "chip2-node16-sp"}, 2),
           {}},
          {"but no count that both refuse",
           LeaderWorkerSet({.chips = "3", .annotations = kPolicy + "chip2-node16-sp"},
                           {.chips = "16", .annotations = kPolicy + "chip2-node16-sp"}, 2),
           {"spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].resources.limits[huawei."
            "com/"
            "Ascend910]: 3 chips per pod are refused: schedule_policy chip2-node16-sp takes 1, 2, "
            "4, 6, "
            "8, 10, 12, 14 or 16 from a single pod, 16 from each of several; the pods stay "
            "Pending"}},
          {"AIBrix roles share a PodGroup",
           StormService({.chips = "1", .selector = kType + "module-a3-16"},
                        {.chips = "16", .selector = kType + "module-a3-16"}),
           {kRoleChips +
            "1 chip per pod is refused: accelerator-type module-a3-16 takes 2, 4, 6, 8, 10, "
            "12, 14 or 16 from each of several pods; the pods stay Pending"}},
          {"a runtime leaves policy and selector to its services",
           ServingRuntime({.chips = "16"}),
           {}},
          {"a pod of a controller was evaluated there",
           BarePod({.chips = "16"},
                   "name: p, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, "
                   "controller: true}]"),
           {}},
          {"a bare pod",
           BarePod({.chips = "16"}),
           {"spec.containers[0].resources.limits[huawei.com/Ascend910]: 16 chips per pod are "
            "refused: " +
            by_default + " takes 1, 2, 4 or 8; the pods stay Pending"}},
          {"another scheduler does not care",
           Deployment({.chips = "16", .scheduler = "other"}),
           {}},
          {"GPUs", Deployment({.chips = "16", .resource = "nvidia.com/gpu"}), {}},
          {"a count that is no number", Deployment({.chips = "many"}), {}},
          {"scaled to zero, neither way accepted", WithPolicy("chip4-node4", "3", 0),
           refused("3", "schedule_policy chip4-node4", "1, 2 or 4")},
      });
}

TEST(ChipCountDocumented, Table) {
  ExpectFindings(
      "MG081",
      {
          {"card with 8",
           WithPolicy("chip1-node2", "8"),
           {kDeploymentChips + "8 chips per pod are accepted, but schedule_policy chip1-node2 is "
                               "documented for 1 or 2 only"}},
          {"card with 2", WithPolicy("chip1-node2", "2"), {}},
          {"chip2-node8 with 16",
           WithPolicy("chip2-node8", "16"),
           {kDeploymentChips + "16 chips per pod are accepted, but schedule_policy chip2-node8 is "
                               "documented for 1, 2, 4, 6 or 8 only"}},
          {"850 super pod with 3",
           WithPolicy("chip8-node8-sp", "3"),
           {kDeploymentChips +
            "3 chips per pod are accepted, but schedule_policy chip8-node8-sp is "
            "documented for 1, 2, 4 or 8 only"}},
          {"training on a part of an A2", WithPolicy("chip8-node8", "5"), {}},
          {"what is refused is said once", WithPolicy("chip8-node8", "9"), {}},
          {"inference on a part of an A3, as the vendor's AIBrix sample",
           StormService({.chips = "2", .selector = kType + "module-a3-16"},
                        {.chips = "16", .selector = kType + "module-a3-16"}),
           {kRoleChips +
            "2 chips per pod are less than a machine: inference services are documented for "
            "whole machines only (16)"}},
          {"inference on a part of an A2",
           ServingRuntime({.chips = "4", .annotations = kPolicy + "chip8-node8"}),
           {"spec.engineConfig.runner.resources.limits[huawei.com/Ascend910]: 4 chips per pod "
            "are less "
            "than a machine: inference services are documented for whole machines only (8)"}},
          {"inference on unnamed servers",
           ServingRuntime({.chips = "4"}),
           {"spec.engineConfig.runner.resources.limits[huawei.com/Ascend910]: 4 chips per pod "
            "are less "
            "than a machine: inference services are documented for whole machines only (8 on Atlas "
            "A2, 16 "
            "on Atlas A3)"}},
          {"a whole machine of either kind", ServingRuntime({.chips = "16"}), {}},
          {"a runtime that contradicts itself",
           ServingRuntime({.chips = "16", .annotations = kPolicy + "chip8-node8"}),
           {"spec.engineConfig.runner.resources.limits[huawei.com/Ascend910]: 16 chips per pod "
            "are "
            "refused by schedule_policy chip8-node8, which takes 1 to 8, unless something else "
            "overrides "
            "one of the two"}},
          {"Duo by card with three chips",
           Deployment({.chips = "3",
                       .resource = "huawei.com/Ascend310P",
                       .labels = "duo: \"true\", npu-310-strategy: card"}),
           {"spec.template.spec.containers[0].resources.limits[huawei.com/Ascend310P]: 3 chips "
            "per pod "
            "are accepted, but Atlas 300I Duo by card is documented for 1 or 2 only"}},
      });
}

TEST(WholeNodes, Table) {
  const std::string levels = kPolicy + "multilevel, huawei.com/affinity-config: level1=2";
  const auto job = [&](std::string_view chips, const std::string& selector = "") {
    return VolcanoJob(levels, {.chips = std::string(chips), .selector = selector}, {.chips = ""});
  };
  const auto refused = [](std::string_view chips, std::string_view whole) {
    return "spec.tasks[0].template.spec.containers[0].resources.limits[huawei.com/Ascend910]: " +
           std::string(chips) +
           " refused: schedule_policy multilevel takes only pods that ask for all chips of a node "
           "(" +
           std::string(whole) + "); the pods stay Pending";
  };
  ExpectFindings("MG185",
                 {
                     {"half of a node", job("4"), {refused("4 chips per pod are", "8 or 16")}},
                     {"one chip", job("1"), {refused("1 chip per pod is", "8 or 16")}},
                     {"a node", job("8"), {}},
                     {"a larger node", job("16"), {}},
                     {"a node of those that are selected", job("4", "accelerator-type: half"), {}},
                     {"half of those",
                      job("8", "accelerator-type: module-a3-16"),
                      {refused("8 chips per pod are", "16")}},
                     {"another policy",
                      VolcanoJob(kPolicy + "chip8-node8", {.chips = "4"}, {.chips = ""}),
                      {}},
                 });
}

TEST(ZeroChipPods, Table) {
  const NpuPod npus{.chips = "16"};
  const NpuPod cpu{.chips = ""};
  const std::string skip = ".metadata.annotations[huawei.com/skip-ascend-plugin]: ";
  const auto refused = [](std::string_view how) {
    return "pods without chips beside pods with chips are refused by " + std::string(how) +
           ": the whole job stays Pending";
  };
  const std::string sp = kPolicy + "chip2-node16-sp";
  ExpectFindings(
      "MG082",
      {
          {"the operator names the Scheduler of MindSpore",
           AscendJob(sp, "", "Scheduler", cpu, npus, 2),
           {}},
          {"another CPU-only replica type",
           AscendJob(sp, "", "Master", cpu, npus, 2),
           {"spec.replicaSpecs.Master.template" + skip +
            refused("schedule_policy chip2-node16-sp")}},
          {"asked to skip",
           AscendJob(sp, "", "Master",
                     {.chips = "", .annotations = "huawei.com/skip-ascend-plugin: enabled"}, npus,
                     2),
           {}},
          {.name = "which 7.1 does not read",
           .object = AscendJob("", "", "Master",
                               {.chips = "",
                                .annotations = "huawei.com/skip-ascend-plugin: enabled",
                                .selector = kType + "module-a3-16"},
                               {.chips = "16", .selector = kType + "module-a3-16"}, 2),
           .want = {"spec.replicaSpecs.Master.template: pods without chips beside pods with chips "
                    "are refused by accelerator-type module-a3-16, whatever stands on them: the "
                    "whole job stays Pending"},
           .versions = MindCluster({7, 1})},
          {"A2 does not care", AscendJob(kPolicy + "chip8-node8", "", "Master", cpu, {}, 2), {}},
          {"850 super pods know no exception",
           AscendJob(kPolicy + "chip8-node8-sp", "", "Scheduler",
                     {.chips = "", .annotations = "huawei.com/skip-ascend-plugin: enabled"}, {}, 2),
           {"spec.replicaSpecs.Scheduler.template: pods without chips beside pods with chips are "
            "refused by schedule_policy chip8-node8-sp, whatever stands on them: the whole job "
            "stays Pending"}},
          {"nor do 950 super pods",
           VolcanoJob(kPolicy + "chip8-node8-ra64-sp", cpu, {}, 2, "scheduler"),
           {"spec.tasks[0].template: pods without chips beside pods with chips are refused by "
            "schedule_policy chip8-node8-ra64-sp, whatever stands on them: the whole job stays "
            "Pending"}},
          {"with one NPU pod releases differ", AscendJob(sp, "", "Master", cpu, npus, 1), {}},
          {"multilevel looks at every pod",
           AscendJob(kPolicy + "multilevel", "", "Master", cpu, npus, 1),
           {"spec.replicaSpecs.Master.template" + skip + refused("schedule_policy multilevel")}},
          {"a vcjob task named scheduler", VolcanoJob(sp, cpu, npus, 2, "scheduler"), {}},
          {"another vcjob task",
           VolcanoJob(sp, cpu, npus, 2),
           {"spec.tasks[0].template" + skip + refused("schedule_policy chip2-node16-sp")}},
          {"a template that names its task",
           StormService({.chips = "", .annotations = sp + ", volcano.sh/task-spec: scheduler"},
                        {.chips = "16", .annotations = sp}),
           {}},
          {"a LeaderWorkerSet without gang scheduling is not one job",
           LeaderWorkerSet({.chips = "", .annotations = sp}, {.chips = "16", .annotations = sp}, 3),
           {}},
      });
}

TEST(MixedNpuProducts, Table) {
  ExpectFindings("MG083", {
                              {"two products in a container",
                               R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 1, huawei.com/Ascend310P: 1}}}]}
)",
                               {"spec.containers[0].resources.limits[huawei.com/Ascend910]: "
                                "huawei.com/Ascend910 beside "
                                "huawei.com/Ascend310P in one pod: the scheduler sees one of them "
                                "at random and never both"}},
                              {"a whole card and a slice in two containers",
                               R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 1}}}, {name: b, resources: {limits: {huawei.com/Ascend910-4c: 1}}}]}
)",
                               {"spec.containers[1].resources.limits[huawei.com/Ascend910-4c]: "
                                "huawei.com/Ascend910-4c beside "
                                "huawei.com/Ascend910 in one pod: the scheduler sees one of them "
                                "at random and never both"}},
                              {"two products in a PodGroup",
                               StormService({}, {.resource = "huawei.com/npu"}),
                               {"spec.template.spec.roles[1].template.spec.containers[0].resources."
                                "limits[huawei.com/npu]: "
                                "huawei.com/npu beside huawei.com/Ascend910 in one PodGroup: the "
                                "scheduler sees one of them at "
                                "random and never both"}},
                              {"a network device of the same prefix",
                               R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 1, huawei.com/ub_rdma: 1, huawei.com/npu: 0}}}]}
)",
                               {"spec.containers[0].resources.limits[huawei.com/ub_rdma]: "
                                "huawei.com/ub_rdma beside huawei.com/Ascend910 in one pod: the "
                                "scheduler takes one of the two at random for the NPUs of the job, "
                                "and with huawei.com/ub_rdma it stays Pending"}},
                              {"a network device of another prefix",
                               R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 1, rdma/hca: 1}}}]}
)",
                               {}},
                              {"no NPU at all", Deployment({.resource = "huawei.com/ub_rdma"}), {}},
                              {"one product", StormService({}, {}), {}},
                          });
}

TEST(RequestLimitMismatch, Table) {
  const auto pod = [](std::string_view resources) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, "
           "resources: " +
           std::string(resources) + "}]}";
  };
  const std::string field = "spec.containers[0].resources.limits[huawei.com/Ascend910]: ";
  ExpectFindings(
      "MG084",
      {
          {"equal",
           pod("{requests: {huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: \"8\"}}"),
           {}},
          {"written differently",
           pod("{requests: {huawei.com/Ascend910: 8000m}, limits: {huawei.com/Ascend910: 8.0}}"),
           {}},
          {"limits alone", pod("{limits: {huawei.com/Ascend910: 8}}"), {}},
          {"different",
           pod("{requests: {huawei.com/Ascend910: 4}, limits: {huawei.com/Ascend910: 8}}"),
           {field + "huawei.com/Ascend910 has different request and limit, so Kubernetes refuses "
                    "the pods"}},
          {"requests alone",
           pod("{requests: {huawei.com/Ascend910: 4}}"),
           {"spec.containers[0].resources.requests[huawei.com/Ascend910]: huawei.com/Ascend910 is "
            "requested without a limit, so Kubernetes refuses the pods"}},
          {"a fraction",
           pod("{limits: {huawei.com/Ascend910: 0.5}}"),
           {"spec.containers[0].resources.limits[huawei.com/Ascend910]: huawei.com/Ascend910 is "
            "not a whole number of chips, so Kubernetes refuses the pods"}},
          {"negative",
           pod("{limits: {huawei.com/Ascend910: -1}}"),
           {"spec.containers[0].resources.limits[huawei.com/Ascend910]: huawei.com/Ascend910 is "
            "not a whole number of chips, so Kubernetes refuses the pods"}},
          RefusedBefore(
              {"no number at all",
               pod("{requests: {huawei.com/Ascend910: [8]}, limits: {huawei.com/Ascend910: [8]}}"),
               {field + "huawei.com/Ascend910 is not a whole number of chips, so Kubernetes "
                        "refuses the pods"}}),
          {"other huawei.com resources follow the same rule",
           pod("{requests: {huawei.com/rdma: 1}}"),
           {"spec.containers[0].resources.requests[huawei.com/rdma]: huawei.com/rdma is requested "
            "without a limit, so Kubernetes refuses the pods"}},
          {"CPU may be overcommitted", pod("{requests: {cpu: 500m}, limits: {cpu: 1}}"), {}},
          {"OME merges the runtime's limits below the service's requests",
           R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {engine: {runner: {name: e, resources: {requests: {huawei.com/Ascend910: 8}}}}}
)",
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
