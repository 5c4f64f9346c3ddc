#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(MixedArchitectures, Table) {
  const std::string message =
      " select x86 servers, but those of Master Arm servers: the processes of one job must run on "
      "one architecture";
  const auto job = [](const std::string& master, const std::string& worker,
                      const std::string& chips = "8") {
    return AscendJob("", "", "Master", {.chips = chips, .selector = master}, {.selector = worker});
  };
  ExpectFindings(
      "MG163",
      {
          {"of one job",
           job("host-arch: huawei-arm", "host-arch: huawei-x86"),
           {"spec.replicaSpecs.Worker.template.spec.nodeSelector[host-arch]: pods of Worker" +
            message}},
          {"in Kubernetes' own words",
           job("host-arch: huawei-arm", "kubernetes.io/arch: amd64"),
           {"spec.replicaSpecs.Worker.template.spec.nodeSelector[kubernetes.io/arch]: pods of "
            "Worker" +
            message}},
          {"of a LeaderWorkerSet",
           LeaderWorkerSet({.selector = "host-arch: huawei-x86"},
                           {.selector = "host-arch: huawei-arm"}, 2),
           {"spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector[host-arch]: pods of worker "
            "select Arm servers, but those of leader x86 servers: the processes of one job must "
            "run on one architecture"}},
          {"of a vcjob",
           VolcanoJob("", {.selector = "host-arch: huawei-arm"},
                      {.selector = "host-arch: huawei-x86"}),
           {"spec.tasks[1].template.spec.nodeSelector[host-arch]: pods of second select x86 "
            "servers, but those of first Arm servers: the processes of one job must run on one "
            "architecture"}},
          {"the same", job("host-arch: huawei-arm", "kubernetes.io/arch: arm64"), {}},
          {"one says nothing", job("host-arch: huawei-arm", ""), {}},
          {"a leader on CPUs may be elsewhere",
           job("host-arch: huawei-x86", "host-arch: huawei-arm", ""),
           {}},
          {"an unknown value is reported by host-arch",
           job("host-arch: arm", "host-arch: huawei-x86"),
           {}},
      });
}

TEST(NodeSelectorKey, Table) {
  const auto missing = [](std::string_view field, std::string_view key, std::string_view meant) {
    return "spec.template.spec.nodeSelector" + std::string(field) +
           ": MindCluster labels no node with \"" + std::string(key) + "\", did you mean \"" +
           std::string(meant) + "\"? Pods that select a label which no node has stay Pending";
  };
  const auto selecting = [](const std::string& selector) {
    return Deployment({.selector = selector});
  };
  ExpectFindings(
      "MG164",
      {
          {"underscores",
           selecting("accelerator_type: module-910b-8"),
           {missing(".accelerator_type", "accelerator_type", "accelerator-type")}},
          {"camel case",
           selecting("hostArch: huawei-arm"),
           {missing(".hostArch", "hostArch", "host-arch")}},
          {"a letter too many",
           selecting("accelerators: huawei-Ascend910"),
           {missing(".accelerators", "accelerators", "accelerator")}},
          {"right", selecting("accelerator: a, accelerator-type: b, host-arch: c"), {}},
          {"of another domain", selecting("nvidia.com/accelerator: a"), {}},
          {"other words", selecting("disk: ssd, zone: a"), {}},
          {"without NPUs", Deployment({.chips = "", .selector = "accelerator_type: a"}), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
