#include "offline/admission_function.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "json/yaml.h"
#include "support/objects.h"

namespace mindgate::offline {
namespace {

using json::Json;
using ::mindgate::testing::Yaml;
using schemas::FunctionAnswer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kList = R"(apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {octal: "010", word: "on"}}
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: chat
    namespace: llm
    annotations: {internal.config.kubernetes.io/path: chat.yaml, internal.config.kubernetes.io/index: "1"}
  spec:
    replicas: 1
    selector: {matchLabels: {app: chat}}
    template:
      metadata: {labels: {app: chat}}
      spec:
        containers:
        - {name: chat, image: "vllm:1", resources: {limits: {huawei.com/Ascend910: 8}}}
- {apiVersion: example.com/v1, kind: Unknown, metadata: {name: x}}
functionConfig: {apiVersion: mindgate.io/v1alpha1, kind: Admission, metadata: {name: mindgate}}
)";

FunctionAnswer RunOn(const Json& value) {
  auto list = schemas::ResourceList::Read(json::EncodeYaml(value));
  if (list) return RunAdmissionFunction(*std::move(list), {}, Time());
  ADD_FAILURE() << list.error();
  return {};
}

Json ListWith(const Json& spec) {
  Json list = Yaml(kList);
  list["functionConfig"]["spec"] = spec;
  return list;
}

Json& LabelsOf(Json& list) { return list["items"][1]["spec"]["template"]["metadata"]["labels"]; }

TEST(AdmissionFunction, IsAskedForByKind) {
  const auto asked = [](const char* text) {
    return IsAdmission(*schemas::ResourceList::Read(text));
  };
  EXPECT_TRUE(asked("{kind: ResourceList, functionConfig: {kind: Admission}}"));
  EXPECT_FALSE(asked("{kind: ResourceList, functionConfig: {kind: Application}}"));
  EXPECT_FALSE(asked("{kind: ResourceList}"));
}

TEST(AdmissionFunction, InjectsWhatTheWebhookWould) {
  const FunctionAnswer answer = RunOn(Yaml(kList));
  EXPECT_FALSE(answer.failed) << answer.output;
  EXPECT_THAT(answer.lines, IsEmpty());
  Json output = Yaml(answer.output);
  const Json before = Yaml(kList);
  EXPECT_EQ(output["items"][0], before["items"][0]);
  EXPECT_EQ(output["items"][2], before["items"][2]);
  EXPECT_EQ(output["items"][1]["metadata"], before["items"][1]["metadata"]);
  const Json& pod = output["items"][1]["spec"]["template"];
  EXPECT_EQ(pod["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(pod["metadata"]["labels"]["fault-scheduling"], "force");
  EXPECT_EQ(pod["spec"]["containers"][0]["env"][0]["name"], "ASCEND_VISIBLE_DEVICES");
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"],
            Yaml("{huawei.com/Ascend910: 8}"));
  // Nothing is left to inject.
  EXPECT_EQ(RunOn(output).output, answer.output);
}

TEST(AdmissionFunction, WhatIsDeniedIsAnErrorAndLeavesTheItems) {
  Json list = Yaml(kList);
  LabelsOf(list)["fault-scheduling"] = "sometimes";
  const FunctionAnswer answer = RunOn(list);
  EXPECT_TRUE(answer.failed);
  EXPECT_THAT(answer.lines,
              ElementsAre(StartsWith("error: Deployment llm/chat: spec.template.metadata.labels"
                                     "[fault-scheduling]: MG050 fault-scheduling-value: ")));
  const Json output = Yaml(answer.output);
  EXPECT_EQ(output["items"], list["items"]);
  ASSERT_THAT(output["results"], SizeIs(1));
  Json result = output["results"][0];
  EXPECT_THAT(result["message"].get<std::string>(), HasSubstr("; write fault-scheduling: "));
  result.erase("message");
  EXPECT_EQ(result, Yaml(R"(
severity: error
resourceRef: {apiVersion: apps/v1, kind: Deployment, name: chat, namespace: llm}
field: {path: "spec.template.metadata.labels[fault-scheduling]"}
file: {path: chat.yaml, index: 1})"));
}

TEST(AdmissionFunction, WarningsDenyWhenStrict) {
  Json list = Yaml(kList);
  LabelsOf(list)["fault-sheduling"] = "force";  // a near miss
  const FunctionAnswer lenient = RunOn(list);
  EXPECT_FALSE(lenient.failed);
  EXPECT_THAT(lenient.lines, ElementsAre(StartsWith("warning: Deployment llm/chat: ")));
  list["functionConfig"]["spec"] = {{"strict", true}};
  const FunctionAnswer strict = RunOn(list);
  EXPECT_TRUE(strict.failed);
  EXPECT_THAT(strict.lines, ElementsAre(StartsWith("error: Deployment llm/chat: ")));
}

TEST(AdmissionFunction, TakesAConfigurationAndLabelsOfNamespaces) {
  const Json named = ListWith(Yaml("config: {scheduler: my-volcano}"));
  EXPECT_EQ(Yaml(RunOn(named).output)["items"][1]["spec"]["template"]["spec"]["schedulerName"],
            "my-volcano");
  const Json off = ListWith(Yaml("namespaceLabels: {mindgate.io/inject: disabled}"));
  EXPECT_EQ(Yaml(RunOn(off).output)["items"], off["items"]);
}

TEST(AdmissionFunction, FaultsOfItsSpecAreErrors) {
  const FunctionAnswer answer =
      RunOn(ListWith(Yaml("{stict: true, config: {schedular: x}, namespaceLabels: []}")));
  EXPECT_TRUE(answer.failed);
  EXPECT_THAT(
      answer.lines,
      ElementsAre(
          HasSubstr("unknown key \"schedular\""), HasSubstr("namespaceLabels"),
          StartsWith("error: spec.stict: unknown key \"stict\"; did you mean \"strict\"?")));
}

TEST(AdmissionFunction, ItemsWithoutAKindAreErrors) {
  Json list = Yaml(kList);
  list["items"] = Json::array({{{"metadata", {{"name", "x"}}}}});
  const FunctionAnswer answer = RunOn(list);
  EXPECT_TRUE(answer.failed);
  EXPECT_THAT(answer.lines, SizeIs(1));
  list["items"] = Json::array();
  EXPECT_FALSE(RunOn(list).failed);
}

}  // namespace
}  // namespace mindgate::offline
