#include "deploy/render.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deploy/check.h"
#include "deploy/config.h"
#include "json/yaml.h"
#include "support/deploy_configs.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::With;
using ::testing::HasSubstr;

std::vector<RenderedObject> Rendered(std::string_view text) {
  const auto read = ReadConfiguration(text);
  if (!read) {
    ADD_FAILURE() << json::Render(read.error(), "app.yaml", text);
    return {};
  }
  return Render(read->application);
}

std::string YamlOf(const std::vector<RenderedObject>& objects) {
  std::string text;
  for (const RenderedObject& each : objects) text += "---\n" + json::EncodeYaml(each.object);
  return text;
}

std::vector<Json> ObjectsIn(const std::string& yaml) {
  const auto documents = json::DecodeCoreYaml(yaml);
  if (!documents) {
    ADD_FAILURE() << documents.error().message;
    return {};
  }
  std::vector<Json> objects;
  for (const auto& document : *documents) objects.push_back(document.value);
  return objects;
}

// A golden file that is compared as objects: how YAML is written does not matter, and what is
// printed must be read again as what was rendered.
void ExpectObjects(const std::string& path, const std::vector<RenderedObject>& rendered) {
  std::vector<Json> objects;
  for (const RenderedObject& each : rendered) objects.push_back(each.object);
  const std::string yaml = YamlOf(rendered);
  EXPECT_EQ(ObjectsIn(yaml), objects) << path;
  if (ObjectsIn(ReadSource(path)) != objects) ExpectGolden(path, yaml);
}

TEST(Render, TheSamplesOfMindclusterDeploy) {
  for (const std::string name : {"isvc-config", "stormservice-config"}) {
    ExpectObjects("tests/golden/deploy/" + name + ".txt",
                  Rendered(ReadSource("tests/fixtures/deploy/" + name + ".yaml")));
  }
}

// With one replica, a budget either blocks the drain of its node or keeps nothing.
TEST(Render, TheStoreIsOnePodWithoutADisruptionBudgetOrAPriority) {
  std::vector<std::string> titles;
  for (const RenderedObject& each : Rendered(kOmeConfig)) {
    titles.push_back(each.Title());
    if (each.Title() != "Deployment chat-mf-store") continue;
    const Json& spec = each.object["spec"];
    EXPECT_EQ(spec["replicas"], 1);
    EXPECT_FALSE(spec["template"]["spec"].contains("priorityClassName"));
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"Deployment chat-mf-store", "Service chat-mf-store",
                                              "InferenceService chat"}));
}

TEST(Render, AMindieService) {
  ExpectObjects("tests/golden/deploy/mindie.txt",
                Rendered(With(With(kMindieConfig, "  prefill:\n",
                                   "  priority_classes: true\n"
                                   "  service: {node_port: 31020}\n"
                                   "  controller: {standby: true}\n"
                                   "  prefill:\n"
                                   "    env_vars: {A: b}\n"),
                              "  decode:\n", "  decode:\n    labels: {team: x}\n")));
}

// By these they are found: by status and delete, by pruning, and in what a pipeline applies.
TEST(Render, EveryObjectCarriesItsMarks) {
  std::vector<std::string> texts = {std::string(kOmeConfig), std::string(kAibrixConfig),
                                    std::string(kMindieConfig)};
  for (const Framework each : kFrameworks) texts.emplace_back(StarterOf(each));
  for (const std::string name : {"isvc-config", "stormservice-config"}) {
    texts.push_back(ReadSource("tests/fixtures/deploy/" + name + ".yaml"));
  }
  const std::string a3 = With(kMindieConfig, "  prefill:\n",
                              "  hardware_type: 800I_A3\n  priority_classes: true\n  prefill:\n");
  texts.push_back(a3);
  // Nobody else's annotation wins.
  texts.push_back(With(a3, "  decode:\n",
                       "  decode:\n    annotations: {a: b, mindgate.io/application: c/d}\n"));
  for (const std::string& text : texts) {
    const auto read = ReadConfiguration(text);
    ASSERT_TRUE(read) << json::Render(read.error(), "app.yaml", text);
    const Application& application = read->application;
    for (const RenderedObject& each : Render(application)) {
      const Json& metadata = each.object["metadata"];
      EXPECT_EQ(metadata["annotations"].value("mindgate.io/application", ""),
                application.ns + "/" + application.name)
          << each.Title();
      const Json& labels = metadata["labels"];
      EXPECT_EQ(labels.value("app.kubernetes.io/managed-by", ""), "mindgate-deploy");
      EXPECT_EQ(labels.value("app.kubernetes.io/instance", ""), application.name);
      EXPECT_EQ(labels.value("mindgate.io/framework", ""), FrameworkName(application.framework()));
    }
  }
  EXPECT_THAT(YamlOf(Rendered(a3)), HasSubstr("sp-block: '32'"));
}

// What admission says of the objects, without what it only records.
std::string FindingsOf(std::string_view text, const schemas::Config& config = {}) {
  const auto read = ReadConfiguration(text);
  if (!read) return json::Render(read.error(), "app.yaml", text);
  const CheckedApplication checked = Check(*read, Render(read->application), config, {}, Time());
  json::Issues issues = checked.override_warnings;
  for (const CheckFinding& finding : checked.findings) {
    if (finding.finding.mode == schemas::Mode::kAudit) continue;
    issues.Add(IssueOf(finding, checked));
  }
  return json::Render(issues, "app.yaml", text);
}

// No configuration that is accepted makes an object that admission refuses.
TEST(Check, WhatIsRenderedIsAdmitted) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"OME", std::string(kOmeConfig)},
      {"OME, decoder of several pods",
       With(With(kOmeConfig, "  decoder:\n", "  decoder:\n    pod_num: 2\n    min_replicas: 3\n"),
            "app_namespace: llm", "app_namespace: default")},
      {"OME without a decoder",
       R"(app_name: a
inference_service: {model_name: m, engine: {npu_num: 8, image: "s:1"}}
)"},
      {"AIBrix", std::string(kAibrixConfig)},
      {"AIBrix, nothing distributed",
       With(With(kAibrixConfig, "  prefill:\n", "  distributed_dp: \"false\"\n  prefill:\n"),
            "  routing:\n    image: vllm-ascend:1\n", "")},
      {"AIBrix, Ascend 950",
       With(With(kAibrixConfig, "  prefill:\n",
                 "  npu_resource: huawei.com/npu\n  prefill:\n"
                 "    annotations: &policy {huawei.com/schedule_policy: chip8-node8}\n"),
            "  decode:\n", "  decode:\n    annotations: *policy\n")},
      {"MindIE", std::string(kMindieConfig)},
      {"MindIE on A3",
       With(With(kMindieConfig, "  prefill:\n", "  hardware_type: 800I_A3\n  prefill:\n"),
            "    instances: 2\n    pod_num: 2\n", "    instances: 3\n")},
      {"MindIE on A3 without super pods",
       With(With(kMindieConfig, "  prefill:\n",
                 "  hardware_type: 800I_A3\n  prefill:\n"
                 "    node_selector: &a3 {accelerator-type: module-a3-16}\n"),
            "  decode:\n", "  decode:\n    node_selector: *a3\n")},
      {"MindIE, everything on",
       With(kMindieConfig, "  prefill:\n",
            "  priority_classes: true\n  coordinator: {standby: true}\n"
            "  controller: {standby: true}\n  service: {node_port: 31020}\n  prefill:\n")},
      {"MindIE without a rule",
       With(kMindieConfig, "  prefill:\n", "  scaling_rule: false\n  prefill:\n")}};
  for (const auto& [name, text] : cases) EXPECT_EQ(FindingsOf(text), "") << name;
}

// MG174 names the folder where it was written, not the role that mounts it.
TEST(Check, AFolderOfTheHostIsWhereItWasWritten) {
  const std::string aibrix =
      FindingsOf(With(kAibrixConfig, "  prefill:\n", "  host_paths: {models: /mnt}\n  prefill:\n"));
  EXPECT_THAT(aibrix, HasSubstr("  host_paths: {models: /mnt}\n                       ^\n"));
  EXPECT_THAT(aibrix, HasSubstr("MG174 host-tree: "));
  const std::string path = "model_path: ";
  const std::string_view config = kMindieConfig;
  const size_t begin = config.find(path) + path.size();
  const std::string written(config.substr(begin, config.find('\n', begin) - begin));
  EXPECT_THAT(FindingsOf(With(kMindieConfig, path + written, path + "/home")),
              HasSubstr("  model_path: /home\n              ^\n"));
  EXPECT_EQ(FindingsOf(kMindieConfig), "");
}

// A label of the user replaces the default, once, and is reported.
TEST(Check, SettingsThatReplaceDefaultsAreReported) {
  EXPECT_EQ(
      FindingsOf(With(kMindieConfig, "    instances: 2\n    pod_num: 2\n",
                      "    instances: 2\n    labels: {fault-scheduling: grace}\n")),
      "app.yaml:8:32: warning: \"fault-scheduling\" replaces \"force\", which mindgate writes\n"
      "    labels: {fault-scheduling: grace}\n"
      "                               ^\n"
      "hint: remove it, unless it is on purpose\n");
}

// What a rule denies is reported at the place in the configuration.
TEST(Check, WhatIsDeniedIsReportedWhereItWasWritten) {
  EXPECT_EQ(
      FindingsOf(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8",
                      "    labels: {fault-scheduling: Force}\n    npu_num: 8")),
      "app.yaml:7:32: warning: \"fault-scheduling\" replaces \"force\", which mindgate writes\n"
      "    labels: {fault-scheduling: Force}\n"
      "                               ^\n"
      "hint: remove it, unless it is on purpose\n"
      "app.yaml:7:32: denied: InferenceService chat: MG050 fault-scheduling-value: "
      "spec.engine.labels[fault-scheduling]: fault-scheduling is \"Force\", which the scheduler "
      "does not know: after a fault the job is stuck in its fault cache, did you mean \"force\"?\n"
      "    labels: {fault-scheduling: Force}\n"
      "                               ^\n"
      "hint: write fault-scheduling: \"force\"\n");
}

TEST(Check, TheSamplesOfMindclusterDeployWithWhatIsWrongInThem) {
  std::string reported;
  for (const std::string name :
       {"isvc-config", "stormservice-config", "stormservice-config-2026"}) {
    reported +=
        "=== " + name + "\n" + FindingsOf(ReadSource("tests/fixtures/deploy/" + name + ".yaml"));
  }
  ExpectGolden("tests/golden/deploy/samples-findings.txt", reported);
}

}  // namespace
}  // namespace mindgate::deploy
