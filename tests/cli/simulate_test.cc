#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;

constexpr const char* kScenario = R"(name: one node breaks
nodes: [{prefix: npu-, count: 2, npus: 8}]
rules:
  - name: rule
    text: {version: "1.0", elastic_scaling_list: [{group_list: [
      {group_name: g0, group_num: "1", server_num_per_group: "1"}]}]}
services:
  - {jobID: chat, rule: rule, instances: [{name: p0, group: g0}]}
timeline:
  - {at: 1m, expect: {running: [p0], shape: 1}}
  - {at: 90s, breakNode: npu-0}
  - at: 91s
    expect:
      running: {g0: 1}
      starting: [p0]
)";

// What the scenario expects, but with the node's fault before the pod could run.
std::string Passing() {
  std::string text = kScenario;
  const std::string claim = "      running: {g0: 1}\n";
  return text.erase(text.find(claim), claim.size());
}

TEST(Simulate, PrintsATimelineAndWhatWasNotMet) {
  const Workspace workspace;
  workspace.Write("scenario.yaml", kScenario);
  const CliResult text = Cli({"simulate", "-f", "scenario.yaml"});
  EXPECT_EQ(text.code, 1);
  EXPECT_EQ(text.err, "");
  ExpectGolden("tests/cli/simulate/not-met.txt.want", text.out);
  const CliResult json = Cli({"simulate", "-f", "scenario.yaml", "-o", "json"});
  EXPECT_EQ(json.code, 1);
  ExpectGolden("tests/cli/simulate/not-met.json.want", json.out);
}

TEST(Simulate, PrintsOnePageOfAllScenarios) {
  const Workspace workspace;
  workspace.Write("scenario.yaml", std::string(kScenario) + "---\n" + Passing());
  const CliResult page = Cli({"simulate", "-f", "scenario.yaml", "-o", "html"});
  EXPECT_EQ(page.code, 1);
  EXPECT_EQ(page.err, "");
  EXPECT_THAT(page.out, ::testing::StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(page.out, ::testing::EndsWith("</body>\n</html>\n"));
  EXPECT_THAT(page.out, HasSubstr("<p class=\"bad\">4 expected: 3 met, 1 not met</p>"));
  EXPECT_THAT(page.out, HasSubstr("<p class=\"good\">3 expected: 3 met, 0 not met</p>"));
}

TEST(Simulate, ExitCodes) {
  const Workspace workspace;
  workspace.Write("passes.yaml", Passing());
  workspace.Write("fails.yaml", kScenario);
  workspace.Write("bad.yaml", "nodes: []\n");
  const struct {
    std::vector<std::string> arguments;
    int code;
  } cases[] = {
      {{"simulate", "-f", "passes.yaml"}, 0},
      {{"simulate", "-f", "fails.yaml"}, 1},
      {{"simulate", "-f", "bad.yaml"}, 2},
      {{"simulate", "-f", "gone.yaml"}, 2},
      {{"simulate", "-f", "passes.yaml", "-f", "fails.yaml"}, 1},
      {{"simulate", "-f", "fails.yaml", "-f", "bad.yaml"}, 2},
      {{"simulate"}, 2},
      {{"simulate", "-f", "passes.yaml", "-o", "yaml"}, 2},
  };
  for (const auto& c : cases) EXPECT_EQ(Cli(c.arguments).code, c.code) << c.arguments.back();
  EXPECT_EQ(Cli({"simulate", "-f", "-"}, Passing()).code, 0);
}

TEST(Simulate, SeveralScenariosEndWithTheirNumber) {
  const Workspace workspace;
  workspace.Write("a.yaml", Passing());
  workspace.Write("b.yaml", std::string(kScenario) + "---\n" + Passing());
  const CliResult text = Cli({"simulate", "-f", "."});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, ::testing::EndsWith("\n3 scenarios: 2 passed, 1 failed\n"));
  const auto json = json::Json::parse(Cli({"simulate", "-f", ".", "-o", "json"}).out);
  ASSERT_EQ(json.size(), 3);
  EXPECT_EQ(json[0]["summary"]["passed"], true);
  EXPECT_EQ(json[1]["summary"]["passed"], false);
  EXPECT_EQ(json[1]["file"], "./b.yaml");
}

TEST(Simulate, WhatCannotBeReadIsShownWithItsPlaceAndTheRestIsPlayed) {
  const Workspace workspace;
  workspace.Write("bad.yaml", "nodes: []\nrules: []\nservices: []\ntimelime: []\n");
  workspace.Write("good.yaml", Passing());
  const CliResult result = Cli({"simulate", "-f", "bad.yaml", "-f", "good.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "bad.yaml:1:1: \"timeline\" is missing\n"
            "nodes: []\n"
            "^\n"
            "hint: add timeline:\n"
            "bad.yaml:1:1: needs at least 1 item\n"
            "nodes: []\n"
            "^\n"
            "bad.yaml:3:1: needs at least 1 item\n"
            "services: []\n"
            "^\n"
            "bad.yaml:4:1: unknown key \"timelime\"\n"
            "timelime: []\n"
            "^\n"
            "hint: did you mean \"timeline\"?\n");
  EXPECT_THAT(result.out, HasSubstr("3 expected: 3 met, 0 not met"));
}

TEST(Simulate, ShowsWhatWasRestartedInEveryOutput) {
  const std::string file = SourcePath("examples/scenarios/fault-restarts-a-job.yaml");
  const auto json = json::Json::parse(Cli({"simulate", "-f", file, "-o", "json"}).out);
  const json::Json jobs = {{{"job", "train"},
                            {"pods", 4},
                            {"running", 4},
                            {"restarted", 5},
                            {"marked", 0},
                            {"retriesUsed", 0}}};
  EXPECT_EQ(json["summary"]["jobs"], jobs);
  std::vector<json::Json> restarted;
  for (const json::Json& event : json["events"]) {
    if (event["event"] == "restarted") restarted.push_back(event);
  }
  ASSERT_EQ(restarted.size(), 2U);
  EXPECT_EQ(
      restarted.front(),
      (json::Json{{"at", 120},
                  {"event", "restarted"},
                  {"service", "train"},
                  {"subject", "train"},
                  {"reason", "CardUnhealthy: train-3 deleted, as fault-scheduling is force"}}));
  const std::string page = Cli({"simulate", "-f", file, "-o", "html"}).out;
  EXPECT_THAT(page, HasSubstr("train-3 deleted, as fault-scheduling is force"));
  EXPECT_THAT(page, HasSubstr("npu-3"));
}

// Each says at its head what it shows, and all of it is so.
TEST(Simulate, EveryShippedScenarioPasses) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("examples/scenarios"))) {
    const std::string name = entry.path().filename().string();
    EXPECT_THAT(ReadSource("examples/scenarios/" + name), ::testing::StartsWith("# ")) << name;
    const CliResult result = Cli({"simulate", "-f", entry.path().string()});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_EQ(result.out, Cli({"simulate", "-f", entry.path().string()}).out) << name;
    ++files;
  }
  EXPECT_GE(files, 18);
}

}  // namespace
}  // namespace mindgate::cli
