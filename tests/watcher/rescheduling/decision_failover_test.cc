#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "json/decode.h"
#include "watcher/rescheduling_world.h"

// What one leader writes down, and what the next one finishes.
namespace mindgate::watcher::rescheduling {
namespace {

constexpr Time kLater = kStart + std::chrono::hours(1);

// --- what is kept --------------------------------------------------------------------------------

TEST(JobStates, AreReadAsTheyWereWritten) {
  JobState state{.uid = "g",
                 .retries_used = 2,
                 .retried_for = "u1",
                 .futile_restarts = 1,
                 .restarted = kStart,
                 .youngest = kStart - seconds(1),
                 .restart = Restart{.since = kStart,
                                    .reason = FaultType::kCardUnhealthy,
                                    .by_force = true,
                                    .escalation = Escalation::kSuperPods,
                                    .racks = {7},
                                    .super_pods = {0, 3},
                                    .finished = kStart + seconds(5),
                                    .chosen = {.all = Escalation::kSuperPods, .pods = {"u2"}},
                                    .inherited = true},
                 .seen = {.faulty = {{"u4", kStart + seconds(9)}}}};
  const JobStates states = {{{"ns", "group"}, state}};
  const json::Json text = Encode(states, 10);
  EXPECT_EQ(
      text.dump(),
      R"({"jobs":[{"inVain":1,"namespace":"ns","podGroup":"group",)"
      R"("restart":{"all":"superPods","finished":"2026-01-01T00:00:05Z","force":true,)"
      R"("pods":["u2"],"racks":[7],"reason":"CardUnhealthy","scope":"superPods",)"
      R"("since":"2026-01-01T00:00:00Z","superPods":[0,3]},)"
      R"("restarted":"2026-01-01T00:00:00Z","retriedFor":"u1","retriesUsed":2,)"
      R"("seen":{"u4":"2026-01-01T00:00:09Z"},"uid":"g","youngest":"2025-12-31T23:59:59Z"}]})");
  EXPECT_EQ(Decode(json::Document::Decode(text.dump())->root(), kLater), states);
}

TEST(JobStates, WhatAPersonBrokeIsLeftOut) {
  for (const char* text :
       {"{}", "[]", R"({"jobs": 1})", R"({"jobs": [1, {}, {"namespace": "ns"}]})",
        R"({"jobs": [{"namespace": "ns", "podGroup": "g", "uid": ""}]})"}) {
    EXPECT_EQ(Decode(json::Document::Decode(text)->root(), kLater), JobStates()) << text;
  }
  const auto odd = json::Document::Decode(
      R"({"jobs": [{"namespace": "ns", "podGroup": "g", "uid": "u", "retriesUsed": -3,)"
      R"( "restart": {"since": "yesterday"}}]})");
  EXPECT_EQ(Decode(odd->root(), kLater), (JobStates{{{"ns", "g"}, {.uid = "u"}}}));
}

// Half a character could not be written again, and the watcher would end at every start.
TEST(JobStates, WhatIsNotAUidIsCutBetweenCharacters) {
  const auto odd = json::Document::Decode(
      R"({"jobs": [{"namespace": "ns", "podGroup": "g", "uid": "u", "retriedFor": "123456789012é",)"
      R"( "seen": {"1é3é5é7é9é": "2026-01-01T00:00:00Z"}}]})");
  const JobStates want = {
      {{"ns", "g"},
       {.uid = "u", .retried_for = "123456789012", .seen = {.faulty = {{"1é3é5é7é9", kStart}}}}}};
  EXPECT_EQ(Decode(odd->root(), kLater), want);
  EXPECT_EQ(Decode(json::Document::Decode(Encode(want, 1).dump())->root(), kLater), want);
}

// Bounded, and what was restarted last stays.
TEST(JobStates, TheOldestGoWhenThereAreTooMany) {
  JobStates states;
  for (int i = 0; i < 5; ++i) {
    states[{"ns", "g" + std::to_string(i)}] = {.uid = "u", .restarted = kStart + seconds(i % 3)};
  }
  const JobStates kept = Decode(json::Document::Decode(Encode(states, 3).dump())->root(), kLater);
  EXPECT_EQ(kept.size(), 3U);
  EXPECT_TRUE(kept.contains({"ns", "g2"}));
  EXPECT_TRUE(kept.contains({"ns", "g1"}));
  EXPECT_TRUE(kept.contains({"ns", "g4"}));
}

// However many pods go: one ConfigMap of 1 MiB holds all jobs of a cluster.
TEST(JobStates, ARecordStaysSmall) {
  const std::string uid = "3f0c1a2b-1234-4abc-8def-0123456789ab";
  JobState state{.uid = uid,
                 .retries_used = 100,
                 .retried_for = ShortUid(uid),
                 .futile_restarts = 100,
                 .restarted = kStart,
                 .youngest = kStart - seconds(1),
                 .restart = Restart{.since = kStart,
                                    .reason = FaultType::kSubHealthFault,
                                    .by_force = true,
                                    .escalation = Escalation::kSuperPods,
                                    .finished = kStart,
                                    .chosen = {.all = Escalation::kSuperPods}}};
  for (int i = 0; i < 1000; ++i) {
    const std::string pod = std::to_string(1000 + i) + uid.substr(4);
    state.restart->targets[pod] = {.since = kStart};
    state.restart->chosen.pods.insert(ShortUid(pod));
    state.restart->super_pods.insert(i);
    state.seen.faulty[ShortUid(pod)] = kStart - seconds(i);
  }
  const JobStates states = {
      {{"team-of-people", "podgroup-6c8f5a0e-5d1e-4a51-9c38-d4a9f1b0e7aa"}, state}};
  const std::string text = Encode(states, 10).dump();
  EXPECT_LE(text.size(), 640U) << text;
  const JobStates read = Decode(json::Document::Decode(text)->root(), kLater);
  ASSERT_EQ(read.size(), 1U);
  const JobState& kept = read.begin()->second;
  EXPECT_EQ(kept.restart->chosen.pods.size(), 6U);
  EXPECT_EQ(kept.restart->super_pods, (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(kept.seen.faulty,
            (std::map<std::string, Time>{{"1999" + uid.substr(4, 9), kStart - seconds(999)}}));
}

// --- what is finished ----------------------------------------------------------------------------

// Pods are being deleted, and hang; the chip recovers, and the leader dies.
struct Hanging : World {
  using World::World;

  void Hang(const std::vector<int>& pods) {
    for (const int i : pods) task(i).deletion_time = now + seconds(30);
  }
  void FailOver() {
    Repair();
    now += seconds(60);
    Restart();
  }
};

TEST(DecideFailover, PodsThatHangAreForcedByTheNextLeader) {
  Hanging world(kGrace);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "evict p0 p2 p3 p1");
  world.Hang({0, 1, 2, 3});
  world.FailOver();
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.why, "its pods are going");
  EXPECT_EQ(world.requeue, seconds(841));
  EXPECT_EQ(world.LookAfter(seconds(841)), "delete p0 p1 p2 p3");
}

TEST(DecideFailover, SoAreSinglePods) {
  Hanging world(kGrace, {}, {{"pod-rescheduling", "on"}});
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "evict p1");
  world.Hang({1, 2});  // p2 by somebody else
  world.FailOver();
  EXPECT_EQ(world.LookAfter(seconds(841)), "delete p1");
}

TEST(DecideFailover, AndThoseThatAnotherFaultAdded) {
  Hanging world(kGrace, {}, {{"ome.io/inferenceservice", "chat"}});
  world.BreakChip(1);
  world.Reconcile();
  world.Hang({1});
  world.now += seconds(60);
  world.BreakChip(2);
  EXPECT_EQ(world.Reconcile(), "evict p2");
  world.Hang({2});
  world.FailOver();
  // The next leader knows one time only: that of the last.
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.requeue, seconds(841));
  EXPECT_EQ(world.LookAfter(seconds(841)), "delete p1 p2");
}

TEST(DecideFailover, ByForceIsByForceAgain) {
  Hanging world(kForce);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "delete p0 p2 p3 p1");
  world.Hang({0, 1, 2, 3});
  world.FailOver();
  EXPECT_EQ(world.Reconcile(), "delete p0 p1 p2 p3");
}

// The one before did not come to them, and their reason is gone.
TEST(DecideFailover, WhatIsHealthyAndStandsIsLeftAlone) {
  Hanging world(kGrace);
  world.BreakChip(1);
  world.Reconcile();
  world.Hang({0});
  world.FailOver();
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.LookAfter(seconds(900)), "delete p0");
  world.Put(0);
  EXPECT_EQ(world.Reconcile(), "nothing");
  EXPECT_EQ(world.why, "it has all the pods that it needs");
}

// What came after the restart began was not chosen, whoever deletes it.
TEST(DecideFailover, ReplacementsAreNotForced) {
  Hanging world(kGrace);
  world.BreakChip(1);
  world.Reconcile();
  world.Hang({0, 2, 3});
  world.now += seconds(10);
  world.Put(1);
  world.Hang({1});
  world.FailOver();
  EXPECT_EQ(world.LookAfter(seconds(900)), "delete p0 p2 p3");
}

TEST(DecideFailover, ALogicalSuperPodIsFinished) {
  Hanging world(kGrace, {}, {{"pod-rescheduling", "on"}});
  for (int i = 0; i < 4; ++i) world.task(i).super_pod = i / 2;
  world.BreakChip(3);
  EXPECT_EQ(world.Reconcile(), "evict p3");
  world.Repair();
  world.Put(3);
  world.task(3).node.clear();
  world.Reconcile();
  EXPECT_EQ(world.LookAfter(seconds(6)), "evict p2");
  world.Hang({1, 2});  // p1 by somebody else
  world.FailOver();
  EXPECT_EQ(world.LookAfter(seconds(900)), "delete p2");
}

// Takeover: the others' time does not begin anew.
TEST(DecideFailover, SinceWhenAFaultIsKnownIsKnown) {
  World world(kPods);
  world.options.takeover_after = seconds(30);
  world.BreakChip(1);
  EXPECT_EQ(world.Reconcile(), "waits");
  world.now += seconds(20);
  world.Restart();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.requeue, seconds(10));
  EXPECT_EQ(world.LookAfter(seconds(10)), "delete p1");
}

TEST(DecideFailover, OfJobsThatAreLeftAloneNothingIsKept) {
  for (const char* value : {"off", "Force"}) {
    World world(Map{{"fault-scheduling", value}});
    world.BreakChip(1);
    world.Reconcile();
    EXPECT_TRUE(world.state.IsEmpty()) << value;
  }
}

// Which pods the one before chose is known by the API server's times alone.
TEST(DecideFailover, PodsThatHangAreForcedWhateverTheClockOfTheOneBefore) {
  for (const int ahead : {-3, 3}) {
    Hanging world(kGrace);
    world.now = kStart + std::chrono::hours(ahead);
    world.BreakChip(1);
    EXPECT_EQ(world.Reconcile(), "evict p0 p2 p3 p1");
    world.Hang({0, 2, 3});
    world.Put(1);
    world.task(1).created = kStart + seconds(5);
    world.Hang({1});  // a replacement, by somebody else
    world.now = kStart + seconds(20);
    world.Repair();
    world.Restart();
    world.Reconcile();
    EXPECT_EQ(world.LookAfter(seconds(901)), "delete p0 p2 p3") << ahead;
  }
}

TEST(JobStates, ATimeThatIsYetToComeIsNow) {
  const JobState written{
      .uid = "g",
      .restarted = kLater + seconds(1),
      .youngest = kLater + seconds(2),
      .restart =
          Restart{.since = kLater + seconds(3), .finished = kLater + seconds(4), .inherited = true},
      .seen = {.faulty = {{"u", kLater + seconds(5)}}}};
  JobState want = written;
  want.restarted = kLater;
  want.restart->since = kLater;
  want.restart->finished = kLater;
  want.seen.faulty["u"] = kLater;
  const std::string text = Encode({{{"ns", "g"}, written}}, 1).dump();
  EXPECT_EQ(Decode(json::Document::Decode(text)->root(), kLater), (JobStates{{{"ns", "g"}, want}}));
  EXPECT_EQ(Decode(json::Document::Decode(text)->root(), kLater + seconds(9)),
            (JobStates{{{"ns", "g"}, written}}));
}

// A clock that is ahead, or a person who wrote it, must not stop a job for years.
TEST(DecideFailover, ATimeThatIsYetToComeIsNow) {
  World world(kPods);
  world.BreakChip(1);
  world.Reconcile();
  world.Repair();
  world.Put(1);
  world.task(1).node.clear();
  world.Reconcile();
  world.state.restart->finished = kStart + std::chrono::years(3);
  world.Restart();
  EXPECT_EQ(world.Reconcile(), "waits");
  EXPECT_EQ(world.LookAfter(seconds(12)), "delete p0 p1 p2 p3");
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
