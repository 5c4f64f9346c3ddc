#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_direct.h"

// What the next leader gets, in a ConfigMap that has a limit.
namespace mindgate::watcher::rescheduling {
namespace {

namespace resources = kube::resources;

struct Storing {
  Storing()
      : transport(
            kube::MakeTransport(kube::testing::AccessTo(cluster.server.url()), "mindgate/test")),
        writer(*transport, sleeper, LeaderClient::kOptions) {}

  LeaderClient Leader(int term) {
    return {writer, Term(Time(std::chrono::seconds(term)), [] { return true; }, {})};
  }
  static JobState Restarted(int at) {
    JobState state{.uid = std::string(36, 'u')};
    state.restarted = Time(std::chrono::seconds(1767225600 + at));
    state.restart = Restart{.since = *state.restarted, .reason = FaultType::kCardUnhealthy};
    return state;
  }
  size_t Writes() const {
    return cluster.server.Count({.method = "PATCH", .target_part = "mindgate-rescheduling"});
  }

  Cluster cluster;
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client writer;
};

TEST(ReschedulingState, OnlyWhatTheNextLeaderMissesIsWritten) {
  Storing storing;
  StateStore store("mindgate-system", "mindgate-rescheduling");
  LeaderClient leader = storing.Leader(1);
  ASSERT_TRUE(store.Load(leader, Time::max()));
  ASSERT_TRUE(store.Save(leader, {kNs, "healthy"}, JobState{.uid = "u"}));
  EXPECT_EQ(storing.Writes(), 0U);
  ASSERT_TRUE(store.Save(leader, {kNs, "train"}, Storing::Restarted(0)));
  EXPECT_EQ(storing.Writes(), 1U);
  JobState going = Storing::Restarted(0);
  going.restart->targets["pod"] = {};
  ASSERT_TRUE(store.Save(leader, {kNs, "train"}, going));
  ASSERT_TRUE(store.Save(leader, {kNs, "healthy"}, JobState{.uid = "u"}));
  EXPECT_EQ(storing.Writes(), 1U);
}

// 1 MiB is what a ConfigMap may have, whatever the names are: beyond it nothing could be written,
// and so nothing be done.
TEST(ReschedulingState, JobsThatWereRestartedLongestAgoGoWhenItIsFull) {
  Storing storing;
  StateStore store("mindgate-system", "mindgate-rescheduling");
  LeaderClient leader = storing.Leader(1);
  ASSERT_TRUE(store.Load(leader, Time::max()));
  const auto key = [](int i) {
    return JobKey{std::string(63, 'n'), std::string(240, 'p') + std::to_string(100000 + i)};
  };
  for (int i = 0; i < 3000; ++i) store.Set(key(i), Storing::Restarted(i));
  ASSERT_TRUE(store.Save(leader, key(3000), Storing::Restarted(3000)));
  const Json kept = storing.cluster.Kept();
  EXPECT_LE(kept.dump().size(), StateStore::kMaxBytes);
  EXPECT_GE(kept.dump().size(), StateStore::kMaxBytes - 2000);
  EXPECT_EQ(kept["jobs"].back()["podGroup"], key(3000).pod_group);
  EXPECT_NE(kept["jobs"].front()["podGroup"], key(0).pod_group);
}

TEST(ReschedulingState, AJobOfManySuperPodsIsKeptWithoutThem) {
  Storing storing;
  StateStore store("mindgate-system", "mindgate-rescheduling");
  LeaderClient leader = storing.Leader(1);
  ASSERT_TRUE(store.Load(leader, Time::max()));
  JobState large = Storing::Restarted(0);
  for (int i = 0; i < 100'000; ++i) large.restart->super_pods.insert(i);
  ASSERT_TRUE(store.Save(leader, {kNs, "large"}, large));
  EXPECT_LE(storing.cluster.Kept().dump().size(), StateStore::kMaxJobBytes);
  EXPECT_EQ(storing.cluster.Kept()["jobs"].size(), 1U);
}

// Of each restart, also when a job has several, or is gone.
TEST(ReschedulingState, WhatTheBudgetCountedOutlivesTheJobs) {
  Storing storing;
  StateStore first("mindgate-system", "mindgate-rescheduling");
  LeaderClient leader = storing.Leader(1);
  const Time begin{std::chrono::seconds(1767225600)};
  const auto at = [&](int after) { return begin + std::chrono::seconds(after); };
  ASSERT_TRUE(first.Load(leader, Time::max()));
  for (const int when : {0, 50, 70}) {
    ASSERT_TRUE(first.Save(leader, {kNs, "train"}, Storing::Restarted(when), at(when)));
  }
  ASSERT_TRUE(first.Save(leader, {"other", "gone"}, Storing::Restarted(80), at(80)));
  ASSERT_TRUE(first.Save(leader, {kNs, "refused"}, Storing::Restarted(85), at(85)));
  first.TakeBack({kNs, "refused"}, {}, true);
  first.Keep([](const JobKey& job) { return job.pod_group == "train"; });
  ASSERT_TRUE(first.Save(leader, {kNs, "train"}, Storing::Restarted(70)));
  EXPECT_EQ(storing.cluster.Kept()["spent"], Json::parse(R"({"other": ["2026-01-01T00:01:20Z"],
                            "serving": ["2026-01-01T00:00:50Z", "2026-01-01T00:01:10Z"]})"));
  // The clock of the next leader is an hour behind.
  StateStore second("mindgate-system", "mindgate-rescheduling");
  LeaderClient next = storing.Leader(2);
  ASSERT_TRUE(second.Load(next, at(-3600)));
  EXPECT_EQ(second.spent().times(), (std::map<std::string, std::vector<Time>>{
                                        {kNs, {at(-3630), at(-3610)}}, {"other", {at(-3600)}}}));
}

TEST(ReschedulingState, WhatAPersonWroteIntoTheBudgetIsLeftOut) {
  for (const char* text : {"[]", "1", R"({"ns": 1})", R"({"ns": [1, "yesterday", {}]})"}) {
    const auto document = json::Document::Decode(text);
    EXPECT_TRUE(SpentBudget::Decode(&document->root(), Time{}).empty()) << text;
  }
  EXPECT_TRUE(SpentBudget::Decode(nullptr, Time{}).empty());
  Json many = Json::array();
  for (size_t i = 0; i < 2 * SpentBudget::kMost; ++i) many.push_back("2026-01-01T00:00:00Z");
  const json::Document document(Json({{"ns", many}}));
  EXPECT_EQ(SpentBudget::Decode(&document.root(), Time{}).times().at("ns").size(),
            SpentBudget::kMost);
}

// Of jobs that were deleted while nobody led nothing stays.
TEST(ReschedulingState, WhatWentBetweenTwoLeadersIsForgotten) {
  Storing storing;
  StateStore first("mindgate-system", "mindgate-rescheduling");
  LeaderClient leader = storing.Leader(1);
  ASSERT_TRUE(first.Load(leader, Time::max()));
  for (const char* name : {"gone", "there"}) {
    ASSERT_TRUE(first.Save(leader, {kNs, name}, Storing::Restarted(0)));
  }
  StateStore second("mindgate-system", "mindgate-rescheduling");
  LeaderClient next = storing.Leader(2);
  ASSERT_TRUE(
      second.Load(next, Time::max(), [](const JobKey& job) { return job.pod_group == "there"; }));
  EXPECT_TRUE(second.Get({kNs, "gone"}).IsEmpty());
  EXPECT_FALSE(second.Get({kNs, "there"}).IsEmpty());
  ASSERT_TRUE(second.Save(next, {kNs, "there"}, Storing::Restarted(1)));
  ASSERT_EQ(storing.cluster.Kept()["jobs"].size(), 1U);
  EXPECT_EQ(storing.cluster.Kept()["jobs"][0]["podGroup"], "there");
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
