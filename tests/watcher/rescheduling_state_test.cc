#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_direct.h"

// What the next leader is told, in a ConfigMap that has a limit.
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
