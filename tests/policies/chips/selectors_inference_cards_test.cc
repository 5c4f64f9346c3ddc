#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(Npu310Strategy, Table) {
  const auto with = [](std::string_view labels,
                       std::string_view resource = "huawei.com/Ascend310") {
    return Deployment(
        {.chips = "1", .resource = std::string(resource), .labels = std::string(labels)});
  };
  ExpectFindings(
      "MG097", {
                   {"unknown",
                    with("npu-310-strategy: cards"),
                    {"spec.template.metadata.labels[npu-310-strategy]: npu-310-strategy \"cards\" "
                     "is neither chip nor "
                     "card: no handler takes the job and it stays Pending"}},
                   {"chip", with("npu-310-strategy: chip"), {}},
                   {"absent", with(""), {}},
                   {"Ascend310P has a plain handler",
                    with("npu-310-strategy: cards", "huawei.com/Ascend310P"),
                    {}},
                   {"different words in one PodGroup",
                    VolcanoJob("",
                               {.chips = "1",
                                .resource = "huawei.com/Ascend310",
                                .labels = "npu-310-strategy: chip"},
                               {.chips = "1",
                                .resource = "huawei.com/Ascend310",
                                .labels = "npu-310-strategy: card"}),
                    {"spec.tasks[1].template.metadata.labels[npu-310-strategy]: npu-310-strategy "
                     "\"chip|card\" is "
                     "neither chip nor card: no handler takes the job and it stays Pending"}},
               });
}

TEST(Npu310PLabels, Table) {
  const auto with = [](std::string_view labels,
                       std::string_view resource = "huawei.com/Ascend310P") {
    return Deployment(
        {.chips = "1", .resource = std::string(resource), .labels = std::string(labels)});
  };
  const std::string field = "spec.template.metadata.labels.";
  ExpectFindings("MG098",
                 {
                     {"all three",
                      with("npu-310-strategy: Card, duo: \"True\", distributed: \"yes\""),
                      {"spec.template.metadata.labels[npu-310-strategy]: npu-310-strategy \"Card\" "
                       "is not \"chip\" or "
                       "\"card\": chips are picked "
                       "without regard to cards",
                       field + "duo: duo \"True\" is not \"true\" or \"false\": the job is not "
                               "placed as one for Atlas "
                               "300I Duo",
                       field + "distributed: distributed \"yes\" is not \"true\" or \"false\": it "
                               "counts as false"}},
                     {"known words",
                      with("npu-310-strategy: card, duo: \"true\", distributed: \"false\""),
                      {}},
                     {"other products", with("duo: maybe", "huawei.com/Ascend910"), {}},
                 });
}

TEST(DuoDistributed, Table) {
  const auto with = [](std::string_view labels, int replicas) {
    return Deployment(
        {.chips = "1", .resource = "huawei.com/Ascend310P", .labels = std::string(labels)},
        replicas);
  };
  ExpectFindings("MG099",
                 {
                     {"two pods",
                      with("duo: \"true\", distributed: \"true\"", 2),
                      {"spec.template.metadata.labels.distributed: distributed: true with duo: "
                       "true allows one NPU pod "
                       "per job, and this one has 2; it stays Pending"}},
                     {"one pod", with("duo: \"true\", distributed: \"true\"", 1), {}},
                     {"independent replicas", with("duo: \"true\", distributed: \"false\"", 2), {}},
                     {"not Duo", with("distributed: \"true\"", 2), {}},
                 });
}

}  // namespace
}  // namespace mindgate::testing
