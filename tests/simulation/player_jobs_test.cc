// Scenarios of rescheduling: each file of tests/simulation/scenarios/rescheduling is a row of the
// tables of MindCluster's plugin, or a trap, with what must become of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "simulation/player.h"
#include "support/golden.h"

namespace mindgate::simulation {
namespace {

using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kFolder = "tests/simulation/scenarios/rescheduling";

std::vector<std::string> NamesOfScenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath(kFolder))) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string TextOf(const std::string& name) {
  return ReadSource(std::string(kFolder) + "/" + name + ".yaml");
}

Scenario ScenarioOf(const std::string& text) {
  ScenarioReading reading = ReadScenarios(text);
  EXPECT_TRUE(reading.issues.empty()) << json::Render(reading.issues, "scenario.yaml", text);
  return reading.scenarios.empty() ? Scenario() : std::move(reading.scenarios.front());
}

TEST(ReschedulingScenarios, EachMeetsItsExpectations) {
  const std::vector<std::string> names = NamesOfScenarios();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string text = TextOf(name);
    EXPECT_THAT(text, StartsWith("# ")) << "it says at its head which row or trap it shows";
    const Scenario scenario = ScenarioOf(text);
    ASSERT_FALSE(scenario.jobs.empty());
    const Playback playback = Play(scenario);
    EXPECT_FALSE(playback.checks.empty());
    EXPECT_TRUE(playback.Passed()) << TimelineText(name, playback);
  }
  EXPECT_GE(names.size(), 30U);
}

// Changes one part of an expectation so that it is no longer so; false when it has no such part.
bool Spoil(JobExpectation& expected, size_t part) {
  const std::vector<std::string> wrong = {"nobody-9"};
  const PodsByTime never = {{std::chrono::hours(9), wrong}};
  const std::vector<std::function<bool()>> spoil = {
      [&] { return expected.deleted && (expected.deleted = never, true); },
      [&] { return expected.evicted && (expected.evicted = never, true); },
      [&] { return expected.marked && (expected.marked = never, true); },
      [&] { return expected.untouched && (expected.untouched = wrong, true); },
      [&] { return expected.running && (expected.running = wrong, true); },
      [&] { return expected.last && (expected.last = "never said", true); },
      [&] { return !expected.reason.empty() && (expected.reason = "never said", true); },
      [&] { return expected.retries_used && (*expected.retries_used += 1, true); },
      [&] { return expected.isolated && (expected.isolated = wrong, true); },
  };
  for (const auto& each : spoil) {
    JobExpectation before = expected;
    if (!each()) continue;
    if (part-- == 0) return true;
    expected = before;
  }
  return false;
}

// Of two neighbours one is changed and alone reported, then the other.
TEST(ReschedulingScenarios, EveryExpectationCanFail) {
  for (const std::string& name : NamesOfScenarios()) {
    const Scenario scenario = ScenarioOf(TextOf(name));
    const size_t parts = Play(scenario).checks.size();
    for (const size_t odd : {0, 1}) {
      SCOPED_TRACE(name + (odd == 0 ? ", even parts" : ", odd parts"));
      Scenario spoiled = scenario;
      std::vector<std::pair<int, bool>> want;  // line, and whether it is met
      for (auto& entry : spoiled.timeline) {
        auto* expected = std::get_if<JobExpectation>(&entry.action);
        if (expected == nullptr) continue;
        for (size_t part = 0;; ++part) {
          JobExpectation changed = *expected;
          if (!Spoil(changed, part)) break;
          const bool spoils = want.size() % 2 == odd;
          if (spoils) *expected = changed;
          want.emplace_back(expected->line, !spoils);
        }
      }
      EXPECT_EQ(want.size(), parts);
      std::vector<std::pair<int, bool>> got;
      for (const auto& check : Play(spoiled).checks) got.emplace_back(check.line, check.met);
      EXPECT_EQ(got, want);
    }
  }
}

TEST(ReschedulingScenarios, OneIsAlwaysTheSame) {
  const Scenario scenario = ScenarioOf(TextOf("force-restarts-the-whole-job"));
  const std::string once = TimelineText("a", Play(scenario));
  EXPECT_EQ(once, TimelineText("a", Play(scenario)));
  EXPECT_THAT(once, HasSubstr("restarted"));
}

constexpr const char* kJob = R"(nodes: [{name: n0, npus: 8}]
jobs: [{name: train}]
timeline:
)";

constexpr const char* kBoth = R"(nodes: [{name: n0, npus: 8}]
rules: [{name: r, text: ""}]
services: [{jobID: j, rule: r, labels: {fault-scheduling: force}, instances: [{name: p0, group: g}]}]
jobs: [{name: train}]
timeline:
)";

// A report ends after its time, or with another one of the node.
TEST(ReschedulingScenarios, AReportLastsUntilTheNextOneOfItsNode) {
  const std::string text = std::string(kJob) +
                           "  - {at: 1m, report: {node: n0, unhealthy: [1], lasts: 1m}}\n"
                           "  - {at: 3m, report: {node: n0, unhealthy: [2], lasts: 1h}}\n"
                           "  - {at: 4m, report: {node: n0, unhealthy: [3], lasts: 1m}}\n"
                           "  - {at: 5m, expectJob: {job: train, untouched: [train-0]}}\n";
  std::vector<std::string> reported;
  for (const Event& event : Play(ScenarioOf(text)).events) {
    if (event.kind != EventKind::kReported) continue;
    reported.push_back(std::to_string(event.at.count()) + " " + event.reason);
  }
  EXPECT_THAT(reported,
              ElementsAre("60 unhealthy Ascend910-1", "120 healthy", "180 unhealthy Ascend910-2",
                          "240 unhealthy Ascend910-3", "300 healthy"));
}

TEST(ReschedulingScenarios, WhatCannotHappenIsRefused) {
  const struct {
    std::string text;
    std::string message;
  } cases[] = {
      {std::string(kJob) + "  - {at: 1m, breakNode: n0}\n",
       "this happens to services, but the scenario has jobs"},
      {std::string(kJob) + "  - {at: 1m, report: {node: n1}}\n", "there is no node \"n1\""},
      {std::string(kJob) + "  - {at: 1m, expectJob: {job: other, deleted: {}}}\n",
       "there is no job \"other\""},
      {std::string(kJob) + "  - {at: 1m, expectJob: {job: train}}\n",
       "nothing is expected, so this cannot fail"},
      {std::string(kJob) + "  - {at: 1m, expectJob: {deleted: {soon: [train-0]}}}\n",
       "\"soon\" is not a time"},
      {"nodes: [{name: n0, npus: 8}]\njobs: [{name: a}, {name: a}]\n"
       "timeline: [{at: 1m, expectJob: {job: a, deleted: {}}}]\n",
       "there is a job \"a\" above"},
      {"nodes: [{name: n0, npus: 8}]\njobs: [{name: a}, {name: b}]\n"
       "timeline: [{at: 1m, expectJob: {deleted: {}}}]\n",
       "there are several jobs, but this entry names none"},
      {"nodes: [{name: n0, npus: 8}]\njobs: [{name: a_b}]\n"
       "timeline: [{at: 1m, expectJob: {deleted: {}}}]\n",
       "a pod cannot have a name that begins like this"},
      {std::string(kJob) + "  - {at: 1m, otherActs: {job: train, instance: p0}}\n",
       "what is deleted is either of a job or an instance"},
      {std::string(kJob) + "  - {at: 1m, otherActs: {instance: p0}}\n",
       "this happens to services, but the scenario has jobs"},
      {std::string(kJob) + "  - {at: 1m, report: {node: n0, unhealthy: [1], lasts: 0s}}\n",
       "\"0s\" is too short"},
      {std::string(kBoth) + "  - {at: 1m, otherActs: {instance: p1}}\n",
       "there is no instance \"p1\" at that time"},
      {std::string(kBoth) + "  - {at: 1m, submit: {name: train, group: g}}\n",
       "there is a job \"train\", whose PodGroup has this name"},
  };
  for (const auto& c : cases) {
    const ScenarioReading reading = ReadScenarios(c.text);
    ASSERT_FALSE(reading.issues.empty()) << c.text;
    EXPECT_EQ(reading.issues.items().front().message, c.message);
  }
}

// Where each stands in the file.
TEST(ReschedulingScenarios, OptionsOfJobsNeedJobs) {
  const std::string text =
      "nodes: [{name: n0, npus: 8}]\n"
      "options: {watchDelays: {nodes: 1m}}\n"
      "rules: [{name: r, text: {elastic_scaling_list: [{group_list: [{group_name: g, group_num: "
      "'1', "
      "server_num_per_group: '1'}]}]}}]\n"
      "services: [{jobID: j, rule: r, instances: [{name: p, group: g}]}]\n"
      "timeline: [{at: 1m, setOptions: {clusterD: false}}]\n";
  EXPECT_EQ(json::Render(ReadScenarios(text).issues, "s.yaml", ""),
            "s.yaml:2:11: this is for jobs, but the scenario has none\n"
            "hint: write watchDelay:, which is for all watches of the watcher\n"
            "s.yaml:5:44: this is for jobs, but the scenario has none\n"
            "hint: leave it out\n");
  const std::string misspelled =
      std::string(kJob) + "  - {at: 1m, setOptions: {watchDelays: {node: 1m, pods: soon}}}\n";
  EXPECT_EQ(json::Render(ReadScenarios(misspelled).issues, "s.yaml", ""),
            "s.yaml:4:47: unknown key \"node\"\nhint: did you mean \"nodes\"?\n"
            "s.yaml:4:57: \"soon\" is not a duration of at most a year\n"
            "hint: write 90s, 5m, 1h or 1m30s\n");
}

}  // namespace
}  // namespace mindgate::simulation
