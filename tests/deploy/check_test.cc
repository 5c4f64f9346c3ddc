#include "deploy/check.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "deploy/cluster.h"
#include "json/yaml.h"
#include "support/objects.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::Yaml;
using schemas::FunctionAnswer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

FunctionAnswer RunOn(std::string_view text) {
  auto list = schemas::ResourceList::Read(text);
  if (list) return RunFunction(*std::move(list), {}, Time());
  ADD_FAILURE() << list.error();
  return {};
}

std::vector<std::string> TitlesIn(const Json& list) {
  std::vector<std::string> titles;
  for (const Json& item : list.at("items")) titles.push_back(TitleOf(item));
  return titles;
}

constexpr std::string_view kList = R"(apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- {apiVersion: v1, kind: Service, metadata: {name: chat-router, namespace: llm}, spec: {old: "yes"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {answer: "on"}}
functionConfig:
  apiVersion: mindgate.io/v1alpha1
  kind: Application
  metadata: {name: chat, namespace: llm}
  spec:
    storm_service:
      model_name: qwen
      model_path: /m
      distributed_dp: "false"
      prefill: {image: "v:1", npu_num: 8, tp_size: 8, labels: {pod-rescheduling: on}}
      decode: {image: "v:1", npu_num: 8, tp_size: 8}
      routing: {image: "v:1"}
)";

TEST(Function, RendersIntoTheItems) {
  const FunctionAnswer answer = RunOn(kList);
  EXPECT_FALSE(answer.failed) << answer.output;
  const Json list = Yaml(answer.output);
  EXPECT_THAT(TitlesIn(list),
              ElementsAre("Service chat-router", "ConfigMap other", "Service chat-prefill-0",
                          "Service chat-decode-0", "StormService chat"));
  EXPECT_FALSE(list["items"][0]["spec"].contains("old"));
  EXPECT_EQ(list["items"][1]["data"]["answer"], "on");
  EXPECT_FALSE(list.contains("results")) << list["results"];
  EXPECT_THAT(answer.lines, IsEmpty());
  // Its own output again changes nothing.
  EXPECT_EQ(RunOn(answer.output).output, answer.output);
}

// kpt writes the items back and gives them again.
TEST(Function, WhatIsNoLongerMadeIsRemoved) {
  std::string two(kList);
  two.replace(two.find("prefill: {"), 10, "prefill: {replicas: 2, ");
  Json list = Yaml(RunOn(two).output);
  const auto titles = TitlesIn(list);
  EXPECT_THAT(titles, Contains("Service chat-prefill-1"));
  // Another application of the same name, and one with our labels that somebody copied.
  Json other = list["items"][2];
  other["metadata"]["namespace"] = "test";
  other["metadata"]["annotations"]["mindgate.io/application"] = "test/chat";
  other["metadata"]["name"] = "of-test";
  list["items"].push_back(other);
  other["metadata"].erase("annotations");
  other["metadata"]["name"] = "copied";
  list["items"].push_back(other);
  list["functionConfig"]["spec"]["storm_service"]["prefill"]["replicas"] = 1;
  const FunctionAnswer answer = RunOn(json::EncodeYaml(list));
  ASSERT_FALSE(answer.failed) << answer.output;
  EXPECT_THAT(TitlesIn(Yaml(answer.output)),
              ElementsAre("Service chat-router", "ConfigMap other", "Service chat-prefill-0",
                          "Service chat-decode-0", "StormService chat", "Service of-test",
                          "Service copied"));
}

// What orchestrates functions writes there where an item belongs, and others what they do with it.
TEST(Function, AnnotationsOfOthersStay) {
  Json list = Yaml(RunOn(kList).output);
  list["items"][0]["spec"]["old"] = "yes";
  list["items"][0]["metadata"]["annotations"] = {{"internal.config.kubernetes.io/path", "r.yaml"},
                                                 {"internal.config.kubernetes.io/index", "0"},
                                                 {"argocd.argoproj.io/sync-wave", "3"},
                                                 {"huawei.com/recover_policy_path", "pod"},
                                                 {"mindgate.io/application", "else/where"}};
  const Json item = Yaml(RunOn(json::EncodeYaml(list)).output)["items"][0];
  EXPECT_EQ(item["metadata"]["annotations"], Json({{"internal.config.kubernetes.io/path", "r.yaml"},
                                                   {"internal.config.kubernetes.io/index", "0"},
                                                   {"argocd.argoproj.io/sync-wave", "3"},
                                                   {"mindgate.io/application", "llm/chat"}}));
  EXPECT_FALSE(item["spec"].contains("old"));
}

TEST(Function, FaultsAreResultsAndLeaveTheItems) {
  std::string text(kList);
  text.replace(text.find("npu_num: 8"), 10, "npu_nums: 8");
  const FunctionAnswer answer = RunOn(text);
  EXPECT_TRUE(answer.failed);
  const Json list = Yaml(answer.output);
  EXPECT_THAT(TitlesIn(list), ElementsAre("Service chat-router", "ConfigMap other"));
  EXPECT_EQ(list["results"], Json::parse(R"([{"severity": "error",
                             "message": "unknown key \"npu_nums\"; did you mean \"npu_num\"?",
                             "field": {"path": "storm_service.prefill.npu_nums"}}])"));
  EXPECT_THAT(answer.lines, ElementsAre("error: spec.storm_service.prefill.npu_nums: unknown key "
                                        "\"npu_nums\"; did you mean \"npu_num\"?"));
}

TEST(Function, WhatARuleDeniesNamesItsObject) {
  std::string text(kList);
  text.replace(text.find("pod-rescheduling: on"), 20, "fault-scheduling: Force");
  const FunctionAnswer answer = RunOn(text);
  EXPECT_TRUE(answer.failed);
  const Json results = Yaml(answer.output)["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(answer.lines, ElementsAre(StartsWith("warning: spec.storm_service.prefill.labels"),
                                        StartsWith("error: StormService chat: MG050 ")));
  EXPECT_EQ(results[0]["severity"], "warning");
  EXPECT_EQ(results[1]["severity"], "error");
  EXPECT_EQ(
      results[1]["resourceRef"],
      Json::parse(R"({"apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "StormService",
                            "namespace": "llm", "name": "chat"})"));
}

}  // namespace
}  // namespace mindgate::deploy
