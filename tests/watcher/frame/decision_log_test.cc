#include "watcher/frame/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"
#include "watcher/watcher.h"

namespace mindgate::watcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
    return {.kind = DecisionKind::kGranted,
            .ns = ns,
            .about = {{"jobID", "chat"}, {"instance", instance}},
            .reason = "shape 1 wants it",
            .enforced = true};
  }
};

TEST_F(DecisionLogTest, ReportsInTheLogInAnEventAndInNumbers) {
  server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "serving"}}}});
  DecisionRecord record = Record("serving", "Pod/p0");
  record.regarding = {"v1", "Pod", "serving", "p0", "u"};
  decisions.Report(record);
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
  decisions.Report(Record("serving", "Pod/p0"));
  ASSERT_TRUE(recorder.Flush(std::chrono::seconds(30)));
  EXPECT_EQ(client.List(kube::resources::kEvents, "serving")->items.size(), 0U);
}

// The names in a reason are a tenant's.
TEST_F(DecisionLogTest, AReasonHasABound) {
  DecisionRecord record = Record("serving", "Pod/p0");
  record.reason = std::string(1'000'000, 'x');
  decisions.Report(record);
  EXPECT_EQ(decisions.entries().at(0).record.reason.size(), DecisionLog::kMaxReason);
  EXPECT_LT(lines.at(0).size(), 2 * DecisionLog::kMaxReason);
}

TEST_F(DecisionLogTest, WhatADecisionIsAboutHasABound) {
  decisions.Report(Record("serving", std::string(700'000, 'x')));
  EXPECT_EQ(decisions.entries().at(0).record.about[1].second.size(), DecisionLog::kMaxAbout);
  EXPECT_LT(lines.at(0).size(), 1000U);
}

TEST_F(DecisionLogTest, ANamespaceWithManyDecisionsIsSampledInTheLog) {
  for (size_t i = 0; i < 350; ++i) decisions.Report(Record("loud", "Pod/l"));
  ASSERT_EQ(lines.size(), 102U) << "the first 100, then every 100th";
  EXPECT_THAT(lines[99], Not(HasSubstr("not_logged")));
  EXPECT_THAT(lines[100], HasSubstr("not_logged=99"));
  decisions.Report(Record("quiet", "Pod/q"));
  ASSERT_EQ(lines.size(), 103U) << "another namespace has lines of its own";
  EXPECT_THAT(lines[102], Not(HasSubstr("not_logged")));
  clock.Advance(std::chrono::minutes(1));
  decisions.Report(Record("loud", "Pod/l"));
  ASSERT_EQ(lines.size(), 104U);
  EXPECT_THAT(lines[103], HasSubstr("not_logged=50")) << "nothing goes uncounted";
  EXPECT_EQ(decisions.counts(), (DecisionLog::Counts{{{"scaling", "granted"}, 352}}));
}

// What /decisions answers, with the query given.
struct DecisionsPage : DecisionLogTest {
  http::Response Ask(const std::string& query) {
    ProbeSources sources;
    sources.decisions = &decisions;
    for (const auto& route : ProbeRoutes(sources)) {
      if (route.path != "/decisions") continue;
      http::Request request;
      request.target = "/decisions" + query;
      return route.handler(request);
    }
    return {};
  }
  // The instances in it, and what it has to say of the rest.
  std::vector<std::string> Instances(const std::string& query) {
    const auto page = nlohmann::json::parse(Ask(query).body);
    std::vector<std::string> found;
    for (const auto& entry : page.at("decisions")) found.push_back(entry.at("instance"));
    if (page.contains("more")) found.push_back(page.at("more"));
    return found;
  }
};

TEST_F(DecisionsPage, ShowsTheNewestOfWhatWasAsked) {
  for (const char* name : {"a", "b", "c"}) decisions.Report(Record("one", name));
  for (const char* name : {"x", "y"}) decisions.Report(Record("two", name));
  EXPECT_THAT(Instances(""), ElementsAre("a", "b", "c", "x", "y"));
  EXPECT_THAT(Instances("?limit=2"), ElementsAre("x", "y", "and 3 older"));
  EXPECT_THAT(Instances("?namespace=one"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Instances("?namespace=one&limit=1"), ElementsAre("c", "and 2 older"));
  EXPECT_THAT(Instances("?namespace=three"), ElementsAre());
  EXPECT_THAT(Instances("?limit=99999999"), ElementsAre("a", "b", "c", "x", "y"));
  for (const char* limit : {"0", "-1", "x", ""}) {
    EXPECT_EQ(Ask(std::string("?limit=") + limit).status, 400) << limit;
  }
}

// The probe port has 4 MiB, and charges an answer four-fold while it is made.
TEST_F(DecisionsPage, AnswersWhatFits) {
  for (size_t i = 0; i < DecisionLog::kMaxEntries; ++i) {
    DecisionRecord record = Record("loud", std::string(300'000, 'x'));
    record.reason = std::string(300'000, '\n');
    decisions.Report(std::move(record));
  }
  const http::Response page = Ask("");
  EXPECT_EQ(page.status, 200);
  EXPECT_LT(page.body.size(), 600U * 1024);
  EXPECT_GT(page.body.size(), 400U * 1024);
  const auto json = nlohmann::json::parse(page.body);
  EXPECT_EQ(
      json.at("more"),
      "and " + std::to_string(DecisionLog::kMaxEntries - json.at("decisions").size()) + " older");
}

// One tenant's decisions do not drive out those of the others.
TEST_F(DecisionLogTest, TheNamespaceWithTheMostMakesRoom) {
  for (size_t i = 0; i < 3; ++i) decisions.Report(Record("quiet", "Pod/q" + std::to_string(i)));
  for (size_t i = 0; i < 2 * DecisionLog::kMaxEntries; ++i) {
    decisions.Report(Record("loud", "Pod/l" + std::to_string(i)));
  }
  const auto entries = decisions.entries();
  ASSERT_EQ(entries.size(), DecisionLog::kMaxEntries);
  std::vector<std::string> first;
  for (size_t i = 0; i < 4; ++i) first.push_back(entries[i].record.about[1].second);
  EXPECT_THAT(first, ElementsAre("Pod/q0", "Pod/q1", "Pod/q2", "Pod/l1003")) << "oldest first";
}

}  // namespace
}  // namespace mindgate::watcher
