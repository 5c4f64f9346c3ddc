#include "watcher/frame/leadership.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <stop_token>
#include <vector>

#include "kube/fake_transport.h"
#include "kube/lease_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
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

// A term that lapses in a renewal is over, and so is one of half a second: what was dropped for it
// comes again with the next, which is another one.
TEST(Leadership, EachTermIsAnotherOne) {
  using std::chrono::milliseconds;
  mindgate::testing::FakeClock clock;
  kube::testing::LeaseServer server;
  size_t calls = 0;
  kube::testing::FakeTransport transport{
      [&](const kube::HttpCall& call, const std::stop_token&) -> kube::Answer<kube::HttpAnswer> {
        if (++calls == 3) clock.Advance(milliseconds(39'600));  // the first renewal
        return server.Serve(call);
      }};
  size_t pauses = 0;
  std::promise<void> done;
  kube::testing::TimedPauser sleeper{[&](milliseconds) {
    // Up to the renewal, to the end of what it brought, and until all has been compared.
    ++pauses;
    if (pauses == 1) clock.Advance(milliseconds(10'500));
    if (pauses == 2) clock.Advance(milliseconds(400));
    if (pauses == 3) done.get_future().wait();
  }};
  kube::Client client{transport, sleeper, {.retries = 0}};
  log::Logger logger{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};
  Leadership leadership(client, sleeper, clock, logger,
                        {.ns = "ns", .lease = "watcher", .identity = "a"}, 1);
  Mutex mutex;
  std::vector<std::optional<Term>> changes;
  leadership.Start([&] {
    const MutexLock lock(mutex);
    changes.push_back(leadership.term());
  });
  EXPECT_TRUE(Eventually([&] {
    const MutexLock lock(mutex);
    return changes.size() == 5;
  }));
  {
    const MutexLock lock(mutex);
    std::vector<int64_t> since;  // -1: no term
    for (const auto& term : changes) {
      since.push_back(term ? (term->since() - Time(std::chrono::seconds(1767225600))).count() : -1);
    }
    EXPECT_EQ(since, (std::vector<int64_t>{0, -1, 50, -1, 51}));
    std::vector<bool> hold;
    for (const auto& term : changes) hold.push_back(term && term->holds());
    EXPECT_EQ(hold, (std::vector<bool>{false, false, false, false, true}));
  }
  done.set_value();
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
