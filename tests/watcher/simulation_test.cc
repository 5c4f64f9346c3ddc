#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "watcher/simulation/cluster.h"
#include "watcher/simulation/duration.h"
#include "watcher/simulation/player.h"

namespace mindgate::watcher::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

TEST(Duration, ReadsWholeNumbersWithUnits) {
  const struct {
    const char* text;
    std::optional<seconds> want;
    const char* again;
  } cases[] = {
      {"90s", seconds(90), "1m30s"},
      {"5m", minutes(5), "5m"},
      {"1h", hours(1), "1h"},
      {"1m30s", seconds(90), "1m30s"},
      {"1h0m1s", seconds(3601), "1h1s"},
      {"0s", seconds(0), "0s"},
      {"8760h", kLongest, "8760h"},
      {"8760h1s", {}, ""},
      {"99999999999999999999s", {}, ""},
      {"", {}, ""},
      {"90", {}, ""},
      {"s", {}, ""},
      {"-1s", {}, ""},
      {"1.5h", {}, ""},
      {"1d", {}, ""},
      {"5m ", {}, ""},
  };
  for (const auto& c : cases) {
    const auto duration = ParseDuration(c.text);
    EXPECT_EQ(duration, c.want) << c.text;
    if (duration) EXPECT_EQ(FormatDuration(*duration), c.again);
  }
}

TEST(Cluster, PlacesWholeInstancesOnTheFirstNodesWithRoom) {
  Cluster cluster({{"a", 8}, {"b", 16}, {"c", 8}});
  EXPECT_EQ(cluster.Place(0, 3, 8), (std::vector<size_t>{0, 1, 1}));
  EXPECT_EQ(cluster.Place(1, 2, 8), std::nullopt) << "one of its pods would find room";
  EXPECT_EQ(cluster.Room(8, 9), 1);
  EXPECT_EQ(cluster.Place(2, 1, 4), (std::vector<size_t>{2})) << "a refused one takes nothing";
  const uint64_t before = cluster.freed();
  cluster.Release(0);
  EXPECT_NE(cluster.freed(), before);
  EXPECT_EQ(cluster.Room(8, 9), 3);
  EXPECT_EQ(cluster.Room(4, 2), 2);
}

TEST(Cluster, WhatBreaksNamesWhoLosesPods) {
  Cluster cluster({{"a", 8}});
  cluster.Place(7, 1, 2);
  cluster.Place(8, 1, 2);
  EXPECT_EQ(cluster.BreakCards(0, 3), (std::vector<size_t>{7, 8})) << "cards 0 to 2";
  cluster.Release(7);
  cluster.Release(8);
  EXPECT_EQ(cluster.WorkingCards(0), 5);
  EXPECT_EQ(cluster.Room(1, 9), 5);
  EXPECT_EQ(cluster.BreakCards(0, 9), std::vector<size_t>()) << "all that are left";
  EXPECT_EQ(cluster.WorkingCards(0), 0);
  cluster.RepairCards(0, 9);
  cluster.Place(9, 1, 8);
  EXPECT_EQ(cluster.BreakNode(0), (std::vector<size_t>{9}));
  cluster.Release(9);
  EXPECT_EQ(cluster.Room(1, 9), 0);
  cluster.RepairNode(0);
  EXPECT_EQ(cluster.Room(1, 9), 8);
}

// Two groups, {g0: 2, g1: 1} else {g0: 1, g1: 1}.
constexpr const char* kRules =
    R"(rules: [{name: rule, text: '{"version": "1.0", "elastic_scaling_list": [
  {"group_list": [{"group_name": "g0", "group_num": "2", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]},
  {"group_list": [{"group_name": "g0", "group_num": "1", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]}'}]
)";
constexpr const char* kService =
    "services: [{jobID: chat, rule: rule, instances: [{name: p0, group: g0}, {name: p1, group: g0},"
    " {name: d0, group: g1}]}]\n";

// "3:7: message | hint".
Texts Faults(const std::string& text) {
  Texts faults;
  const ScenarioReading reading = ReadScenarios(text);
  for (const json::Issue& issue : reading.issues.items()) {
    faults.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + ": " +
                     issue.message + (issue.hint.empty() ? "" : " | " + issue.hint));
  }
  EXPECT_EQ(reading.scenarios.empty(), !faults.empty());
  return faults;
}

TEST(Scenario, ItsFaultsComeAllAtOnceWithTheirPlaces) {
  const std::string rules = "rules: [{name: rule, text: ''}]\n";
  const std::string service = "services: [{jobID: chat, rule: rule, instances: [{name: p0}]}]\n";
  const std::string nodes = "nodes: [{name: n, npus: 8}]\n";
  const struct {
    const char* name;
    std::string text;
    Texts want;
  } cases[] = {
      {"no scenario", "# nothing\n", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Faults(c.text), c.want);
  }
}

// "1m30s granted p0: reason", without the submissions of the start.
Texts TimelineOf(const std::string& text) {
  Texts lines;
  const ScenarioReading reading = ReadScenarios(text);
  EXPECT_TRUE(reading.issues.empty()) << json::Render(reading.issues, "scenario.yaml", text);
  for (const Scenario& scenario : reading.scenarios) {
    for (const Event& event : Play(scenario).events) {
      if (event.kind == EventKind::kSubmitted && event.at == seconds(0)) continue;
      lines.push_back(FormatDuration(event.at) + " " + std::string(EventName(event.kind)) + " " +
                      event.subject + ": " + event.reason);
    }
  }
  return lines;
}

std::string Three(const std::string& rest) {
  return "nodes: [{prefix: npu-, count: 3, npus: 8}]\n" + std::string(kRules) + kService + rest;
}

}  // namespace
}  // namespace mindgate::watcher::simulation
