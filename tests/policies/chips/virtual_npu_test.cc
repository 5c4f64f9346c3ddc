#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(RingControllerValue, Table) {
  const auto labelled = [](const std::string& value) {
    return PytorchJob("", "ring-controller.atlas: " + value);
  };
  ExpectFindings("MG048", {
                              {"ascend-910b", labelled("ascend-910b"), {}},
                              {"a site's own", labelled("site-7"), {}},
                              {"other case",
                               labelled("Ascend-910b"),
                               {"metadata.labels[ring-controller.atlas]: ring-controller.atlas is "
                                "\"Ascend-910b\", which names no product, did you mean "
                                "\"ascend-910b\"? The scheduler cuts no virtual NPUs for it, and "
                                "older releases make no rank table"}},
                          });
}

TEST(StaticVnpu, Table) {
  const NpuPod one{.chips = "1", .resource = "huawei.com/Ascend910-4c"};
  const NpuPod two{.chips = "2", .resource = "huawei.com/Ascend310P-2c.1cpu"};
  ExpectFindings(
      "MG106",
      {
          {"one", Deployment(one, 3), {}},
          {"two",
           Deployment(two),
           {"spec.template.spec.containers[0].resources.limits[huawei.com/Ascend310P-2c.1cpu]: 2 "
            "virtual NPUs in one pod: the plugin allows one, and the job stays Pending"}},
          {"one in each of two containers",
           R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910-4c: 1}}}, {name: b, resources: {limits: {huawei.com/Ascend910-4c: 1}}}]}
)",
           {"spec.containers[1].resources.limits[huawei.com/Ascend910-4c]: 2 virtual NPUs in one "
            "pod: "
            "the plugin allows one, and the job stays Pending"}},
          {"whole cards", Deployment({}), {}},
      });
}

TEST(NpuCore, Table) {
  const auto with = [](std::string_view cores, std::string_view labels) {
    return Deployment({.chips = std::string(cores),
                       .resource = "huawei.com/npu-core",
                       .labels = std::string(labels)});
  };
  const std::string field =
      "spec.template.spec.containers[0].resources.limits[huawei.com/npu-core]: ";
  ExpectFindings(
      "MG107",
      {
          {"310P", with("4", "ring-controller.atlas: ascend-310P"), {}},
          {"whole chips of 310P", with("16", "ring-controller.atlas: ascend-310P"), {}},
          {"no slice of 310P",
           with("3", "ring-controller.atlas: ascend-310P"),
           {field +
            "3 cores are not a slice of ascend-310P: the job is refused and stays Pending"}},
          {"910", with("16", "ring-controller.atlas: ascend-910"), {}},
          {"no slice of 910",
           with("1", "ring-controller.atlas: ascend-910"),
           {field + "1 core is not a slice of ascend-910: the job is refused and stays Pending"}},
          {"slices of A2 depend on the chip", with("6", "ring-controller.atlas: ascend-910b"), {}},
          {"no label",
           with("4", ""),
           {"spec.template.metadata.labels[ring-controller.atlas]: huawei.com/npu-core needs the "
            "label "
            "ring-controller.atlas: without it no slice is cut and the job stays Pending"}},
          {"the label of an AscendJob reaches its PodGroup",
           AscendJob("", "ring-controller.atlas: ascend-310P", "Master",
                     {.chips = "4", .resource = "huawei.com/npu-core"}, {.chips = ""}),
           {}},
      });
}

TEST(VnpuLabels, Table) {
  const auto with = [](std::string_view cores, std::string_view labels) {
    return Deployment({.chips = std::string(cores),
                       .resource = "huawei.com/npu-core",
                       .labels = "ring-controller.atlas: " + std::string(labels)});
  };
  const auto refused = [](std::string_view key, std::string_view value, std::string_view of) {
    return "spec.template.metadata.labels[" + std::string(key) + "]: " + std::string(key) + " \"" +
           std::string(value) + "\" is refused with " + std::string(of) + ": the job stays Pending";
  };
  ExpectFindings(
      "MG186",
      {
          {"DVPP in a small slice of 310P",
           with("2", "ascend-310P, vnpu-dvpp: 'yes'"),
           {refused("vnpu-dvpp", "yes", "2 cores of ascend-310P")}},
          {"none in it", with("1", "ascend-310P, vnpu-dvpp: 'null'"), {}},
          {"DVPP in a larger one", with("4", "ascend-310P, vnpu-dvpp: 'no'"), {}},
          {"310P has levels", with("2", "ascend-310P, vnpu-level: high"), {}},
          {"910 has neither",
           with("4", "ascend-910, vnpu-level: high, vnpu-dvpp: 'yes'"),
           {refused("vnpu-level", "high", "4 cores of ascend-910"),
            refused("vnpu-dvpp", "yes", "4 cores of ascend-910")}},
          {"what 910 takes", with("12", "ascend-910b, vnpu-level: low, vnpu-dvpp: 'null'"), {}},
          {"one chip takes others with 10 cores",
           with("10", "ascend-910b, vnpu-level: high, vnpu-dvpp: 'no'"),
           {}},
          {"whole cards", Deployment({.labels = "vnpu-level: high"}), {}},
      });
}

TEST(SoftShare, Table) {
  const std::string prefix = "huawei.com/scheduler.softShareDev.";
  const auto with = [](std::string_view labels) {
    return Deployment({.chips = "1",
                       .annotations = "huawei.com/schedule_policy: chip1-softShareDev",
                       .labels = std::string(labels)});
  };
  const auto labels = [&](std::string_view cores, std::string_view memory,
                          std::string_view policy) {
    return with(prefix + "aicoreQuota: \"" + std::string(cores) + "\", " + prefix + "hbmQuota: \"" +
                std::string(memory) + "\", " + prefix + "policy: " + std::string(policy));
  };
  const auto refused = [&](std::string_view key, std::string_view value) {
    return "spec.template.metadata.labels[" + prefix + std::string(key) + "]: \"" +
           std::string(value) + "\" is refused for " + prefix + std::string(key) +
           ": the job stays Pending";
  };
  const auto missing = [&](std::string_view key) {
    return "spec.template.metadata.labels[" + prefix + std::string(key) +
           "]: chip1-softShareDev needs the label " + prefix + std::string(key) +
           ": without it the job stays Pending";
  };
  ExpectFindings(
      "MG108",
      {
          {"least", labels("1", "1", "fixed-share"), {}},
          {"most", labels("100", "65536", "best-effort"), {}},
          {"too much of everything",
           labels("101", "0", "Elastic"),
           {refused("aicoreQuota", "101"), refused("hbmQuota", "0"), refused("policy", "Elastic")}},
          {"no numbers",
           labels("10%", "1Gi", "elastic"),
           {refused("aicoreQuota", "10%"), refused("hbmQuota", "1Gi")}},
          {"nothing", with(""), {missing("aicoreQuota"), missing("hbmQuota"), missing("policy")}},
          {"another policy reads none", Deployment({}), {}},
      });
}

TEST(UnknownNpuResource, Table) {
  const auto with = [](std::string_view resource) {
    return Deployment({.chips = "1", .resource = std::string(resource)});
  };
  const auto at = [](std::string_view resource) {
    return "spec.template.spec.containers[0].resources.limits[" + std::string(resource) + "]: ";
  };
  const auto field = [&](std::string_view resource) {
    return at(resource) + std::string(resource);
  };
  const auto nowhere = [&](std::string_view resource) {
    return at(resource) + "no Ascend node offers " + std::string(resource) +
           ": the pods stay Pending";
  };
  ExpectFindings(
      "MG109",
      {
          {"lower case", with("huawei.com/ascend910"), {nowhere("huawei.com/ascend910")}},
          {"a name of another product has its own rule", with("huawei.com/Ascend910B"), {}},
          {"variants of a card", with("huawei.com/Ascend310P-VPro"), {}},
          {"other devices", with("huawei.com/rdma"), {}},
          {"a slice that exists", with("huawei.com/Ascend910-12c.3cpu.32g"), {}},
          {"a slice that does not",
           with("huawei.com/Ascend910-7c"),
           {field("huawei.com/Ascend910-7c") +
            " is not an available slice: no node offers it and the pods stay Pending"}},
          {"an Ascend310P slice that does not",
           with("huawei.com/Ascend310P-3c"),
           {field("huawei.com/Ascend310P-3c") +
            " is not an available slice: no node offers it and the pods stay Pending"}},
          {"known", with("huawei.com/npu"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
