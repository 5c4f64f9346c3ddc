#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "json/decode.h"
#include "why/reader.h"

namespace mindgate::why {
namespace {

using schemas::Kind;

Facts StateOf(Kind kind, const std::string& text) {
  Facts facts;
  const auto object = json::Document::Decode(text);
  if (object) {
    ReadState(kind, object->root(), facts);
  } else {
    ADD_FAILURE() << text;
  }
  return facts;
}

TEST(Subject, AJobWantsNoMorePodsThanAreLeftToComplete) {
  struct JobCase {
    const char* spec;
    int succeeded;
    int64_t want;
  };
  const std::vector<JobCase> cases = {
      {R"({"parallelism": 4, "completions": 4})", 0, 4},
      {R"({"parallelism": 4, "completions": 4})", 3, 4},
      {R"({"parallelism": 4, "completions": 10})", 3, 7},
      {R"({"parallelism": 4, "completions": 10})", 9, 10},
      {R"({"parallelism": 4})", 3, 4},
      {R"({"completions": 10})", 3, 4},
      {"{}", 0, 1},
  };
  for (const JobCase& c : cases) {
    const Facts facts =
        StateOf(Kind::kJob, std::string(R"({"spec": )") + c.spec + R"(, "status": {"succeeded": )" +
                                std::to_string(c.succeeded) + "}}");
    EXPECT_EQ(facts.wanted, c.want) << c.spec << " " << c.succeeded;
    EXPECT_EQ(facts.succeeded, c.succeeded);
  }
}

TEST(Subject, OnlyJobsHavePodsThatSucceeded) {
  EXPECT_EQ(StateOf(Kind::kVolcanoJob, R"({"status": {"succeeded": 2}})").succeeded, 2);
  EXPECT_EQ(StateOf(Kind::kAscendJob, "{}").succeeded, 0);
  for (const Kind kind : {Kind::kDeployment, Kind::kPodGroup, Kind::kCronJob}) {
    EXPECT_EQ(StateOf(kind, R"({"status": {"succeeded": 2}})").succeeded, std::nullopt);
  }
}

TEST(Subject, AStatefulSetMakesPodsInOrderUnlessItIsParallel) {
  EXPECT_TRUE(StateOf(Kind::kStatefulSet, R"({"spec": {}})").makes_in_order);
  EXPECT_FALSE(StateOf(Kind::kStatefulSet, R"({"spec": {"podManagementPolicy": "Parallel"}})")
                   .makes_in_order);
  EXPECT_FALSE(StateOf(Kind::kDeployment, R"({"spec": {}})").makes_in_order);
}

}  // namespace
}  // namespace mindgate::why
