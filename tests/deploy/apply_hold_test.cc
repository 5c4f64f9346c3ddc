#include <gmock/gmock.h>

#include "deploy/apply.h"
#include "deploy/cluster_fixture.h"
#include "kube/events.h"

namespace mindgate::deploy {
namespace {

using kube::testing::StatusAnswer;
using How = Hold::Taken::How;

struct HoldTest : ClusterTest {
  std::vector<std::string> waited_for;

  Hold HoldOf(const std::string& who) { return {client, sleeper, clock, "llm", "chat", who}; }
  Hold::Taken Take(Hold& hold, std::chrono::seconds limit = {}) {
    return hold.Take(limit, [this](const Hold::Taken& other) { waited_for.push_back(other.who); },
                     {});
  }
  Json Lease() { return server.Find(kube::resources::kLeases, "llm", "mindgate-deploy-chat"); }
};

TEST_F(HoldTest, OneAtATime) {
  Hold alice = HoldOf("alice@a/1");
  Hold bob = HoldOf("bob@b/2");
  EXPECT_EQ(Take(alice).how, How::kHeld);
  const auto refused = Take(bob);
  EXPECT_EQ(refused.how, How::kByAnother);
  EXPECT_EQ(refused.who, "alice@a/1");
  EXPECT_EQ(refused.since, FormatTime(clock.WallNow()));
  // What bob did not take he does not release.
  bob.Release();
  EXPECT_EQ(Lease()["spec"]["holderIdentity"], "alice@a/1");
  alice.Release();
  EXPECT_TRUE(Lease().is_null());
  EXPECT_EQ(Take(bob).how, How::kHeld);
}

TEST_F(HoldTest, WaitsForTheOtherOne) {
  Hold alice = HoldOf("alice");
  Hold bob = HoldOf("bob");
  Take(alice);
  int pauses = 0;
  sleeper.Then([&] {
    clock.Advance(kPollTime);
    EXPECT_EQ(alice.Keep(), "");
    if (++pauses == 40) alice.Release();
  });
  EXPECT_EQ(Take(bob, std::chrono::seconds(30)).how, How::kByAnother);
  EXPECT_EQ(pauses, 15);
  EXPECT_EQ(Take(bob, std::chrono::seconds(90)).how, How::kHeld);
  EXPECT_EQ(pauses, 40);
  EXPECT_THAT(waited_for, ::testing::ElementsAre("alice", "alice"));
}

// A run that was killed renews nothing.
TEST_F(HoldTest, IsBrokenAfterItsTime) {
  Hold bob = HoldOf("bob");
  Hold alice = HoldOf("alice");
  Take(alice);
  clock.Advance(Hold::kHoldTime);
  EXPECT_EQ(Take(bob).how, How::kByAnother);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Take(bob).how, How::kHeld);
  // It was only asleep, and must not write any more.
  EXPECT_THAT(alice.Keep(), ::testing::HasSubstr("somebody else took over the application"));
  EXPECT_THAT(alice.Keep(), ::testing::HasSubstr("somebody else took over the application"));
  alice.Release();
  EXPECT_EQ(Lease()["spec"]["holderIdentity"], "bob");
}

TEST_F(HoldTest, RenewsOnlyWhatIsDue) {
  Hold alice = HoldOf("alice");
  Take(alice);
  server.ForgetRequests();
  for (int i = 0; i < 30; ++i) {
    clock.Advance(std::chrono::seconds(1));
    EXPECT_EQ(alice.Keep(), "");
  }
  EXPECT_EQ(server.Count({.method = "PUT", .target_part = "/leases/"}), 3u);
  // An API server that is away takes nothing from us before the time is over.
  server.AnswerNext(100, {.method = "PUT"}, StatusAnswer(503, "ServiceUnavailable", "starting"));
  clock.Advance(std::chrono::seconds(59));
  EXPECT_EQ(alice.Keep(), "");
  clock.Advance(std::chrono::seconds(1));
  EXPECT_THAT(alice.Keep(), ::testing::HasSubstr("could not be renewed"));
}

// It was renewed, and the answer was lost: what is there is ours all the same.
TEST_F(HoldTest, AnAnswerThatIsLostTakesNothingFromUs) {
  Hold alice = HoldOf("alice");
  Take(alice);
  for (const bool is_late : {false, true}) {
    if (is_late) {
      server.AnswerLate(1, {.method = "PUT"}, kube::testing::HtmlAnswer(504));
    } else {
      server.LoseAnswers(1, {.method = "PUT"});
    }
    clock.Advance(Hold::kRenewTime);
    EXPECT_EQ(alice.Keep(), "");
    clock.Advance(Hold::kRenewTime);
    EXPECT_EQ(alice.Keep(), "");
    EXPECT_EQ(Lease()["spec"]["renewTime"], kube::FormatMicroTime(clock.WallNow()));
  }
  // And it is released.
  server.LoseAnswers(1, {.method = "PUT"});
  clock.Advance(Hold::kRenewTime);
  EXPECT_EQ(alice.Keep(), "");
  alice.Release();
  EXPECT_TRUE(Lease().is_null());
}

// While nobody answers what became of it, nothing is lost before its time.
TEST_F(HoldTest, WhatCannotBeReadIsNotLost) {
  Hold alice = HoldOf("alice");
  Take(alice);
  server.LoseAnswers(1, {.method = "PUT"});
  clock.Advance(Hold::kRenewTime);
  EXPECT_EQ(alice.Keep(), "");
  server.AnswerNext(1, {.method = "GET"}, StatusAnswer(503, "ServiceUnavailable", "starting"));
  EXPECT_EQ(alice.Keep(), "");
  EXPECT_EQ(alice.Keep(), "");
  EXPECT_EQ(Lease()["spec"]["renewTime"], kube::FormatMicroTime(clock.WallNow()));
}

// Another Lease of the same holder is another one's all the same: that run was here between ours.
TEST_F(HoldTest, ALeaseThatWasTakenAgainIsNotTheOneThatWeTook) {
  Hold alice = HoldOf("alice");
  Take(alice);
  Json another = Lease();
  another["spec"]["acquireTime"] = "2020-01-01T00:00:00.000000Z";
  server.Put(kube::resources::kLeases, another);
  clock.Advance(Hold::kRenewTime);
  EXPECT_THAT(alice.Keep(), ::testing::HasSubstr("somebody else took over the application"));
}

TEST_F(HoldTest, ALeaseThatWasTakenWithoutAnAnswerIsHeld) {
  const auto late = kube::testing::HtmlAnswer(504);
  // Made, and taken over from a run that was killed.
  for (const bool is_there : {false, true}) {
    for (const bool is_late : {false, true}) {
      Hold bob = HoldOf("bob");
      if (is_there) Take(bob);
      clock.Advance(Hold::kHoldTime + std::chrono::seconds(1));
      const kube::testing::When write{.method = is_there ? "PUT" : "POST"};
      if (is_late) server.AnswerLate(1, write, late);
      if (!is_late) server.LoseAnswers(1, write);
      Hold alice = HoldOf("alice");
      EXPECT_EQ(Take(alice).how, How::kHeld) << is_there << is_late;
      EXPECT_EQ(Lease()["spec"]["holderIdentity"], "alice");
      alice.Release();
      EXPECT_TRUE(Lease().is_null());
    }
  }
  server.AnswerNext(1, {.method = "POST"}, late);
  Hold alice = HoldOf("alice");
  EXPECT_EQ(Take(alice).how, How::kFailed);
}

TEST_F(HoldTest, WithoutTheRightNothingIsProtected) {
  server.Forbid("create", "leases");
  Hold alice = HoldOf("alice");
  const auto taken = Take(alice);
  EXPECT_EQ(taken.how, How::kUnprotected);
  EXPECT_THAT(taken.why, ::testing::HasSubstr("cannot create resource \"leases\""));
  EXPECT_EQ(alice.Keep(), "");
}

// A deployment that lost its hold in a pause writes nothing more, and undoes nothing: whoever took
// over counts on what is there.
TEST_F(HoldTest, ADeploymentThatLostItEnds) {
  Hold alice = HoldOf("alice");
  Hold bob = HoldOf("bob");
  Take(alice);
  sleeper.Then([&] {
    clock.Advance(Hold::kHoldTime + std::chrono::seconds(1));
    EXPECT_EQ(Take(bob).how, How::kHeld);
  });
  const ApplyResult result = Deploy(kOmeConfig, {.atomic = true, .hold = &alice});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, ::testing::HasSubstr("somebody else took over the application"));
  EXPECT_FALSE(result.rolled_back);
  EXPECT_THAT(result.not_undone,
              ::testing::ElementsAre("Deployment chat-mf-store", "Service chat-mf-store"));
  EXPECT_THAT(result.left, ::testing::ElementsAre("InferenceService chat"));
  EXPECT_FALSE(server.Find(kube::resources::kDeployments, "llm", "chat-mf-store").is_null());
  sleeper.Then(nullptr);
}

// Before its first write there is nothing to undo.
TEST_F(HoldTest, ADeploymentThatLostItBeforeItsFirstWriteLeavesAllAsItWas) {
  Hold alice = HoldOf("alice");
  Hold bob = HoldOf("bob");
  Take(alice);
  clock.Advance(Hold::kHoldTime + std::chrono::seconds(1));
  EXPECT_EQ(Take(bob).how, How::kHeld);
  const ApplyResult result = Deploy(kOmeConfig, {.atomic = true, .hold = &alice});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.written, 0u);
  EXPECT_TRUE(result.rolled_back);
  EXPECT_THAT(result.not_undone, ::testing::IsEmpty());
}

}  // namespace
}  // namespace mindgate::deploy
