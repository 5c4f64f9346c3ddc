#include "watcher/frame/leader_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "watcher/frame_fixture.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace resources = kube::resources;

TEST_F(FrameTest, NothingIsWrittenWhenTheTermIsOver) {
  std::atomic<bool> holds = true;
  std::stop_source ended;
  LeaderClient leader(client, Term(Time{}, [&] { return holds.load(); }, ended.get_token()));
  Put("a");
  holds = false;
  const auto refused = [](const auto& answer) {
    return !answer && answer.error().reason == kube::Reason::kStopped;
  };
  const Json patch = Json::array();
  EXPECT_TRUE(refused(leader.Patch(resources::kPods, "ns", "a", patch)));
  EXPECT_TRUE(refused(leader.MergePatch(resources::kPods, "ns", "a", patch)));
  EXPECT_TRUE(refused(leader.MayEvict("ns", "a", {})));
  EXPECT_TRUE(refused(leader.Create(resources::kPods, "ns", patch, {})));
  EXPECT_TRUE(refused(leader.Update(resources::kPods, "ns", "a", patch, {})));
  EXPECT_TRUE(refused(leader.Apply(resources::kPods, "ns", "a", patch, true, {})));
  EXPECT_EQ(server.Count(), 0U);
}

TEST_F(FrameTest, ACallUnderWayEndsWithTheTerm) {
  std::stop_source ended;
  LeaderClient leader(client, Term(Time{}, [] { return true; }, ended.get_token()));
  Put("a");
  const auto gate = server.Hold({.method = "PATCH"});
  std::jthread call([&] {
    const auto answer = leader.MergePatch(resources::kPods, "ns", "a", Json::object());
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, kube::Reason::kStopped);
  });
  ASSERT_TRUE(gate->WaitUntilHeld());
  ended.request_stop();
  call.join();
  gate->Release();
}

// What PodDisruptionBudgets say is asked without doing it, where admission can see that.
TEST_F(FrameTest, AskingForAnEvictionChangesNothing) {
  LeaderClient leader(client, Term(Time{}, [] { return true; }, {}));
  const Json pod = Put("a");
  kube::DeleteOptions options;
  options.preconditions.uid = pod["metadata"]["uid"];
  EXPECT_TRUE(leader.MayEvict("ns", "a", options));
  EXPECT_FALSE(server.Find(resources::kPods, "ns", "a")["metadata"].contains("deletionTimestamp"));
  EXPECT_THAT(server.Requests({.method = "POST"}).at(0).target,
              AllOf(HasSubstr("/pods/a/eviction"), HasSubstr("dryRun=All")));
  server.AnswerNext(1, {.method = "POST"},
                    kube::testing::StatusAnswer(429, "TooManyRequests", "the budget"));
  const auto refused = leader.MayEvict("ns", "a", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, kube::Reason::kTooManyRequests);
}

}  // namespace
}  // namespace mindgate::watcher
