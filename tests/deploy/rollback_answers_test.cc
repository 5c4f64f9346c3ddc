// What is undone when no answer, or not the first one, says what came of a write.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "deploy/cluster_fixture.h"
#include "deploy/rollback.h"

namespace mindgate::deploy {
namespace {

using kube::testing::StatusAnswer;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

using RollbackAnswers = ClusterTest;

const ApplyOptions kUndoing{.atomic = true, .timeout = std::chrono::seconds(20)};

// A 5xx leaves open what came of a write, and so does any answer to a second try.
TEST_F(RollbackAnswers, WhatAServerErrorLeavesOpenIsUndone) {
  const kube::testing::When root{.method = "PATCH", .target_part = "stormservices/q?"};
  const auto timeout = StatusAnswer(500, "InternalError", "etcdserver: request timed out");
  const auto refusal = StatusAnswer(403, "Forbidden", "a policy says no");
  struct Case {
    const char* what;
    std::function<void()> happens;
    bool comes_to_something;
  };
  const std::vector<Case> cases = {
      {"it is stored", [&] { server.AnswerLate(1, root, timeout); }, true},
      {"it is not", [&] { server.AnswerNext(1, root, timeout); }, false},
      {"a proxy waits no longer",
       [&] {
         server.AnswerLate(1, root, kube::testing::HtmlAnswer(502));
         server.AnswerNext(1, root, refusal);
       },
       true},
      {"the connection breaks",
       [&] {
         // libcurl sends it again on another connection.
         server.LoseAnswers(2, root);
         server.AnswerNext(1, root, refusal);
       },
       true},
      {"it is refused", [&] { server.AnswerNext(1, root, refusal); }, false},
  };
  for (const bool exists : {false, true}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(std::string(each.what) + (exists ? ", of an old one" : ""));
      server.Remove(resources::kStormServices, "llm", "q");
      if (exists) Deploy(kAibrixConfig);
      const Json before = server.Find(resources::kStormServices, "llm", "q")["spec"];
      const std::string changed = With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1",
                                       "  routing:\n    image: vllm-ascend:12");
      const Configuration configuration = Read(changed);
      const Plan plan = PlanOf(changed);
      steps.clear();
      each.happens();
      const ApplyResult result =
          CarryOut(client, sleeper, clock, configuration.application, plan, kUndoing,
                   {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
      EXPECT_EQ(result.outcome, Outcome::kFailed);
      EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(result.not_undone);
      const Json after = server.Find(resources::kStormServices, "llm", "q");
      EXPECT_EQ(after.is_object(), exists);
      if (exists) {
        EXPECT_EQ(after["spec"], before);
      }
      // Nothing is undone that did not happen.
      const auto undone = Contains(exists ? "StormService q restored" : "StormService q deleted");
      if (each.comes_to_something) {
        EXPECT_THAT(steps, undone);
      } else {
        EXPECT_THAT(steps, Not(undone));
      }
    }
  }
}

// The store was made, and then given its owner, of which no answer came.
TEST_F(RollbackAnswers, AnAdoptionThatIsLeftOpenIsUndone) {
  const Configuration configuration = Read(kOmeConfig);
  const Plan plan = PlanOf(kOmeConfig);
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    mindgate::testing::PlayDeployments(server, "llm", "chat");
  });
  const ApplyResult result = CarryOut(
      client, sleeper, clock, configuration.application, plan, kUndoing,
      {.step =
           [this](const std::string& line) {
             steps.push_back(line);
             if (line != "InferenceService chat created") return;
             server.AnswerLate(1, {.method = "PATCH", .target_part = "deployments/chat-mf-store"},
                               StatusAnswer(500, "InternalError", "etcdserver: request timed out"));
           }},
      {});
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
  EXPECT_THAT(Titles(), IsEmpty());
}

// Undoing writes as well, and its own write is not that of somebody else.
TEST_F(RollbackAnswers, AnUndoingWhoseAnswerIsLostIsRepeated) {
  Deploy(kAibrixConfig);
  const Json before = server.Find(resources::kStormServices, "llm", "q")["spec"];
  server.LoseAnswers(1, {.method = "PATCH", .target_part = "force=true"});
  const ApplyResult result = Deploy(With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1",
                                         "  routing:\n    image: vllm-ascend:12"),
                                    kUndoing);
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
  EXPECT_EQ(server.Find(resources::kStormServices, "llm", "q")["spec"], before);
}

}  // namespace
}  // namespace mindgate::deploy
