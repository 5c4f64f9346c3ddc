// What the controllers share: the informer of pods, terms and what is written under them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/mutex.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/running_clock.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/leadership.h"
#include "watcher/frame/nodes.h"
#include "watcher/frame/pods.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using mindgate::testing::Eventually;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

struct FrameTest : ::testing::Test {
  mindgate::testing::RunningClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  kube::RealSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, LeaderClient::kOptions};
  log::Logger logger{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};

  Json Put(const std::string& name, const std::string& label = "") {
    Json pod = {{"metadata", {{"namespace", "ns"}, {"name", name}}},
                {"spec", {{"nodeName", "n"}}},
                {"status", {{"phase", "Running"}}}};
    if (!label.empty()) pod["metadata"]["labels"] = {{"wanted", label}};
    return server.Put(resources::kPods, pod);
  }
};

// A controller that keeps one text of each pod.
struct PodReader {
  std::mutex mutex;
  std::map<std::string, std::string> kept;
  std::atomic<bool> wanted = true;
  std::atomic<int> became_current = 0;

  void SubscribeTo(PodInformer& pods, const std::string& selector, const std::string& section,
                   const std::string& key) {
    using Kept = std::pair<std::string, std::string>;
    PodInformer::Subscription<Kept> subscription;
    subscription.wanted = [this] { return wanted.load(); };
    subscription.label_selector = selector;
    subscription.fields = {{section, key}, {"metadata", "labels"}};
    subscription.project = [=](const json::Value& pod) -> PodInformer::Ptr<Kept> {
      if (!selector.empty() && json::FindPath(pod, {"metadata", "labels"}) == nullptr) {
        return nullptr;
      }
      const auto text = [&](std::string_view of, std::string_view member) {
        return std::string(json::AsString(json::FindPath(pod, {of, member})).value_or(""));
      };
      return std::make_shared<const Kept>(text("metadata", "name"), text(section, key));
    };
    subscription.changed = [this](const PodInformer::Ptr<Kept>& before,
                                  const PodInformer::Ptr<Kept>& after) {
      const std::lock_guard lock(mutex);
      if (before != nullptr) kept.erase(before->first);
      if (after != nullptr) kept.insert(*after);
    };
    subscription.became_current = [this] { ++became_current; };
    pods.Subscribe<Kept>(std::move(subscription));
  }
  bool Has(const std::map<std::string, std::string>& want) {
    return Eventually([&] {
      const std::lock_guard lock(mutex);
      return kept == want;
    });
  }
};

TEST_F(FrameTest, OneWatchOfPodsServesAllControllers) {
  PodInformer pods(client, sleeper, clock, {});
  PodReader all;
  PodReader labelled;
  all.SubscribeTo(pods, "", "spec", "nodeName");
  labelled.SubscribeTo(pods, "wanted", "status", "phase");
  Put("a", "yes");
  Put("b");
  Json ended = Put("c");
  ended["status"]["phase"] = "Succeeded";
  server.Put(resources::kPods, ended);
  std::jthread run([&](const std::stop_token& stop) { pods.Run(stop); });
  EXPECT_TRUE(all.Has({{"a", "n"}, {"b", "n"}}));
  EXPECT_TRUE(labelled.Has({{"a", "Running"}}));
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_EQ(server.Count({.method = "GET", .target_part = "/pods?"}), 2U) << "a list and a watch";
  EXPECT_TRUE(Eventually([&] { return all.became_current > 0 && labelled.became_current > 0; }));
  server.Remove(resources::kPods, "ns", "a");
  EXPECT_TRUE(all.Has({{"b", "n"}}));
  EXPECT_TRUE(labelled.Has({}));
}

TEST_F(FrameTest, OnlyPodsThatSomebodyWantsAreFollowed) {
  PodInformer pods(client, sleeper, clock, {});
  PodReader all;
  PodReader labelled;
  all.wanted = false;
  all.SubscribeTo(pods, "", "spec", "nodeName");
  labelled.SubscribeTo(pods, "wanted", "status", "phase");
  Put("a", "yes");
  Put("b");
  std::jthread run([&](const std::stop_token& stop) { pods.Run(stop); });
  EXPECT_TRUE(labelled.Has({{"a", "Running"}}));
  EXPECT_TRUE(all.Has({}));
  for (const auto& request : server.Requests({.target_part = "/pods?"})) {
    EXPECT_THAT(request.target, HasSubstr("labelSelector=wanted"));
  }
  // What went while another selector is listed is told, too.
  all.wanted = true;
  server.Remove(resources::kPods, "ns", "a");
  pods.Refresh();
  EXPECT_TRUE(all.Has({{"b", "n"}}));
  EXPECT_TRUE(labelled.Has({}));
  all.wanted = false;
  labelled.wanted = false;
  pods.Refresh();
  EXPECT_TRUE(Eventually([&] { return server.watches() == 0; }));
  EXPECT_TRUE(Eventually([&] { return !pods.current(); }));
}

// H5: that a watch was opened again says nothing, what happened meanwhile is still to come.
TEST_F(FrameTest, AWatchThatBrokeIsCurrentAfterAnEventOrABookmark) {
  PodInformer pods(client, sleeper, clock, {});
  PodReader all;
  all.SubscribeTo(pods, "", "spec", "nodeName");
  std::jthread run([&](const std::stop_token& stop) { pods.Run(stop); });
  ASSERT_TRUE(Eventually([&] { return pods.current(); }));
  for (const bool bookmark : {true, false}) {
    SCOPED_TRACE(bookmark);
    ASSERT_TRUE(server.WaitForWatches(1));
    server.ForgetRequests();
    server.CutWatches(kube::testing::FakeApiServer::Cut::kConnection);
    ASSERT_TRUE(Eventually([&] { return !pods.current(); }));
    ASSERT_TRUE(server.WaitForWatches(1));
    EXPECT_FALSE(pods.current());
    EXPECT_THAT(server.Requests({.target_part = "watch=true"}).front().target,
                ::testing::EndsWith("timeoutSeconds=5"))
        << "a server sends a bookmark before the end of a watch";
    if (bookmark) {
      server.SendBookmarks();
    } else {
      Put("a");
    }
    EXPECT_TRUE(Eventually([&] { return pods.current(); }));
  }
  // One that ended in good order has told everything.
  ASSERT_TRUE(server.WaitForWatches(1));
  server.CutWatches(kube::testing::FakeApiServer::Cut::kOrderly);
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_TRUE(pods.current());
}

TEST_F(FrameTest, NodesOnWhichNothingCanBePlaced) {
  const auto put = [&](const std::string& name, const Json& spec, const char* ready) {
    server.Put(resources::kNodes, {{"metadata", {{"name", name}}},
                                   {"spec", spec},
                                   {"status",
                                    {{"conditions",
                                      {{{"type", "MemoryPressure"}, {"status", "False"}},
                                       {{"type", "Ready"}, {"status", ready}}}}}}});
  };
  put("fine", Json::object(), "True");
  put("cordoned", {{"unschedulable", true}}, "True");
  put("dead", Json::object(), "Unknown");
  std::atomic<int> changes = 0;
  NodeInformer nodes(client, sleeper, clock, {.changed = [&] { ++changes; }});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  const auto unusable = [&](const std::set<std::string, std::less<>>& want) {
    return Eventually([&] { return nodes.unusable() == want; });
  };
  EXPECT_TRUE(unusable({"cordoned", "dead"}));
  EXPECT_TRUE(Eventually([&] { return changes == 2; }));
  put("dead", Json::object(), "True");
  EXPECT_TRUE(unusable({"cordoned"}));
  EXPECT_TRUE(Eventually([&] { return changes == 3; }));
}

// A serial number is of one node: of none while two say that they have it.
TEST_F(FrameTest, NodesAreFoundByTheirSerialNumber) {
  const auto put = [&](const std::string& name, const Json& labels, const Json& annotations) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}, {"labels", labels}, {"annotations", annotations}}}});
  };
  const auto label = [](const std::string& serial) {
    return Json{{"huawei.com/npu.server.serial-number", serial}};
  };
  const Json old = {{"product-serial-number", "210-old"}};
  put("n0", label("210-a"), old);
  put("n1", Json::object(), old);
  put("n2", label(std::string(kMaxSerialNumber + 1, '2')), Json::object());
  Mutex mutex;
  std::set<std::string> changed;
  NodeInformer nodes(client, sleeper, clock,
                     {.serials = true, .serials_changed = [&](const std::set<std::string>& names) {
                        const MutexLock lock(mutex);
                        changed.insert(names.begin(), names.end());
                      }});
  NodeInformer without(client, sleeper, clock, {});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  std::jthread run_without([&](const std::stop_token& stop) { without.Run(stop); });
  const auto told = [&](const std::set<std::string>& want) {
    return Eventually([&] {
      const MutexLock lock(mutex);
      if (changed != want) return false;
      changed.clear();
      return true;
    });
  };
  ASSERT_TRUE(told({"n0", "n1"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "n0");
  EXPECT_EQ(nodes.SerialOf("n0"), "210-a");
  EXPECT_EQ(nodes.NodeOf("210-old"), "n1") << "where there is no label";
  EXPECT_EQ(nodes.SerialOf("n2"), "");
  EXPECT_EQ(nodes.NodeOf("210-b"), "");
  put("n2", label("210-a"), Json::object());
  ASSERT_TRUE(told({"n0", "n2"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "");
  EXPECT_EQ(nodes.SerialOf("n0"), "");
  server.Remove(resources::kNodes, "", "n0");
  ASSERT_TRUE(told({"n0", "n2"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "n2");
  ASSERT_TRUE(Eventually([&] { return without.synced(); }));
  EXPECT_EQ(without.SerialOf("n2"), "") << "nobody asked for it";
}

// What is looked at is not what a change throws away meanwhile (a use after free, once).
TEST_F(FrameTest, NodesAreAskedWhileTheyChange) {
  const auto put = [&](bool ready) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", "n0"}}},
                {"status",
                 {{"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}});
  };
  put(true);
  std::atomic<int> changes = 0;
  NodeInformer nodes(client, sleeper, clock, {.changed = [&] { ++changes; }});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  std::jthread ask([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)nodes.IsReady("n0");
  });
  ASSERT_TRUE(Eventually([&] { return nodes.IsReady("n0"); }));
  ASSERT_TRUE(server.WaitForWatches(1));
  for (int i = 0; i < 100; ++i) put(i % 2 == 1);
  put(false);
  EXPECT_TRUE(Eventually([&] { return !nodes.IsReady("n0") && changes >= 100; }));
}

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

// L4: what PodDisruptionBudgets say is asked without doing it, where admission can see that.
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
