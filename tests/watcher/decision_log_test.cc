#include "watcher/frame/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::watcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct DecisionLogTest : ::testing::Test {
  mindgate::testing::FakeClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  std::vector<std::string> lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock,
                     [this](std::string_view line) { lines.emplace_back(line); }};
  kube::Recorder recorder{
      client, sleeper, clock, {.controller = "mindgate.io/watcher", .instance = "a"}, 1};
  DecisionLog decisions{clock, logger, recorder};

  static DecisionRecord Record(const std::string& ns, const std::string& instance) {
    return {.controller = "scaling",
            .ns = ns,
            .about = {{"jobID", "chat"}, {"instance", instance}},
            .what = "granted",
            .reason = "shape 1 wants it",
            .enforced = true,
            .event_reason = "InstanceGranted",
            .event_action = "Grant"};
  }
};

TEST_F(DecisionLogTest, TellsInTheLogInAnEventAndInNumbers) {
  server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "serving"}}}});
  DecisionRecord record = Record("serving", "Pod/p0");
  record.regarding = {"v1", "Pod", "serving", "p0", "u"};
  decisions.Tell(record);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("granted"));
  EXPECT_THAT(lines[0], HasSubstr(R"(job_id="chat" instance="Pod/p0")"))
      << "names as in the log elsewhere";
  ASSERT_TRUE(recorder.Flush(std::chrono::seconds(30)));
  const auto events = client.List(kube::resources::kEvents, "serving");
  ASSERT_EQ(events->items.size(), 1U);
  EXPECT_EQ(events->items[0].at("note"), "shape 1 wants it");
  EXPECT_EQ(decisions.counts(), (DecisionLog::Counts{{{"scaling", "granted"}, 1}}));
}

TEST_F(DecisionLogTest, WithoutAnObjectThereIsNoEvent) {
  decisions.Tell(Record("serving", "Pod/p0"));
  ASSERT_TRUE(recorder.Flush(std::chrono::seconds(30)));
  EXPECT_EQ(client.List(kube::resources::kEvents, "serving")->items.size(), 0U);
}

// S9: the names in a reason are a tenant's.
TEST_F(DecisionLogTest, AReasonHasABound) {
  DecisionRecord record = Record("serving", "Pod/p0");
  record.reason = std::string(1'000'000, 'x');
  decisions.Tell(record);
  EXPECT_EQ(decisions.entries().at(0).record.reason.size(), DecisionLog::kMaxReason);
  EXPECT_LT(lines.at(0).size(), 2 * DecisionLog::kMaxReason);
}

// One tenant's decisions do not drive out those of the others.
TEST_F(DecisionLogTest, TheNamespaceWithTheMostMakesRoom) {
  for (size_t i = 0; i < 3; ++i) decisions.Tell(Record("quiet", "Pod/q" + std::to_string(i)));
  for (size_t i = 0; i < 2 * DecisionLog::kMaxEntries; ++i) {
    decisions.Tell(Record("loud", "Pod/l" + std::to_string(i)));
  }
  const auto entries = decisions.entries();
  ASSERT_EQ(entries.size(), DecisionLog::kMaxEntries);
  std::vector<std::string> first;
  for (size_t i = 0; i < 4; ++i) first.push_back(entries[i].record.about[1].second);
  EXPECT_THAT(first, ElementsAre("Pod/q0", "Pod/q1", "Pod/q2", "Pod/l1003")) << "oldest first";
}

}  // namespace
}  // namespace mindgate::watcher
