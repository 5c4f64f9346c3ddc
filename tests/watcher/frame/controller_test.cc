#include "watcher/frame/controller.h"

#include <gtest/gtest.h>

#include <chrono>
#include <compare>
#include <optional>
#include <string>

#include "support/fake_clock.h"

namespace mindgate::watcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

kube::Fault Busy(std::optional<seconds> retry_after) {
  kube::Fault fault;
  fault.reason = kube::Reason::kTooManyRequests;
  fault.retry_after = retry_after;
  return fault;
}

TEST(ReconcileResult, KeepsTheLongestTimeThatTheServerAskedFor) {
  ReconcileResult result;
  EXPECT_FALSE(result.failed);
  result.Fail(Busy({}));
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.retry_after, std::nullopt);
  for (const int asked : {3, 9, 1}) result.Fail(Busy(seconds(asked)));
  result.Fail(Busy({}));
  EXPECT_EQ(result.retry_after, seconds(9));
}

struct LoopKey {
  std::string ns;
  friend auto operator<=>(const LoopKey&, const LoopKey&) = default;
  friend const std::string& NamespaceOf(const LoopKey& key) { return key.ns; }
};

// A key that fails, with a back-off of 0.1 s at first, and the clock of the loop.
struct Failing {
  Failing()
      : loop(clock,
             {.name = "test",
              .backoff = {.first = milliseconds(100), .max_wait = milliseconds(800)},
              .term =
                  [this] { return std::optional(Term(clock.WallNow(), [] { return true; }, {})); },
              .reconcile =
                  [this](const LoopKey&, const Term&) {
                    ++tries;
                    return result;
                  }}) {}
  // How often it is tried until then.
  int TriesWithin(milliseconds time) {
    tries = 0;
    for (milliseconds passed{0}; passed < time; passed += milliseconds(50)) {
      while (loop.RunOne()) {
      }
      clock.Advance(milliseconds(50));
    }
    return tries;
  }

  mindgate::testing::FakeClock clock;
  ReconcileResult result;
  int tries = 0;
  ReconcileLoop<LoopKey> loop;
};

TEST(ReconcileLoop, TriesNoSoonerThanTheServerAsked) {
  Failing failing;
  failing.result.Fail(Busy(seconds(3)));
  failing.loop.Enqueue({"ns"});
  EXPECT_EQ(failing.TriesWithin(seconds(3)), 1);
  EXPECT_EQ(failing.TriesWithin(seconds(3)), 1);
  // It has answered something else: the back-off alone counts.
  failing.result = {.failed = true};
  EXPECT_GT(failing.TriesWithin(seconds(6)), 4);
}

TEST(ReconcileLoop, AChangeWaitsForTheServerAndNotForTheBackOff) {
  for (const bool asked : {false, true}) {
    Failing failing;
    failing.result.Fail(asked ? Busy(seconds(3)) : Busy({}));
    failing.loop.Enqueue({"ns"});
    ASSERT_TRUE(failing.loop.RunOne());
    failing.loop.Enqueue({"ns"});
    failing.loop.RunOne();
    EXPECT_EQ(failing.tries, asked ? 1 : 2);
  }
}

TEST(ReconcileLoop, WhatSucceedsIsFreeAtOnce) {
  Failing failing;
  failing.result.Fail(Busy(seconds(3)));
  failing.loop.Enqueue({"ns"});
  EXPECT_EQ(failing.TriesWithin(seconds(3)), 1);
  failing.result = {};
  EXPECT_EQ(failing.TriesWithin(seconds(1)), 1);
  failing.loop.Enqueue({"ns"});
  EXPECT_EQ(failing.TriesWithin(milliseconds(50)), 1);
}

}  // namespace
}  // namespace mindgate::watcher
