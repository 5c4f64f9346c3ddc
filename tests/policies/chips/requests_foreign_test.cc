#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kAlone =
    ": mindgate injects nothing into these pods and does not count their chips";

std::string PodWithLimits(const std::string& limits) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: m, resources: "
         "{limits: {" +
         limits + "}}}]}";
}

TEST(ForeignNpus, Table) {
  ExpectFindings(
      "MG182",
      {
          {"a share of a card",
           PodWithLimits("huawei.com/Ascend310P: 1, huawei.com/Ascend310P-memory: 4096"),
           {"spec.containers[0].resources.limits[huawei.com/Ascend310P-memory]: "
            "huawei.com/Ascend310P-memory belongs to HAMi, not to MindCluster" +
            kAlone}},
          {"the surest sign alone",
           PodWithLimits("huawei.com/Ascend910B3: 1, huawei.com/Ascend910B3-core: 50"),
           {"spec.containers[0].resources.limits[huawei.com/Ascend910B3-core]: "
            "huawei.com/Ascend910B3-core belongs to HAMi, not to MindCluster" +
            kAlone}},
          {"one line an object",
           StormService({.scheduler = "hami-scheduler"}, {.scheduler = "hami-scheduler"}),
           {"spec.template.spec.roles[0].template.spec.schedulerName: scheduler \"hami-scheduler\" "
            "belongs to HAMi, not to MindCluster" +
            kAlone}},
          {"an annotation",
           Deployment({.annotations = "huawei.com/vnpu-mode: hami-core"}),
           {"spec.template.metadata.annotations[huawei.com/vnpu-mode]: annotation "
            "huawei.com/vnpu-mode belongs to HAMi, not to MindCluster" +
            kAlone}},
          {"a claim",
           "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: [{name: npu}], "
           "containers: [{name: m}]}",
           {"spec.resourceClaims: a resource claim for NPUs belongs to DRA, not to MindCluster" +
            kAlone}},
          {"only a name has its own rule", PodWithLimits("huawei.com/Ascend910B3: 1"), {}},
          {"MindCluster's own", Deployment({}), {}},
      });
}

TEST(ForeignNpuResource, Table) {
  const auto message = [](const std::string& name, const std::string& owner) {
    return "spec.containers[0].resources.limits[huawei.com/" + name + "]: huawei.com/" + name +
           " is a name of " + owner + ", and MindCluster serves no NPUs under it" + kAlone;
  };
  ExpectFindings("MG183",
                 {
                     {"HAMi's",
                      PodWithLimits("huawei.com/Ascend910B4-1: 2"),
                      {message("Ascend910B4-1", "HAMi")}},
                     {"a cloud's",
                      PodWithLimits("huawei.com/ascend-1980: 16"),
                      {message("ascend-1980", "CCE")}},
                     {"a surer sign has its own rule",
                      PodWithLimits("huawei.com/Ascend910C: 1, huawei.com/Ascend910C-memory: 1"),
                      {}},
                     {"none of it", PodWithLimits("huawei.com/Ascend910B3: 0"), {}},
                     {"MindCluster's own", Deployment({}), {}},
                 });
}

// No rule about chips is true of them.
TEST(ForeignNpus, NoOtherRuleReportsTheirChips) {
  const std::string share =
      PodWithLimits("huawei.com/Ascend310P: 3, huawei.com/Ascend310P-memory: 4096");
  const std::string name = PodWithLimits("huawei.com/Ascend910B3: 3");
  for (const char* rule : {"MG009", "MG080", "MG081", "MG083", "MG084", "MG105", "MG109"}) {
    ExpectFindings(rule, {{"a share", share, {}}, {"a name", name, {}}});
  }
}

}  // namespace
}  // namespace mindgate::testing
