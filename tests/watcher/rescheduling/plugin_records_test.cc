#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "watcher/rescheduling/plugin.h"

// What MindCluster's plugin recorded of its restarts, beside what mindgate decided.
namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using std::chrono::seconds;
using Names = std::set<std::string>;

constexpr int64_t kFirstRestart = 1767225600;
const JobKey kInferJob{"infer", "pg"};

Time At(int64_t second) { return Time(seconds(kFirstRestart + second)); }

Json RecordAt(int64_t second, const std::vector<std::string>& pods) {
  Json tasks = Json::array();
  for (const std::string& pod : pods) {
    tasks.push_back({{"RescheduleReason", "CardUnhealthy"}, {"PodName", pod}, {"NodeName", "n0"}});
  }
  return {{"LogFileFormatTime", "I0101 08:00:00"},
          {"RescheduleTimeStamp", kFirstRestart + second},
          {"ReasonOfTask", std::move(tasks)}};
}

Json ConfigMapOf(const Json& records) {
  const Json jobs = {{"infer/pg", {{"JobID", "infer/pg"}, {"RescheduleRecords", records}}},
                     {"other/pg", {{"RescheduleRecords", {RecordAt(500, {"stranger"})}}}}};
  return {{"data", {{"recent-reschedule-records", jobs.dump()}}}};
}

PluginRestarts Since(const Json& config_map, int64_t second) {
  return RestartsSince(json::Document(config_map).root(), kInferJob, At(second));
}

TEST(PluginRecords, AreReadFromATimeOn) {
  const Json map =
      ConfigMapOf({RecordAt(90, {"p2"}), RecordAt(60, {"p0", "p1"}), RecordAt(0, {"p9"})});
  EXPECT_EQ(Since(map, 60), (PluginRestarts{.records = 2, .faulty = {"p0", "p1", "p2"}}));
  EXPECT_EQ(Since(map, 91), PluginRestarts());
  EXPECT_EQ(LastRestart(json::Document(map).root(), kInferJob), At(90));
}

// Of all jobs at once: the newest record of each, wherever it stands.
TEST(PluginRecords, HaveOfEachJobWhenItWasRestartedLast) {
  const Json map = ConfigMapOf({RecordAt(60, {"p0"}), RecordAt(90, {"p1", "p2"})});
  EXPECT_EQ(LastRestarts(json::Document(map).root()),
            (std::map<std::string, PluginRestart, std::less<>>{
                {"infer/pg", {At(90), {"p1", "p2"}}}, {"other/pg", {At(500), {"stranger"}}}}));
  for (const char* text : {"", "{", "[]", R"({"infer/pg":{"RescheduleRecords":{}}})"}) {
    const json::Document odd(Json{{"data", {{"recent-reschedule-records", text}}}});
    EXPECT_TRUE(LastRestarts(odd.root()).empty()) << text;
  }
}

TEST(PluginRetries, AreThoseThatItHasLeft) {
  const Json jobs = {{"infer/p0-3f0c", {{"UUID", "3f0c"}, {"Times", 2}}},
                     {"infer/odd", {{"Times", "2"}}},
                     {"infer/used-up", {{"Times", 0}}}};
  const json::Document map(Json{{"data", {{"remain-retry-times", jobs.dump()}}}});
  EXPECT_EQ(RetriesLeft(map.root()), (std::map<std::string, int64_t, std::less<>>{
                                         {"infer/p0-3f0c", 2}, {"infer/used-up", 0}}));
  const json::Document empty(Json{{"data", {{"remain-retry-times", ""}}}});
  EXPECT_TRUE(RetriesLeft(empty.root()).empty());
}

// Ten names of a restart, and ten restarts of a job: there may be more.
TEST(PluginRecords, AreBounded) {
  std::vector<std::string> ten;
  for (int i = 0; i < 10; ++i) ten.push_back("p" + std::to_string(i));
  EXPECT_FALSE(Since(ConfigMapOf(Json::array({RecordAt(1, ten)})), 0).complete);
  std::vector<std::string> many = ten;
  many.resize(1000, "q");
  const PluginRestarts cut = Since(ConfigMapOf(Json::array({RecordAt(1, many)})), 0);
  EXPECT_EQ(cut.faulty, Names(ten.begin(), ten.end()));
  EXPECT_FALSE(cut.complete);
  const PluginRestarts odd =
      Since(ConfigMapOf(Json::array({RecordAt(1, {"p0", std::string(254, 'x'), ""})})), 0);
  EXPECT_EQ(odd.faulty, Names{"p0"});
  EXPECT_FALSE(odd.complete);
  Json records = Json::array();
  for (int i = 0; i < 11; ++i) records.push_back(RecordAt(i, {"p" + std::to_string(i)}));
  EXPECT_EQ(Since(ConfigMapOf(records), 0).records, 10U);
}

TEST(PluginRecords, WhatIsNotUnderstoodIsNone) {
  for (const Json& map :
       {Json::object(), Json{{"data", 1}}, Json{{"data", {{"recent-reschedule-records", ""}}}},
        Json{{"data", {{"recent-reschedule-records", "{"}}}}, ConfigMapOf("x"),
        ConfigMapOf({1, Json::object(), "x"}), ConfigMapOf({{{"RescheduleTimeStamp", "x"}}}),
        ConfigMapOf({{{"RescheduleTimeStamp", kFirstRestart}, {"ReasonOfTask", 7}}})}) {
    EXPECT_EQ(Since(map, 0), PluginRestarts()) << map.dump();
  }
}

TEST(PluginDifference, IsWhereOneOfTheTwoAloneCallsAPodFaulty) {
  using Faulty = std::map<std::string, Time>;
  struct Case {
    const char* name;
    PluginRestarts plugin;
    Faulty ours;
    std::string text;
  };
  const Case cases[] = {
      {"they agree", {1, {"p0"}}, {{"p0", At(0)}}, ""},
      {"the plugin did nothing yet", {}, {{"p0", At(0)}}, ""},
      {"we know of no fault", {1, {"p0"}}, {}, ""},
      {"another pod",
       {1, {"p1"}},
       {{"p0", At(0)}},
       "it called p1 faulty, and mindgate did not; mindgate called p0 faulty, and it did not"},
      {"one more of the plugin's",
       {1, {"p0", "p1"}},
       {{"p0", At(0)}},
       "it called p1 faulty, and mindgate did not"},
      {"one more of ours",
       {1, {"p0"}},
       {{"p0", At(0)}, {"p1", At(1)}},
       "mindgate called p1 faulty, and it did not"},
      {"a later fault: the plugin skips a job that it restarts",
       {1, {"p0"}},
       {{"p0", At(0)}, {"p1", At(2)}},
       ""},
      {"a record that is full", {1, {"p0"}, false}, {{"p0", At(0)}, {"p1", At(0)}}, ""},
      {"many",
       {1, {"p0", "p1", "p2", "p3", "p4", "p5", "p6"}},
       {{"p0", At(0)}},
       "it called p1, p2, p3, p4, p5 and 1 more faulty, and mindgate did not"},
  };
  for (const Case& each : cases) {
    const auto difference = Compare(each.plugin, each.ours);
    EXPECT_EQ(difference ? DifferenceText(*difference) : "", each.text) << each.name;
  }
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
