#include "schemas/resource_list.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using json::Json;
using ::mindgate::testing::Yaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ResourceList ListOf(std::string_view text) {
  auto list = ResourceList::Read(text);
  if (list) return *std::move(list);
  ADD_FAILURE() << list.error();
  return *ResourceList::Read("kind: ResourceList");
}

constexpr std::string_view kList = R"(apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {octal: "010"}}]
functionConfig: {kind: Admission}
)";

TEST(ResourceList, AnswersWithTheItemsItIsGiven) {
  ResourceList list = ListOf(kList);
  EXPECT_EQ(list.function_config(), Json({{"kind", "Admission"}}));
  Json items = list.items();
  items[0]["data"]["new"] = "on";
  const FunctionAnswer answer = std::move(list).Answer(std::move(items));
  EXPECT_FALSE(answer.failed);
  EXPECT_THAT(answer.lines, IsEmpty());
  Json want = Yaml(kList);
  want["items"][0]["data"]["new"] = "on";
  EXPECT_EQ(Yaml(answer.output), want);
}

TEST(ResourceList, AnErrorLeavesTheItems) {
  const struct {
    FunctionSeverity severity;
    bool failed;
  } cases[] = {{FunctionSeverity::kInfo, false},
               {FunctionSeverity::kWarning, false},
               {FunctionSeverity::kError, true}};
  for (const auto& c : cases) {
    const std::string name(FunctionSeverityName(c.severity));
    ResourceList list = ListOf(kList);
    list.Report(c.severity, "is wrong", "", "a", {{"field", {{"path", "data"}}}});
    const FunctionAnswer answer = std::move(list).Answer(Json::array());
    EXPECT_EQ(answer.failed, c.failed) << name;
    EXPECT_THAT(answer.lines, ElementsAre(name + ": a: is wrong"));
    const Json output = Yaml(answer.output);
    EXPECT_EQ(output["items"].size(), c.failed ? 1u : 0u) << name;
    EXPECT_EQ(output["results"],
              Json::array(
                  {{{"message", "is wrong"}, {"severity", name}, {"field", {{"path", "data"}}}}}));
  }
}

TEST(ResourceList, OtherInputIsRefused) {
  const struct {
    std::string_view text;
    std::string_view fault;
  } cases[] = {
      {"a: [", "line 1: did not find expected node content while parsing a flow node"},
      {"kind: List\n", "standard input is not a ResourceList (config.kubernetes.io/v1)"},
      {"[]", "standard input is not a ResourceList (config.kubernetes.io/v1)"},
      {"", "standard input is not a ResourceList (config.kubernetes.io/v1)"},
      {"{kind: ResourceList, functionConfig: 7}",
       "functionConfig of the ResourceList must be an object, not an integer; write an object of "
       "kind Application or Admission"},
      {"{kind: ResourceList, items: {}}", "items of the ResourceList must be a list of objects"},
      {"{kind: ResourceList, items: [7]}", "items of the ResourceList must be a list of objects"},
  };
  for (const auto& c : cases) {
    const auto list = ResourceList::Read(c.text);
    ASSERT_FALSE(list) << c.text;
    EXPECT_EQ(list.error(), c.fault) << c.text;
  }
}

TEST(ResourceList, ReferencesNameWhatTheObjectHas) {
  EXPECT_EQ(ReferenceTo(Yaml("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}")),
            Yaml("{apiVersion: v1, kind: Pod, name: a, namespace: b}"));
  EXPECT_EQ(ReferenceTo(Yaml("{kind: Pod, metadata: {generateName: a}}")), Yaml("{kind: Pod}"));
}

}  // namespace
}  // namespace mindgate::schemas
