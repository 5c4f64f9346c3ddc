#include "watcher/frame/leadership.h"

#include <gtest/gtest.h>

#include <atomic>

#include "support/eventually.h"
#include "watcher/frame_fixture.h"

namespace mindgate::watcher {
namespace {

using mindgate::testing::Eventually;
namespace resources = kube::resources;

TEST_F(FrameTest, ATermBeginsWithTheLeaseAndEndsOnce) {
  Leadership leadership(client, sleeper, clock, logger,
                        {.ns = "ops", .lease = "watcher", .identity = "a"}, 1);
  EXPECT_FALSE(leadership.term());
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "ops"}}}});
  std::atomic<int> changes = 0;
  leadership.Start([&] { ++changes; });
  ASSERT_TRUE(Eventually([&] { return leadership.leading() && changes == 1; }));
  const auto term = leadership.term();
  ASSERT_TRUE(term);
  EXPECT_TRUE(term->holds());
  leadership.Resign();
  EXPECT_FALSE(term->holds());
  EXPECT_TRUE(term->ended().stop_requested());
  EXPECT_FALSE(leadership.term()) << "for good";
}

// What it calls may be destroyed once Resign has returned, and the Lease is released all the same.
TEST_F(FrameTest, NobodyIsCalledAfterResigning) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "ops"}}}});
  for (int round = 0; round < 20; ++round) {
    Leadership leadership(client, sleeper, clock, logger,
                          {.ns = "ops", .lease = "watcher", .identity = "a"}, 1);
    auto called = std::make_unique<std::atomic<int>>(0);
    leadership.Start([&called] { ++*called; });
    if (round % 2 == 0) {
      ASSERT_TRUE(Eventually([&] { return leadership.leading(); }));
    }
    leadership.Resign();
    called.reset();
  }
  EXPECT_EQ(server.Find(resources::kLeases, "ops", "watcher")["spec"]["holderIdentity"], "");
}

TEST_F(FrameTest, ATermIsOverWhenTheRenewalIsOverdue) {
  Leadership leadership(client, sleeper, clock, logger,
                        {.ns = "ops", .lease = "watcher", .identity = "a"}, 1);
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "ops"}}}});
  leadership.Start([] {});
  ASSERT_TRUE(Eventually([&] { return leadership.leading(); }));
  const auto term = leadership.term();
  clock.Advance(std::chrono::seconds(41));
  EXPECT_FALSE(term->holds()) << "whoever has noticed";
}

TEST_F(FrameTest, WithoutElectionAReplicaLeadsUntilItStops) {
  Leadership leadership(client, sleeper, clock, logger, {.elect = false}, 1);
  leadership.Start([] {});
  ASSERT_TRUE(leadership.term());
  EXPECT_TRUE(leadership.term()->holds());
  leadership.Resign();
  EXPECT_FALSE(leadership.leading());
  EXPECT_EQ(server.Count(), 0U);
}

}  // namespace
}  // namespace mindgate::watcher
