#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "json/yaml.h"
#include "support/generators.h"
#include "support/never_worse.h"
#include "support/objects.h"
#include "support/rich_objects.h"
#include "support/samples.h"
#include "support/workloads.h"

// One property over every kind, every sample and every rule: mindgate makes no update impossible.
// The manifests that the tables of rules list are tried in tests/support/rules.h.
namespace mindgate::testing {
namespace {

using ::testing::IsEmpty;

std::vector<std::string> WorseAmong(const json::Json& original,
                                    const schemas::ObjectLookup* others = nullptr) {
  schemas::AdmissionRequest request;
  request.trusts_owners = true;
  request.objects = others;
  return WorseUpdates(original, request, EverythingEnforced());
}

TEST(NeverWorse, EveryKind) {
  for (int i = 0; i < schemas::kKindCount; ++i) {
    const auto kind = static_cast<schemas::Kind>(i);
    json::Json limited = NpuContainer();
    limited["resources"] = {{"limits", {{"huawei.com/Ascend910", 8}}}};
    for (const json::Json& container : {NpuContainer(), CpuContainer(), limited}) {
      EXPECT_THAT(WorseAmong(Workload(kind, {container})), IsEmpty())
          << schemas::KindName(kind) << " of " << schemas::InfoOf(kind).group;
    }
  }
}

TEST(NeverWorse, EveryMember) {
  for (const std::string& text : RichObjects()) {
    EXPECT_THAT(WorseAmong(Yaml(text)), IsEmpty()) << text;
  }
}

void ExpectNoneWorse(const std::vector<json::YamlDocument>& documents, const Sample& sample) {
  const FakeObjects others(documents, false);
  for (const json::YamlDocument& document : documents) {
    EXPECT_THAT(WorseAmong(document.value, &others), IsEmpty()) << sample.name;
  }
}

TEST(NeverWorse, EverySample) {
  for (const Sample& sample : Samples()) {
    const auto documents = json::DecodeYaml(ReadSample(sample));
    ASSERT_TRUE(documents) << sample.name;
    ExpectNoneWorse(*documents, sample);
  }
}

TEST(NeverWorse, EveryCase) {
  size_t unreadable = 0;
  for (const Sample& sample : Cases()) {
    if (const auto documents = json::DecodeYaml(ReadSample(sample))) {
      ExpectNoneWorse(*documents, sample);
    } else {
      ++unreadable;
    }
  }
  EXPECT_EQ(unreadable, 2U);
}

// With several templates, and with values that are not sensible.
TEST(NeverWorse, AnyObject) {
  EXPECT_TRUE(rc::check([] {
    const json::Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    for (const std::string& worse : WorseAmong(tree)) RC_FAIL(worse);
  }));
}

}  // namespace
}  // namespace mindgate::testing
