#include "kube/election.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>

#include "lease_server.h"
#include "support/fake_clock.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::FakeClock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeTransport;
using testing::LeaseServer;
using testing::Ok;
using testing::TimedPauser;

// One replica, "me". Pauses let the clock go on; what `steps` hold is done in them, one after the
// other, and the run is stopped in the pause after the last.
struct ElectionFixture : ::testing::Test {
  FakeClock clock;  // begins at 2026-01-01T00:00:00Z
  LeaseServer server;
  std::deque<std::function<void()>> steps;
  std::stop_source stop;
  // What happened, in order: calls, changes and faults.
  std::vector<std::string> story;
  std::vector<milliseconds> pauses;
  std::function<std::optional<Fault>(const HttpCall& call)> disturb;  // instead of an answer

  FakeTransport transport{[this](const HttpCall& call, std::stop_token) -> Answer<HttpAnswer> {
    if (disturb) {
      if (auto fault = disturb(call)) return tl::unexpected(*std::move(fault));
    }
    HttpAnswer answer = server.Serve(call);
    Report(call.method + " " + std::to_string(answer.status));
    return answer;
  }};
  TimedPauser sleeper{[this](milliseconds time) {
    pauses.push_back(time);
    clock.Advance(time);
    if (steps.empty()) {
      stop.request_stop();
      return;
    }
    const auto step = std::move(steps.front());
    steps.pop_front();
    step();
  }};
  Client client{transport, sleeper, {.retries = 0}};
  Elector elector{client,
                  sleeper,
                  clock,
                  {.ns = "ns",
                   .name = "watcher",
                   .identity = "me",
                   .failed =
                       [this](const Fault& fault) {
                         Report("failed: " + std::string(ReasonName(fault.reason)));
                       }},
                  7};

  void Report(const std::string& what) { story.push_back(what); }
  std::vector<std::string> Run() {
    story.clear();
    elector.Run(stop.get_token(), [this](bool leading) {
      EXPECT_EQ(elector.leading(), leading);
      Report(leading ? "leads" : "leads no more");
    });
    return story;
  }
  void Pass(int pauses_more) {
    for (int i = 0; i < pauses_more; ++i) steps.push_back([] {});
  }
};

using Story = std::vector<std::string>;

Json Spec(const std::string& holder, int duration, const std::string& renewed, int transitions) {
  return {{"holderIdentity", holder},
          {"leaseDurationSeconds", duration},
          {"acquireTime", "2025-12-01T00:00:00.000000Z"},
          {"renewTime", renewed},
          {"leaseTransitions", transitions}};
}

TEST_F(ElectionFixture, CreatesTheLeaseAndGivesItUpAtTheEnd) {
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "leads no more", "PUT 200"}));
  const auto calls = transport.calls();
  EXPECT_EQ(*json::Decode(calls[1].body),
            Json({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", {{"name", "watcher"}, {"namespace", "ns"}}},
                  {"spec",
                   {{"holderIdentity", "me"},
                    {"leaseDurationSeconds", 60},
                    {"acquireTime", "2026-01-01T00:00:00.000000Z"},
                    {"renewTime", "2026-01-01T00:00:00.000000Z"},
                    {"leaseTransitions", 0}}}}));
  const std::string now = "2026-01-01T00:00:1";
  const Json& spec = server.lease()["spec"];
  EXPECT_EQ(spec["holderIdentity"], "");
  EXPECT_EQ(spec["leaseDurationSeconds"], 1);
  EXPECT_EQ(spec["renewTime"].get<std::string>().substr(0, now.size()), now);
  EXPECT_EQ(spec["acquireTime"], spec["renewTime"]);
  EXPECT_FALSE(elector.leading());
}

TEST_F(ElectionFixture, RenewsWithOneWriteAndPausesThatAreSpread) {
  Pass(5);
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "PUT 200", "PUT 200", "PUT 200",
                          "PUT 200", "PUT 200", "leads no more", "PUT 200"}));
  std::set<milliseconds> different(pauses.begin(), pauses.end());
  EXPECT_GT(different.size(), 3u);
  for (const milliseconds pause : pauses) {
    EXPECT_GE(pause, seconds(10));
    EXPECT_LE(pause, seconds(12));
  }
}

TEST_F(ElectionFixture, ARenewalKeepsWhatOthersPutIntoTheLease) {
  server.Put(Spec("", 1, "2025-12-01T00:00:00.000000Z", 4));
  steps.push_back([this] {
    Json spec = server.lease()["spec"];
    spec["strategy"] = "OldestEmulationVersion";
    server.Put(spec);
  });
  Pass(1);
  EXPECT_EQ(Run(), (Story{"GET 200", "PUT 200", "leads", "PUT 409", "GET 200", "PUT 200", "PUT 200",
                          "leads no more", "PUT 200"}));
  const Json renewed = *json::Decode(transport.calls()[5].body);
  EXPECT_EQ(renewed["spec"]["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(renewed["spec"]["leaseTransitions"], 5) << "one more than before, once";
  EXPECT_EQ(renewed["spec"]["acquireTime"], "2026-01-01T00:00:00.000000Z");
}

TEST_F(ElectionFixture, AReleasedLeaseIsTakenAtOnceAndSoIsOneOfOurOwn) {
  server.Put(Spec("", 1, "2026-01-01T00:00:00.000000Z", 0));
  EXPECT_EQ(Run(), (Story{"GET 200", "PUT 200", "leads", "leads no more", "PUT 200"}));
  stop = {};
  server.Put(Spec("me", 60, "2026-01-01T00:00:00.000000Z", 3));
  EXPECT_EQ(Run(), (Story{"GET 200", "PUT 200", "leads", "leads no more", "PUT 200"}));
  EXPECT_EQ(server.lease()["spec"]["leaseTransitions"], 3) << "nobody else has had it";
}

// Whatever the clocks of other hosts say.
TEST_F(ElectionFixture, AnothersHoldEndsWhenItsRecordStandsStillByOurClock) {
  for (const char* renewed : {"2020-01-01T00:00:00.000000Z", "2040-01-01T00:00:00.000000Z"}) {
    stop = {};
    pauses.clear();
    server.Put(Spec("other", 30, renewed, 0));
    Pass(10);
    const Story reported = Run();
    const auto leads = std::find(reported.begin(), reported.end(), "leads");
    ASSERT_NE(leads, reported.end());
    // Looks at 0 s, 10 to 12 s, 20 to 24 s and 30 to 36 s: the fourth is the first after 30 s.
    EXPECT_EQ(Story(reported.begin(), leads),
              (Story{"GET 200", "GET 200", "GET 200", "GET 200", "PUT 200"}));
    EXPECT_EQ(server.holder(), "");
  }
}

TEST_F(ElectionFixture, AnotherThatRenewsKeepsIt) {
  server.Put(Spec("other", 60, "0", 0));
  for (int i = 1; i <= 30; ++i) {
    steps.push_back([this, i] { server.Put(Spec("other", 60, std::to_string(i), 0)); });
  }
  EXPECT_EQ(Run(), Story(31, "GET 200"));
  EXPECT_EQ(server.holder(), "other");
}

TEST_F(ElectionFixture, AChangeOfMetadataIsNoRenewal) {
  server.Put(Spec("other", 60, "0", 0));
  for (int i = 1; i <= 30; ++i) steps.push_back([this] { server.Touch(); });
  const Story reported = Run();
  EXPECT_NE(std::find(reported.begin(), reported.end(), "leads"), reported.end());
}

TEST_F(ElectionFixture, ADurationThatNoServerSendsIsBounded) {
  Json spec = Spec("other", 0, "0", 0);
  spec["leaseDurationSeconds"] = INT64_MAX;
  server.Put(spec);
  Pass(3);
  EXPECT_EQ(Run(), Story(4, "GET 200"));
}

TEST_F(ElectionFixture, ALostRaceIsNoFailure) {
  server.Put(Spec("", 1, "0", 0));
  disturb = [this](const HttpCall& call) -> std::optional<Fault> {
    if (call.method == "PUT") server.Put(Spec("other", 60, "1", 1));
    return std::nullopt;
  };
  EXPECT_EQ(Run(), (Story{"GET 200", "PUT 409"}));
  server.Delete();
  stop = {};
  disturb = [this](const HttpCall& call) -> std::optional<Fault> {
    if (call.method == "POST") server.Put(Spec("other", 60, "1", 1));
    return std::nullopt;
  };
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 409"}));
  EXPECT_EQ(server.holder(), "other");
}

TEST_F(ElectionFixture, WhoFindsAnotherInItsPlaceLeadsNoMoreAtOnce) {
  steps.push_back([this] { server.Put(Spec("other", 60, "1", 1)); });
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "PUT 409", "GET 200", "leads no more"}));
  EXPECT_EQ(server.holder(), "other") << "and gives up nothing that is not its own";
}

TEST_F(ElectionFixture, ADeletedLeaseIsRecreated) {
  steps.push_back([this] { server.Delete(); });
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "PUT 404", "GET 404", "POST 201",
                          "leads no more", "PUT 200"}));
}

TEST_F(ElectionFixture, ALeaseThatCannotBeRecreatedIsCreatedByTheNextTry) {
  steps.push_back([this] {
    server.Delete();
    disturb = [](const HttpCall& call) -> std::optional<Fault> {
      if (call.method != "POST") return std::nullopt;
      return Fault{.reason = Reason::kUnreachable, .message = "refused"};
    };
  });
  steps.push_back([this] { disturb = nullptr; });
  EXPECT_EQ(Run(),
            (Story{"GET 404", "POST 201", "leads", "PUT 404", "GET 404", "failed: Unreachable",
                   "GET 404", "POST 201", "leads no more", "PUT 200"}));
}

TEST_F(ElectionFixture, LosesItAtTheDeadlineAndGoesOnTrying) {
  steps.push_back([this] {
    disturb = [](const HttpCall&) {
      return Fault{.reason = Reason::kUnreachable, .message = "refused"};
    };
  });
  Pass(4);
  steps.push_back([this] { disturb = nullptr; });
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "failed: Unreachable",
                          "failed: Unreachable", "failed: Unreachable", "leads no more",
                          "failed: Unreachable", "failed: Unreachable", "GET 200", "PUT 200",
                          "leads", "leads no more", "PUT 200"}));
  milliseconds until_lost{0};
  for (size_t i = 0; i < 4; ++i) until_lost += pauses[i];
  EXPECT_EQ(until_lost, seconds(40)) << "the loss is reported when it comes";
}

TEST_F(ElectionFixture, LeadingFollowsTheClockWhileACallHangs) {
  std::vector<bool> seen;
  steps.push_back([this, &seen] {
    disturb = [this, &seen](const HttpCall&) -> std::optional<Fault> {
      const auto waited = pauses.front();
      seen.push_back(elector.leading());
      clock.Advance(seconds(40) - waited - milliseconds(1));
      seen.push_back(elector.leading());
      clock.Advance(milliseconds(1));
      seen.push_back(elector.leading());
      return Fault{.reason = Reason::kTimeout, .message = "no answer"};
    };
  });
  Run();
  EXPECT_EQ(std::vector<bool>(seen.begin(), seen.begin() + 3),
            (std::vector<bool>{true, true, false}));
}

TEST_F(ElectionFixture, ARenewalCountsFromBeforeItWasSent) {
  steps.push_back([this] {
    disturb = [this](const HttpCall&) -> std::optional<Fault> {
      clock.Advance(seconds(29));  // the answer is slow
      disturb = nullptr;
      return std::nullopt;
    };
  });
  steps.push_back([this] {
    // 29 s for the answer, then a pause that expired at the deadline at the latest.
    EXPECT_EQ(pauses.back() <= seconds(11), true);
  });
  Run();
}

// Whoever asked meanwhile was answered that it does not lead, and waits for the next term.
TEST_F(ElectionFixture, ALapseThatARenewalEndsIsReported) {
  for (const bool asked : {false, true}) {
    SCOPED_TRACE(asked);
    stop = {};
    server.Delete();
    steps.push_back([this, asked] {
      disturb = [this, asked](const HttpCall&) -> std::optional<Fault> {
        clock.Advance(seconds(35));  // the renewal before is 45 s old by now
        if (asked) {
          EXPECT_FALSE(elector.leading());
        }
        disturb = nullptr;
        return std::nullopt;
      };
    });
    EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "PUT 200", "leads no more", "leads",
                            "leads no more", "PUT 200"}));
  }
}

// Seen by another thread at the very moment of the answer.
TEST_F(ElectionFixture, WhoHasEndedDoesNotLeadBeforeTheEndIsReported) {
  steps.push_back([this] {
    disturb = [this](const HttpCall&) -> std::optional<Fault> {
      clock.Advance(seconds(35));
      EXPECT_FALSE(elector.leading());
      clock.Advance(-seconds(10));  // whatever the clock shows
      EXPECT_FALSE(elector.leading());
      disturb = nullptr;
      return std::nullopt;
    };
  });
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "PUT 200", "leads no more", "leads",
                          "leads no more", "PUT 200"}));
}

TEST_F(ElectionFixture, AnAnswerThatWasLostDoesNotMatter) {
  steps.push_back([this] {
    disturb = [this](const HttpCall& call) -> std::optional<Fault> {
      server.Serve(call);  // it was carried out
      disturb = nullptr;
      return Fault{.reason = Reason::kUnreachable, .message = "the connection broke"};
    };
  });
  Pass(1);
  EXPECT_EQ(Run(), (Story{"GET 404", "POST 201", "leads", "failed: Unreachable", "PUT 409",
                          "GET 200", "PUT 200", "leads no more", "PUT 200"}));
}

TEST_F(ElectionFixture, GarbageIsAFailureAndNotAnEnd) {
  bool garbage = true;
  FakeTransport odd{[&](const HttpCall&, std::stop_token) -> Answer<HttpAnswer> {
    return Ok(garbage ? "[1]" : "{}");
  }};
  Client odd_client{odd, sleeper, {.retries = 0}};
  Elector odd_elector{odd_client,
                      sleeper,
                      clock,
                      {.ns = "ns",
                       .name = "watcher",
                       .identity = "me",
                       .failed = [this](const Fault& fault) { Report(fault.message); }},
                      7};
  steps.push_back([&] { garbage = false; });
  odd_elector.Run(stop.get_token(), [this](bool leading) { Report(leading ? "leads" : "not"); });
  EXPECT_EQ(story, (Story{"the answer for Lease ns/watcher is not an object", "leads", "not"}));
}

TEST_F(ElectionFixture, NothingHappensAfterTheStop) {
  stop.request_stop();
  EXPECT_EQ(Run(), Story());
  EXPECT_FALSE(elector.leading());
}

}  // namespace
}  // namespace mindgate::kube
