// The manifests of examples/manifests. All are complete but those of chat, with which README shows
// what mindgate adds and what it denies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/collections.h"
#include "json/value.h"
#include "json/yaml.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/places.h"

namespace mindgate::cli {
namespace {

using ::mindgate::json::Json;
using ::mindgate::testing::Cli;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;

std::vector<std::string> ExampleNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("examples/manifests")))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

// What mindgate does not find fault with, and adds nothing to.
bool IsComplete(const std::string& name) { return !name.starts_with("chat"); }

TEST(Examples, AreWhatTheyDescribe) {
  const Workspace workspace;
  const std::vector<std::string> names = ExampleNames();
  EXPECT_THAT(names,
              ::testing::ElementsAre("a3-super-pod", "aibrix", "ascendjob", "chat", "chat-broken",
                                     "leaderworkerset", "ome", "volcano-job"));
  for (const std::string& name : names) {
    const std::string file =
        workspace.Write(name + ".yaml", ReadSource("examples/manifests/" + name + ".yaml"));
    const auto table = Cli({"apply", "-f", file, "--strict", "-o", "table"});
    const auto diff = Cli({"apply", "-f", file, "-o", "diff"});
    ExpectGolden("tests/golden/examples/" + name + ".txt", table.out + table.err + diff.out);
    EXPECT_EQ(table.code, name == "chat-broken" ? 1 : 0) << name;
    if (!IsComplete(name)) continue;
    EXPECT_EQ(diff.out + diff.err, "") << name;
    // Nor is anything missing where nothing is injected.
    const auto alone = Cli({"apply", "-f", file, "--strict", "-o", "name", "--namespace-labels",
                            "mindgate.io/inject=disabled"});
    EXPECT_EQ(alone.code, 0) << name;
    EXPECT_EQ(alone.err, "") << name;
  }
}

TEST(Examples, PassAnAuditOnceTheyAreStored) {
  kube::testing::FakeApiServer server;
  const std::vector<kube::Resource> collections = audit::AllCollections();
  for (const kube::Resource& resource : collections) {
    const bool custom = resource.group.find('.') != std::string::npos;
    if (custom || resource.group == "batch" || resource.kind == "StatefulSet")
      server.Register({.resource = resource, .custom = custom});
  }
  for (const std::string& name : ExampleNames()) {
    if (!IsComplete(name)) continue;
    const auto documents = json::DecodeYaml(ReadSource("examples/manifests/" + name + ".yaml"));
    ASSERT_TRUE(documents.has_value()) << name;
    for (const json::YamlDocument& document : *documents) {
      const auto stored =
          std::find_if(collections.begin(), collections.end(), [&](const kube::Resource& resource) {
            return document.value["kind"] == resource.kind &&
                   document.value["apiVersion"] == resource.api_version();
          });
      ASSERT_NE(stored, collections.end()) << name;
      server.Put(*stored, document.value);
    }
  }
  const Workspace folder;
  const auto taken = Cli({"snapshot", "--workloads", "-o", "s.json", "--server", server.url()});
  ASSERT_EQ(taken.code, 0) << taken.err;
  const auto audited = Cli({"audit", "-A", "--snapshot", "s.json", "-o", "json"});
  EXPECT_EQ(audited.code, 0) << audited.err;
  const Json report = Json::parse(audited.out);
  std::vector<std::string> evaluated;
  for (const Json& each : report["workloads"]) {
    evaluated.push_back(each["kind"].get<std::string>() + " " + each["name"].get<std::string>() +
                        " " + each["outcome"].get<std::string>() + " " + each["changes"].dump() +
                        " " + each["findings"].dump());
  }
  EXPECT_THAT(
      evaluated,
      ::testing::UnorderedElementsAre(
          "AscendJob llm-train admitted 0 []", "AscendJob moe-train admitted 0 []",
          "InferenceService qwen3-8b admitted 0 []", "Job finetune admitted 0 []",
          "LeaderWorkerSet qwen admitted 0 []", "ServingRuntime sglang-qwen3-8b admitted 0 []",
          "StormService vllm-1p1d admitted 0 []"));
}

// The policies of examples/policies: each has a suite, in which it admits one object at least and
// finds something in another one.
TEST(ExamplePolicies, EachHasASuiteThatPasses) {
  const std::filesystem::path folder = SourcePath("examples/policies");
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++count;
    const std::string name = entry.path().stem();
    const std::string suite = ReadSource("examples/policies/tests/" + name + ".yaml");
    EXPECT_THAT(suite, ::testing::HasSubstr("    findings: []\n")) << name;
    EXPECT_THAT(suite, ::testing::HasSubstr("{rule: policy/" + name + ",")) << name;
    const auto tested = Cli({"test", folder / "tests" / (name + ".yaml")});
    EXPECT_EQ(tested.code, 0) << name << "\n" << tested.out << tested.err;
  }
  EXPECT_EQ(count, 20u);
}

}  // namespace
}  // namespace mindgate::cli
