#include "kube/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "fake_transport.h"
#include "json/decode.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::Eventually;
using ::mindgate::testing::FakeClock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeTransport;
using testing::Ok;
using testing::Status;
using testing::TimedPauser;

constexpr seconds kLong(60);  // for what must come, on the slowest machine

EventRecord WarningAbout(const std::string& pod, const std::string& note = "") {
  return {.regarding = {"v1", "Pod", "ns", pod, "uid-1"},
          .type = EventRecord::Type::kWarning,
          .reason = "Held",
          .action = "Hold",
          .note = note};
}

struct EventsFixture : ::testing::Test {
  FakeClock clock;  // begins at 2026-01-01T00:00:00Z
  std::mutex mutex;
  std::vector<Fault> faults;  // guarded by mutex
  std::atomic<int> pauses = 0;
  // The answer to the n-th call, from 0 on.
  std::function<Answer<HttpAnswer>(size_t n, std::stop_token stop)> answer =
      [](size_t, const std::stop_token&) { return Ok("{}", 201); };
  std::atomic<size_t> answered = 0;

  FakeTransport transport{[this](const HttpCall&, std::stop_token stop) {
    return answer(answered++, std::move(stop));
  }};
  TimedPauser sleeper{[this](milliseconds time) {
    ++pauses;
    clock.Advance(time);
  }};
  Client client{transport, sleeper, {.retries = 0}};

  Recorder::Options Options() {
    return {.controller = "mindgate.io/watcher",
            .instance = "watcher-0",
            .failed = [this](const Fault& fault) {
              const std::lock_guard lock(mutex);
              faults.push_back(fault);
            }};
  }
  std::unique_ptr<Recorder> Make(Recorder::Options options) {
    return std::make_unique<Recorder>(client, sleeper, clock, std::move(options), 7);
  }
  std::unique_ptr<Recorder> Make() { return Make(Options()); }

  Json Body(size_t n) { return *json::Decode(transport.calls()[n].body); }
  // "POST pod-a", "PATCH pod-a 3": calls by object and count.
  std::vector<std::string> Calls() {
    std::vector<std::string> out;
    for (const HttpCall& call : transport.calls()) {
      const Json body = *json::Decode(call.body);
      const std::string path = call.path.substr(0, call.path.find('?'));
      const std::string last = path.substr(path.rfind('/') + 1);
      std::string text = call.method + " ";
      text += last == "events" ? body["regarding"]["name"].get<std::string>()
                               : last.substr(0, last.find('.'));
      if (body.contains("series")) text += " " + body["series"]["count"].dump();
      out.push_back(text);
    }
    return out;
  }
};

using Texts = std::vector<std::string>;

std::string Show(const Recorder::Counts& counts) {
  return "written " + std::to_string(counts.written) + " dropped " +
         std::to_string(counts.dropped) + " limited " + std::to_string(counts.limited) +
         " failed " + std::to_string(counts.failed);
}

TEST_F(EventsFixture, AnEventAsTheApiServerWantsIt) {
  const auto recorder = Make();
  recorder->Record(WarningAbout("pod-a", "no room for its group"));
  ASSERT_TRUE(recorder->Flush(kLong));
  ASSERT_EQ(transport.calls().size(), 1u);
  const HttpCall call = transport.calls()[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.path, "/apis/events.k8s.io/v1/namespaces/ns/events?fieldManager=mindgate");
  Json event = Body(0);
  const std::string name = event["metadata"]["name"];
  EXPECT_EQ(name.size(), std::string("pod-a.0123456789abcdef").size());
  EXPECT_EQ(name.substr(0, 6), "pod-a.");
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef", 6), std::string::npos);
  EXPECT_EQ(event, Json({{"apiVersion", "events.k8s.io/v1"},
                         {"kind", "Event"},
                         {"metadata", {{"name", name}, {"namespace", "ns"}}},
                         {"eventTime", "2026-01-01T00:00:00.000000Z"},
                         {"reportingController", "mindgate.io/watcher"},
                         {"reportingInstance", "watcher-0"},
                         {"regarding",
                          {{"apiVersion", "v1"},
                           {"kind", "Pod"},
                           {"namespace", "ns"},
                           {"name", "pod-a"},
                           {"uid", "uid-1"}}},
                         {"type", "Warning"},
                         {"reason", "Held"},
                         {"action", "Hold"},
                         {"note", "no room for its group"}}));
  EXPECT_EQ(Show(recorder->counts()), "written 1 dropped 0 limited 0 failed 0");
}

TEST_F(EventsFixture, NamesAndNamespacesOfOddObjects) {
  const auto recorder = Make();
  const std::string long_name = std::string(60, 'a') + "." + std::string(60, 'b') + "." +
                                std::string(60, 'c') + "." + std::string(52, 'd') + "." +
                                std::string(17, 'e');
  ASSERT_EQ(long_name.size(), 253u);
  const std::pair<ObjectReference, std::string> cases[] = {
      {{"v1", "Node", "", "node-1", ""}, "default node-1"},
      {{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node", ""},
       "default clusterrole"},
      {{"v1", "Pod", "ns", "", ""}, "ns pod"},
      {{"v1", "Pod", "ns", long_name, ""}, "ns " + long_name.substr(0, 235)},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    EventRecord record = WarningAbout("");
    record.regarding = cases[i].first;
    recorder->Record(record);
    ASSERT_TRUE(recorder->Flush(kLong));
    const Json metadata = Body(i)["metadata"];
    const std::string name = metadata["name"];
    EXPECT_LE(name.size(), 253u);
    EXPECT_EQ(metadata["namespace"].get<std::string>() + " " + name.substr(0, name.size() - 17),
              cases[i].second);
    EXPECT_NE(transport.calls()[i].path.find(metadata["namespace"]), std::string::npos);
    EXPECT_EQ(Body(i)["regarding"].contains("namespace"), !cases[i].first.ns.empty());
  }
}

TEST_F(EventsFixture, TextsAreCutAtWholeCharacters) {
  const auto recorder = Make();
  EventRecord record = WarningAbout("pod-a", std::string(1023, 'x') + "\u00e9 and more");
  record.reason = std::string(200, 'R');
  record.action = std::string(127, 'A') + "\u5347";
  recorder->Record(record);
  recorder->Record(WarningAbout("pod-a", std::string(1021, 'x') + "\u5347"));  // 1024 bytes
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Body(0)["note"], std::string(1023, 'x'));
  EXPECT_EQ(Body(0)["reason"], std::string(128, 'R'));
  EXPECT_EQ(Body(0)["action"], std::string(127, 'A'));
  EXPECT_EQ(Body(1)["note"], std::string(1021, 'x') + "\u5347");
}

TEST_F(EventsFixture, WhatHappensAgainBecomesASeries) {
  const auto recorder = Make();
  recorder->Record(WarningAbout("pod-a"));
  recorder->Record(WarningAbout("pod-b"));
  for (int i = 0; i < 5; ++i) {
    clock.Advance(seconds(1));
    recorder->Record(WarningAbout("pod-a"));
  }
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Calls(), (Texts{"POST pod-a", "POST pod-b", "PATCH pod-a 6"}));
  const HttpCall patch = transport.calls()[2];
  EXPECT_EQ(patch.content_type, "application/merge-patch+json");
  EXPECT_EQ(patch.path, "/apis/events.k8s.io/v1/namespaces/ns/events/" +
                            Body(0)["metadata"]["name"].get<std::string>() +
                            "?fieldManager=mindgate");
  EXPECT_EQ(
      Body(2),
      Json({{"series", {{"count", 6}, {"lastObservedTime", "2026-01-01T00:00:05.000000Z"}}}}));
}

TEST_F(EventsFixture, ASeriesIsWrittenWhenItIsDueAlsoWithoutAFlush) {
  const auto recorder = Make();
  recorder->Record(WarningAbout("pod-a"));
  ASSERT_TRUE(recorder->Flush(kLong));
  recorder->Record(WarningAbout("pod-a"));
  clock.Advance(seconds(10));
  recorder->Record(WarningAbout("pod-b"));
  EXPECT_TRUE(Eventually([this] { return transport.calls().size() == 3; }));
  EXPECT_THAT(Calls(),
              ::testing::UnorderedElementsAre("POST pod-a", "PATCH pod-a 2", "POST pod-b"));
}

TEST_F(EventsFixture, TheEndBringsSeriesUpToDate) {
  auto recorder = Make();
  for (int i = 0; i < 3; ++i) recorder->Record(WarningAbout("pod-a"));
  recorder.reset();
  EXPECT_EQ(Calls(), (Texts{"POST pod-a", "PATCH pod-a 3"}));
}

TEST_F(EventsFixture, AnEventThatIsGoneIsRecreatedWithItsCount) {
  answer = [](size_t n, const std::stop_token&) -> Answer<HttpAnswer> {
    return n == 1 ? Status(404, "NotFound") : Ok("{}");
  };
  const auto recorder = Make();
  for (int i = 0; i < 3; ++i) recorder->Record(WarningAbout("pod-a"));
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Calls(), (Texts{"POST pod-a", "PATCH pod-a 3", "POST pod-a 3"}));
  EXPECT_NE(Body(2)["metadata"]["name"], Body(0)["metadata"]["name"]);
}

TEST_F(EventsFixture, WhatTheServerCannotTakeNowIsTriedAgain) {
  answer = [](size_t n, const std::stop_token&) -> Answer<HttpAnswer> {
    if (n == 0) return Failed(Reason::kUnreachable, "refused");
    if (n == 1) return Status(503, "ServiceUnavailable");
    if (n == 2) return Status(409, "AlreadyExists");  // one of the tries had been carried out
    return Ok("{}", 201);
  };
  const auto recorder = Make();
  recorder->Record(WarningAbout("pod-a"));
  recorder->Record(WarningAbout("pod-b"));
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Calls(), (Texts{"POST pod-a", "POST pod-a", "POST pod-a", "POST pod-b"}));
  EXPECT_EQ(Body(1)["metadata"]["name"], Body(0)["metadata"]["name"]);
  EXPECT_EQ(pauses, 2);
  EXPECT_EQ(Show(recorder->counts()), "written 2 dropped 0 limited 0 failed 0");
  const std::lock_guard lock(mutex);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].reason, Reason::kUnreachable);
  EXPECT_EQ(faults[1].reason, Reason::kUnavailable);
}

TEST_F(EventsFixture, WhatItWillNeverTakeIsGivenUp) {
  answer = [](size_t n, const std::stop_token&) -> Answer<HttpAnswer> {
    return n == 0 ? Status(403, "Forbidden") : n <= 12 ? Status(503, "Unavailable") : Ok("{}");
  };
  const auto recorder = Make();
  recorder->Record(WarningAbout("pod-a"));
  recorder->Record(WarningAbout("pod-b"));
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(answered, 13u) << "one try that is forbidden, twelve that come to nothing";
  EXPECT_EQ(pauses, 11);
  EXPECT_EQ(Show(recorder->counts()), "written 0 dropped 0 limited 0 failed 2");
  recorder->Record(WarningAbout("pod-a"));
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Calls().back(), "POST pod-a") << "as if it had not happened before";
}

TEST_F(EventsFixture, RecordingNeverWaitsAndTheQueueIsBounded) {
  std::latch called(1);
  std::latch go_on(1);
  answer = [&](size_t n, const std::stop_token&) {
    if (n == 0) {
      called.count_down();
      go_on.wait();
    }
    return Ok("{}", 201);
  };
  auto options = Options();
  options.queue = 3;
  const auto recorder = Make(options);
  recorder->Record(WarningAbout("pod-a"));
  called.wait();
  for (const char* pod : {"pod-b", "pod-c", "pod-d", "pod-e", "pod-f"}) {
    recorder->Record(WarningAbout(pod));
  }
  EXPECT_EQ(Show(recorder->counts()), "written 0 dropped 2 limited 0 failed 0");
  EXPECT_FALSE(recorder->Flush(milliseconds(0)));
  go_on.count_down();
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(Calls(), (Texts{"POST pod-a", "POST pod-b", "POST pod-c", "POST pod-d"}));
  EXPECT_EQ(Show(recorder->counts()), "written 4 dropped 2 limited 0 failed 0");
}

TEST_F(EventsFixture, ALoopAboutOneObjectIsLimited) {
  const auto recorder = Make();
  for (int i = 0; i < 40; ++i) recorder->Record(WarningAbout("pod-a", std::to_string(i)));
  ASSERT_TRUE(recorder->Flush(kLong));
  EXPECT_EQ(transport.calls().size(), 25u);
  EXPECT_EQ(Show(recorder->counts()), "written 25 dropped 0 limited 15 failed 0");
}

TEST_F(EventsFixture, TheEndComesAlsoWhenTheServerHangs) {
  std::latch called(1);
  answer = [&](size_t, const std::stop_token& stop) -> Answer<HttpAnswer> {
    called.count_down();
    std::mutex waiting;
    std::condition_variable_any stopped;
    std::unique_lock lock(waiting);
    stopped.wait(lock, stop, [] { return false; });
    return Failed(Reason::kStopped, "stopped");
  };
  auto options = Options();
  options.drain = milliseconds(20);
  auto recorder = Make(options);
  for (const char* pod : {"pod-a", "pod-b", "pod-c"}) recorder->Record(WarningAbout(pod));
  called.wait();
  recorder.reset();
  EXPECT_EQ(answered, 1u) << "no call is begun after the time is over";
  EXPECT_TRUE(faults.empty()) << "a stop is no failure to be logged";
}

TEST_F(EventsFixture, TheEndDoesNotWaitForAnotherTry) {
  answer = [](size_t, const std::stop_token&) -> Answer<HttpAnswer> {
    return Failed(Reason::kUnreachable, "refused");
  };
  // Whatever it is at when the end comes, each of them is tried once more at the most.
  TimedPauser stopper([](milliseconds) {});
  Client own(transport, stopper, {.retries = 0});
  auto options = Options();
  options.tries = 1'000'000'000;
  auto recorder = std::make_unique<Recorder>(own, stopper, clock, options, 7);
  recorder->Record(WarningAbout("pod-a"));
  recorder->Record(WarningAbout("pod-b"));
  EXPECT_TRUE(Eventually([this] { return answered > 2; }));
  recorder.reset();
  EXPECT_EQ(Calls().back(), "POST pod-b");
}

TEST_F(EventsFixture, ManyThreadsRecordAtOnce) {
  auto options = Options();
  options.queue = 10'000;
  const auto recorder = Make(options);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&recorder] {
        for (int i = 0; i < 500; ++i)
          recorder->Record(WarningAbout("pod-" + std::to_string(i % 10)));
      });
    }
  }
  ASSERT_TRUE(recorder->Flush(kLong));
  std::map<std::string, int64_t> newest;
  for (const std::string& call : Calls()) {
    const auto space = call.rfind(' ');
    if (call.starts_with("PATCH "))
      newest[call.substr(6, space - 6)] = std::stol(call.substr(space));
  }
  std::map<std::string, int64_t> want;
  for (int i = 0; i < 10; ++i) want["pod-" + std::to_string(i)] = 200;
  EXPECT_EQ(newest, want);
}

}  // namespace
}  // namespace mindgate::kube
