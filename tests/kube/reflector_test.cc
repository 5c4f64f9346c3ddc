#include "kube/reflector.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

namespace mindgate::kube::testing {
namespace {

using Cut = FakeApiServer::Cut;
using mindgate::testing::Eventually;
using mindgate::testing::FakeClock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

const When kWatches{.method = "GET", .target_part = "watch=true"};

Json Pod(const std::string& name, const std::string& phase = "Pending") {
  return {{"metadata", {{"name", name}}}, {"status", {{"phase", phase}}}};
}

// A reflector of pods in a thread of its own, and all that its handler got.
class RunningReflector {
 public:
  explicit RunningReflector(FakeApiServer& fake,
                            Selection selection = {.resource = resources::kPods},
                            const ClientOptions& options = {})
      : transport_(MakeTransport(AccessTo(fake.url()), "mindgate-test")),
        client_(*transport_, sleeper_, options),
        reflector_(client_, sleeper_, clock_, std::move(selection), MakeHandler(), 1) {
    Start();
  }
  ~RunningReflector() { Stop(); }

  void Start() {
    thread_ = std::jthread([this](std::stop_token stop) { reflector_.Run(std::move(stop)); });
  }

  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  // What it got, once the last of it is `last`; what there is after some seconds.
  std::vector<std::string> ReportedUntil(const std::string& last) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(30),
                      [&] { return !reported_.empty() && reported_.back() == last; });
    return reported_;
  }
  // Stops by itself after so many pauses.
  void StopAfter(size_t pauses) {
    sleeper_.Then([this, pauses] {
      if (sleeper_.pauses().size() >= pauses) thread_.request_stop();
    });
    thread_.join();
  }

  void ListAfterThisWatch() { wants_list_ = true; }
  FakeSleeper& sleeper() { return sleeper_; }
  FakeClock& clock() { return clock_; }
  Reflector& reflector() { return reflector_; }
  std::vector<Fault> faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

 private:
  Reflector::Handler MakeHandler() {
    return {
        .list_started = [this] { Report("list"); },
        .listed = [this](const json::Value& object) { Report(NameOf(json::TreeOf(object))); },
        .left_out = [this](const json::Value& object,
                           const Fault&) { Report("left out " + NameOf(json::TreeOf(object))); },
        .list_done = [this] { Report("listed"); },
        .happened =
            [this](const WatchEvent& event) {
              const char* const kTypes[] = {"added ", "modified ", "deleted ", "bookmark "};
              Report(kTypes[static_cast<int>(event.type)] + NameOf(json::TreeOf(event.object)));
            },
        .failed =
            [this](const Fault& fault, milliseconds) {
              {
                const std::lock_guard lock(mutex_);
                faults_.push_back(fault);
              }
              Report(std::string(ReasonName(fault.reason)));
            },
        .wants_list = [this] { return wants_list_.exchange(false); }};
  }

  void Report(std::string what) {
    const std::lock_guard lock(mutex_);
    reported_.push_back(std::move(what));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> reported_;
  std::vector<Fault> faults_;
  std::atomic<bool> wants_list_ = false;
  FakeSleeper sleeper_;
  FakeClock clock_;
  std::unique_ptr<Transport> transport_;
  Client client_;
  Reflector reflector_;
  std::jthread thread_;
};

std::vector<std::string> Targets(const FakeApiServer& fake, const When& when) {
  std::vector<std::string> targets;
  for (const HttpRequest& request : fake.Requests(when)) targets.push_back(request.target);
  return targets;
}

TEST(Reflector, ListsInPagesAndWatchesFromThere) {
  FakeApiServer fake;
  for (const char* name : {"a", "b", "c"}) fake.Put(resources::kPods, Pod(name));
  const std::string version = fake.version();
  RunningReflector running(fake, {.resource = resources::kPods,
                                  .ns = "default",
                                  .label_selector = "!hidden",
                                  .field_selector = "spec.nodeName=",
                                  .first_page = 2});
  ASSERT_TRUE(fake.WaitForWatches(1));
  fake.Put(resources::kPods, Pod("d"));
  fake.Put(resources::kPods, Pod("a", "Running"));
  fake.Remove(resources::kPods, "default", "b");
  EXPECT_THAT(running.ReportedUntil("deleted b"),
              ElementsAre("list", "a", "b", "c", "listed", "added d", "modified a", "deleted b"));
  const std::vector<std::string> targets = Targets(fake, {});
  ASSERT_THAT(targets, SizeIs(3));
  EXPECT_THAT(targets[0], AllOf(HasSubstr("limit=2"), HasSubstr("labelSelector=%21hidden"),
                                Not(HasSubstr("resourceVersion"))));
  EXPECT_THAT(targets[1], AllOf(HasSubstr("continue="), HasSubstr("limit=4")));
  EXPECT_THAT(targets[2], AllOf(HasSubstr("watch=true"), HasSubstr("allowWatchBookmarks=true"),
                                HasSubstr("labelSelector=%21hidden"), HasSubstr("spec.nodeName%3D"),
                                HasSubstr("resourceVersion=" + version + "&")));
  EXPECT_THAT(running.faults(), IsEmpty());
  EXPECT_THAT(running.sleeper().pauses(), IsEmpty());
}

TEST(Reflector, ACutWatchGoesOnWithoutAnotherList) {
  for (const Cut cut : {Cut::kOrderly, Cut::kConnection, Cut::kMidLine}) {
    FakeApiServer fake;
    RunningReflector running(fake);
    ASSERT_TRUE(fake.WaitForWatches(1));
    const Json a = fake.Put(resources::kPods, Pod("a"));
    running.ReportedUntil("added a");
    fake.CutWatches(cut);
    ASSERT_TRUE(fake.WaitForRequests(kWatches, 2));
    fake.Put(resources::kPods, Pod("b"));
    const bool broken = cut != Cut::kOrderly;
    const std::vector<std::string> reported = running.ReportedUntil("added b");
    if (broken) {
      EXPECT_THAT(reported, ElementsAre("list", "listed", "added a", "Unreachable", "added b"));
    } else {
      EXPECT_THAT(reported, ElementsAre("list", "listed", "added a", "added b"));
    }
    EXPECT_THAT(Targets(fake, kWatches)[1], HasSubstr("resourceVersion=" + VersionOf(a) + "&"));
    EXPECT_THAT(running.sleeper().pauses(), SizeIs(1));
    EXPECT_EQ(running.reflector().counts().lists, 1u);
    EXPECT_EQ(running.reflector().counts().watches, 2u);
    EXPECT_EQ(running.reflector().counts().faults, broken ? 1u : 0u);
  }
}

TEST(Reflector, AfterALongWatchTheNextBeginsAtOnce) {
  FakeApiServer fake;
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  running.clock().Advance(seconds(300));
  fake.CutWatches(Cut::kOrderly);
  ASSERT_TRUE(fake.WaitForRequests(kWatches, 2));
  EXPECT_THAT(running.sleeper().pauses(), IsEmpty());
}

TEST(Reflector, AnExpiredVersionMakesItListAgain) {
  FakeApiServer fake;
  fake.Put(resources::kPods, Pod("a"));
  fake.Put(resources::kPods, Pod("b"));
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  const auto gate = fake.Hold(kWatches);
  fake.CutWatches(Cut::kOrderly);
  ASSERT_TRUE(gate->WaitUntilHeld());
  fake.Remove(resources::kPods, "default", "a");
  fake.Put(resources::kPods, Pod("c"));
  fake.Compact();
  gate->Release();
  ASSERT_TRUE(fake.WaitForWatches(1));
  fake.Put(resources::kPods, Pod("d"));
  EXPECT_THAT(running.ReportedUntil("added d"), ElementsAre("list", "a", "b", "listed", "Expired",
                                                            "list", "b", "c", "listed", "added d"));
  EXPECT_THAT(running.sleeper().pauses(), SizeIs(2));
  EXPECT_EQ(running.reflector().counts().lists, 2u);
}

// Some servers, and proxies before them, say it by the status of the answer.
TEST(Reflector, AGoneWatchMakesItListAgain) {
  FakeApiServer fake;
  fake.AnswerNext(1, kWatches, StatusAnswer(410, "Gone", "too old"));
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_THAT(running.ReportedUntil("listed"),
              ElementsAre("list", "listed", "Expired", "list", "listed"));
}

TEST(Reflector, AnExpiredPageStartsTheListOver) {
  FakeApiServer fake;
  for (const char* name : {"a", "b", "c"}) fake.Put(resources::kPods, Pod(name));
  const auto gate = fake.Hold({.target_part = "continue="});
  RunningReflector running(fake, {.resource = resources::kPods, .first_page = 2});
  ASSERT_TRUE(gate->WaitUntilHeld());
  fake.Put(resources::kPods, Pod("bb"));
  fake.Compact();
  gate->Release();
  EXPECT_THAT(running.ReportedUntil("listed"),
              ElementsAre("list", "a", "b", "list", "a", "b", "bb", "c", "listed"));
  EXPECT_THAT(running.faults(), IsEmpty());
}

// The watch would meet the same event again and again.
TEST(Reflector, AnEventThatIsTooLargeMakesItListAgain) {
  FakeApiServer fake;
  fake.Put(resources::kPods, Pod("a"));
  fake.Put(resources::kPods, Pod("b"));
  RunningReflector running(fake, {.resource = resources::kPods},
                           {.page_bytes = 4 * 1024, .object_bytes = 8 * 1024});
  ASSERT_TRUE(fake.WaitForWatches(1));
  Json large = Pod("a");
  large["spec"]["nodeName"] = std::string(20 * 1024, 'x');
  fake.Put(resources::kPods, large);
  ASSERT_TRUE(fake.WaitForRequests(kWatches, 2));
  fake.Put(resources::kPods, Pod("a", "Running"));
  EXPECT_THAT(running.ReportedUntil("modified a"),
              ElementsAre("list", "a", "b", "listed", "TooLarge", "list", "left out a", "b",
                          "listed", "modified a"));
}

TEST(Reflector, ListsAgainWhenItIsAskedTo) {
  FakeApiServer fake;
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  running.ListAfterThisWatch();
  fake.Put(resources::kPods, Pod("a"));
  EXPECT_THAT(running.ReportedUntil("added a"), ElementsAre("list", "listed", "added a"));
  fake.CutWatches(Cut::kOrderly);
  EXPECT_THAT(running.ReportedUntil("listed"),
              ElementsAre("list", "listed", "added a", "list", "a", "listed"));
}

TEST(Reflector, MetadataIsEnough) {
  FakeApiServer fake;
  fake.Put(resources::kPods, Pod("a"));
  RunningReflector running(fake, {.resource = resources::kPods, .metadata_only = true});
  ASSERT_TRUE(fake.WaitForWatches(1));
  fake.Put(resources::kPods, Pod("b"));
  EXPECT_THAT(running.ReportedUntil("added b"), ElementsAre("list", "a", "listed", "added b"));
  std::vector<std::string> accepted;
  for (const HttpRequest& request : fake.Requests()) {
    accepted.push_back(request.headers.at("accept"));
  }
  EXPECT_THAT(accepted,
              ElementsAre("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                          "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"));
}

// A collection in which nothing happens would fall behind what the server remembers.
TEST(Reflector, BookmarksKeepItsVersionFresh) {
  for (const bool bookmarks : {true, false}) {
    FakeApiServer fake;
    RunningReflector running(fake);
    ASSERT_TRUE(fake.WaitForWatches(1));
    fake.Put(resources::kConfigMaps, {{"metadata", {{"name", "elsewhere"}}}});
    const std::string version = fake.version();
    if (bookmarks) fake.SendBookmarks();
    fake.Compact();
    fake.CutWatches(Cut::kOrderly);
    ASSERT_TRUE(fake.WaitForRequests(kWatches, bookmarks ? 2 : 3));
    EXPECT_THAT(Targets(fake, kWatches).back(), HasSubstr("resourceVersion=" + version + "&"));
    EXPECT_EQ(running.reflector().counts().lists, bookmarks ? 1u : 2u);
  }
}

TEST(Reflector, NoFaultMakesAStorm) {
  const auto line = [](const std::string& text) {
    HttpResponse answer;
    answer.stream = [text](HttpStream& stream) { return stream.Write(text); };
    return answer;
  };
  struct Case {
    const char* what;
    When when;
    HttpResponse answer;
    size_t requests_a_pause;
  };
  const std::vector<Case> cases = {
      {"down", {}, StatusAnswer(503, "ServiceUnavailable", "down"), 1},
      {"no answer", {}, NoAnswer(), 1},
      {"a proxy", {}, HtmlAnswer(502), 1},
      {"garbage", {}, {.body = "garbage"}, 1},
      {"no role", {}, StatusAnswer(403, "Forbidden", "no"), 1},
      {"no credentials", {}, StatusAnswer(401, "Unauthorized", "no"), 2},
      {"no such resource", {}, StatusAnswer(404, "NotFound", "no"), 1},
      {"busy", {}, StatusAnswer(429, "TooManyRequests", "later", 1), 1},
      {"lists work, watches do not", kWatches, StatusAnswer(500, "InternalError", "no"), 1},
      {"watches end at once", kWatches, line(""), 1},
      {"watches end within a line", kWatches, line("{"), 1},
      {"watches are garbage", kWatches, line("garbage\n"), 1},
      {"watches always expire", kWatches, StatusAnswer(410, "Expired", "too old"), 2},
  };
  constexpr size_t kPauses = 20;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    FakeApiServer fake;
    fake.AnswerNext(1'000'000, c.when, c.answer);
    RunningReflector running(fake);
    running.StopAfter(kPauses);
    const std::vector<milliseconds> pauses = running.sleeper().pauses();
    EXPECT_THAT(pauses, SizeIs(kPauses));
    EXPECT_THAT(fake.Count(), AllOf(Ge(2u), Le((kPauses + 1) * c.requests_a_pause)));
    if (std::string(c.what) == "busy") continue;  // those are as the server said
    // Doubling from half a second to half a minute, each spread by half.
    milliseconds base(500);
    for (const milliseconds pause : pauses) {
      EXPECT_THAT(pause, AllOf(Ge(base / 2), Le(base * 3 / 2)));
      base = std::min<milliseconds>(base * 2, seconds(30));
    }
  }
}

TEST(Reflector, AFaultIsReportedAndOvercome) {
  FakeApiServer fake;
  fake.Put(resources::kPods, Pod("a"));
  fake.AnswerNext(1, {}, StatusAnswer(503, "ServiceUnavailable", "down"));
  HttpResponse half;
  half.raw = [](HttpStream& stream) {
    stream.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
  };
  fake.AnswerNext(1, {}, half);
  RunningReflector running(fake);
  EXPECT_THAT(running.ReportedUntil("listed"),
              ElementsAre("list", "Unavailable", "list", "Unreachable", "list", "a", "listed"));
  ASSERT_THAT(running.faults(), SizeIs(2));
  EXPECT_THAT(running.faults()[0].message, HasSubstr("down"));
}

TEST(Reflector, WaitsAsLongAsTheServerAsks) {
  FakeApiServer fake;
  fake.AnswerNext(1, kWatches, StatusAnswer(429, "TooManyRequests", "later", 120));
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_THAT(running.sleeper().pauses(), ElementsAre(seconds(120)));
}

// What happened while it did not run is not known before the list.
TEST(Reflector, FollowsNothingWhileItDoesNotRun) {
  FakeApiServer fake;
  RunningReflector running(fake);
  ASSERT_TRUE(fake.WaitForWatches(1));
  EXPECT_TRUE(running.reflector().following());
  running.Stop();
  EXPECT_FALSE(running.reflector().following());
  fake.Put(resources::kPods, Pod("a"));
  const auto gate = fake.Hold({.target_part = "limit="});
  running.Start();
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_FALSE(running.reflector().following());
  gate->Release();
  ASSERT_TRUE(Eventually([&] { return running.reflector().following(); }));
  EXPECT_THAT(running.ReportedUntil("listed"),
              ElementsAre("list", "listed", "list", "a", "listed"));
}

TEST(Reflector, StopsWhileItListsAndWhileItWatches) {
  FakeApiServer fake;
  {
    RunningReflector watching(fake);
    ASSERT_TRUE(fake.WaitForWatches(1));
  }
  EXPECT_TRUE(fake.WaitForWatches(0));
  const auto gate = fake.Hold({.target_part = "limit="});
  {
    RunningReflector listing(fake);
    ASSERT_TRUE(gate->WaitUntilHeld());
    listing.Stop();
    EXPECT_THAT(listing.faults(), IsEmpty());
  }
  gate->Release();
}

}  // namespace
}  // namespace mindgate::kube::testing
