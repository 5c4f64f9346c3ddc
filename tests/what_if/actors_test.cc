// Who acts on a fault, and when: MindCluster's plugin, unless it remembers the job, or mindgate.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "json/decode.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {
namespace {

using schemas::ReschedulingMode;
using std::chrono::seconds;
using watcher::rescheduling::FaultPolicy;
using watcher::rescheduling::FaultType;
using watcher::rescheduling::Response;

const Time kNow = *ParseTime("2026-03-02T12:00:00Z");

struct FaultOfJob {
  watcher::rescheduling::Step step = watcher::rescheduling::Step::kDelete;
  FaultType reason = FaultType::kCardUnhealthy;
  std::optional<int64_t> restarted_ago{};
  bool incomplete = true;
  ReschedulingMode mode = ReschedulingMode::kObserve;
  bool too_many_faults = false;
  bool pod_rescheduling = false;
};

// "plugin 1140: why"
std::string DueText(const FaultOfJob& asked) {
  PluginMemory memory{.incomplete = asked.incomplete};
  if (asked.restarted_ago) memory.restarted = {kNow - seconds(*asked.restarted_ago), {}};
  FaultPolicy policy;
  policy.pod_rescheduling = asked.pod_rescheduling;
  Response response;
  response.step = asked.step;
  response.reason = asked.reason;
  const Due due =
      DueOf(response, policy, memory, {.rescheduling = asked.mode}, asked.too_many_faults, kNow);
  return std::string(ActorName(due.by)) + " " + std::to_string(due.within.count()) +
         (due.why.empty() ? "" : ": " + due.why);
}

constexpr const char* kSince =
    "MindCluster's plugin has been restarting the job since 2026-03-02T11:59:00Z and examines it "
    "again ";

TEST(Actors, ThePluginExaminesNoJobAgainThatItIsRestarting) {
  using Step = watcher::rescheduling::Step;
  const std::string then = kSince + std::string("then");
  const std::string in_19m = kSince + std::string("in 19m at the latest");
  const struct {
    const char* name;
    FaultOfJob asked;
    std::string want;
  } cases[] = {
      {"it restarted nothing", {}, "plugin 0"},
      {"whatever the watcher does", {.mode = ReschedulingMode::kEnforce}, "plugin 0"},
      {"the job has its pods again", {.restarted_ago = 60, .incomplete = false}, "plugin 0"},
      {"300 s and graceOverTime have passed", {.restarted_ago = 1200}, "plugin 0"},
      {"a second fault", {.restarted_ago = 60}, "plugin 1140: " + then},
      {"a watcher that is off",
       {.restarted_ago = 60, .mode = ReschedulingMode::kOff},
       "plugin 1140: " + then},
      {"one that takes over",
       {.restarted_ago = 60, .mode = ReschedulingMode::kTakeover},
       "watcher 30: " + in_19m},
      {"one that enforces",
       {.restarted_ago = 60, .mode = ReschedulingMode::kEnforce},
       "watcher 2: " + in_19m},
      {"too many nodes are faulty",
       {.restarted_ago = 60, .mode = ReschedulingMode::kEnforce, .too_many_faults = true},
       "plugin 1140: " + then},
      {"a pod that fails",
       {.reason = FaultType::kPodFailed, .restarted_ago = 60},
       "plugin 1140: " + then},
      {"a pod that fails, with pod-rescheduling",
       {.reason = FaultType::kPodFailed, .restarted_ago = 60, .pod_rescheduling = true},
       "plugin 0"},
      {"its clock is ahead",
       {.restarted_ago = -100},
       "plugin 1200: MindCluster's plugin has been "
       "restarting the job since "
       "2026-03-02T12:01:40Z and examines it again "
       "then"},
      {"nothing follows", {.step = Step::kNothing, .restarted_ago = 60}, "nobody 0"},
      {"the plugin cannot", {.step = Step::kFails, .restarted_ago = 60}, "nobody 0"},
  };
  for (const auto& each : cases) EXPECT_EQ(DueText(each.asked), each.want) << each.name;
}

TEST(Actors, ThePluginReturnsBeforeTheWatcherWouldTakeOver) {
  EXPECT_EQ(DueText({.restarted_ago = 1180, .mode = ReschedulingMode::kTakeover}),
            "plugin 20: MindCluster's plugin has been restarting the job since "
            "2026-03-02T11:40:20Z and examines it again then");
}

TEST(Actors, ActWhen) {
  EXPECT_EQ(WhenText({}), "at once");
  EXPECT_EQ(WhenText({.within = seconds(1140)}), "in 19m at the latest");
}

// A mindgate.yaml, and what forecasts keep of it.
TEST(WatcherSettingsTest, AreThoseOfTheConfiguration) {
  using schemas::EnforcementMode;
  schemas::Config config;
  schemas::Rescheduling& rescheduling = config.rescheduling;
  rescheduling.mode = ReschedulingMode::kTakeover;
  rescheduling.takeover_after = seconds(15);
  rescheduling.settle = seconds(3);
  rescheduling.max_faulty_nodes = 7;
  schemas::ElasticScaling& scaling = config.elastic_scaling;
  scaling.rebalance_after = seconds(10);
  config.grace_over_time = seconds(600);
  const struct {
    EnforcementMode mode;
    EnforcementMode rebalance;
    bool want;
  } cases[] = {{EnforcementMode::kEnforce, EnforcementMode::kEnforce, true},
               {EnforcementMode::kEnforce, EnforcementMode::kObserve, false},
               {EnforcementMode::kObserve, EnforcementMode::kEnforce, false}};
  for (const auto& each : cases) {
    scaling.mode = each.mode;
    scaling.rebalance = each.rebalance;
    const WatcherSettings want{.rescheduling = ReschedulingMode::kTakeover,
                               .takeover_after = seconds(15),
                               .settle = seconds(3),
                               .max_faulty_nodes = 7,
                               .rebalances = each.want,
                               .rebalance_after = seconds(10),
                               .grace_over_time = seconds(600)};
    const WatcherSettings settings = SettingsOf(config);
    EXPECT_EQ(settings, want);
    std::vector<std::string> wrong;
    const json::Document written(SettingsJson(settings));
    EXPECT_EQ(ReadSettings(written.root(), wrong), want) << "as a snapshot has them";
    EXPECT_EQ(wrong, std::vector<std::string>());
  }
}

TEST(WatcherSettingsTest, NameWhatIsWrong) {
  std::vector<std::string> wrong;
  const json::Document none(json::Json::object());
  EXPECT_EQ(ReadSettings(none.root(), wrong), WatcherSettings());
  EXPECT_EQ(wrong, std::vector<std::string>());
  const json::Document bad(json::Json{{"rescheduling", "sometimes"},
                                      {"takeoverAfter", "30s"},
                                      {"settle", -1},
                                      {"maxFaultyNodes", 0},
                                      {"rebalances", 1},
                                      {"rebalanceAfter", 400'000'000},
                                      {"graceOverTime", "15m"}});
  EXPECT_EQ(ReadSettings(bad.root(), wrong), WatcherSettings());
  EXPECT_EQ(wrong,
            (std::vector<std::string>{"rescheduling", "takeoverAfter", "settle", "maxFaultyNodes",
                                      "rebalances", "rebalanceAfter", "graceOverTime"}));
}

}  // namespace
}  // namespace mindgate::what_if
