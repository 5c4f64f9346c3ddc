// Which ConfigMaps the watcher reads, and what it makes of what is too large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "support/fake_clock.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using kube::testing::HttpRequest;
using ::mindgate::testing::Eventually;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
namespace resources = kube::resources;

Json ConfigMap(const std::string& ns, const std::string& name, Json data) {
  return {{"metadata", {{"namespace", ns}, {"name", name}}}, {"data", std::move(data)}};
}
Json Rule(const std::string& ns, const std::string& name, const std::string& text) {
  return ConfigMap(ns, name, {{"elastic_scaling.json", text}});
}

// "metadata", "watch", "ns/rule", or "all" of what nobody wants to read.
std::vector<std::string> ReadsOf(const FakeApiServer& server) {
  std::vector<std::string> reads;
  for (const HttpRequest& request : server.Requests({.target_part = "/configmaps"})) {
    const bool metadata =
        request.headers.at("accept").find("as=PartialObjectMetadata") != std::string::npos;
    const auto of = request.query.find("fieldSelector");
    const std::string selector = of == request.query.end() ? "" : of->second;
    constexpr std::string_view kName = "metadata.name=";
    if (metadata) {
      reads.emplace_back(request.query.contains("watch") ? "watch" : "metadata");
    } else if (selector.starts_with(kName)) {
      constexpr std::string_view kAbove = "/api/v1/namespaces/";
      const std::string ns = request.path.substr(kAbove.size());
      reads.push_back(ns.substr(0, ns.find('/')) + "/" + selector.substr(kName.size()));
    } else {
      reads.emplace_back("all");
    }
  }
  return reads;
}

// A feed of rules in threads of its own, and what it reported: "ns/rule: 2 shapes".
class RunningFeed {
 public:
  explicit RunningFeed(const Cluster& cluster, RuleFeed::Options options = {},
                       const kube::ClientOptions& of_client = {})
      : RunningFeed(cluster, cluster.clock, std::move(options), of_client) {}
  RunningFeed(const Cluster& cluster, const Clock& clock, RuleFeed::Options options = {},
              const kube::ClientOptions& of_client = {})
      : transport_(Replica::OverHttp(cluster)),
        client_(*transport_, sleeper_, of_client),
        feed_(client_, sleeper_, clock, With(std::move(options))) {}
  ~RunningFeed() { thread_.request_stop(); }

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { feed_.Run(stop); });
  }
  RuleFeed& feed() { return feed_; }
  // What was reported, as soon as it is so much.
  std::vector<std::string> Reported(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return reported_.size() >= count; });
    return reported_;
  }

 private:
  RuleFeed::Options With(RuleFeed::Options options) {
    options.read = [this](const RuleName& rule, const std::shared_ptr<const RuleState>& state) {
      const std::lock_guard lock(mutex_);
      const std::string what = state == nullptr ? "none"
                               : state->rule
                                   ? std::to_string(state->rule->tiers.size()) +
                                         (state->rule->tiers.size() == 1 ? " shape" : " shapes")
                                   : state->why_not;
      reported_.push_back(rule.ns + "/" + rule.name + ": " + what);
      changed_.notify_all();
    };
    return options;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> reported_;
  kube::RealSleeper sleeper_;
  std::unique_ptr<kube::Transport> transport_;
  kube::Client client_;
  RuleFeed feed_;
  std::jthread thread_;
};

struct RuleFeedTest : ::testing::Test {
  Cluster cluster;
  FakeApiServer& server = cluster.server;

  void Put(const std::string& name, const std::string& text) {
    server.Put(resources::kConfigMaps, Rule("ns", name, text));
  }
};

// A tenant who writes a megabyte again and again costs the rules of others nothing.
TEST_F(RuleFeedTest, WhatIsTooLargeForARuleIsReadOnceInAWhile) {
  testing::FakeClock clock;
  const auto put_large = [&](char filler) {
    Put("large", std::string(schemas::kMaxScalingRule + 1, filler));
  };
  put_large('a');
  Put("a", kOneShape);
  RunningFeed running(cluster, clock);
  running.feed().Follow({"ns", "large"});
  running.feed().Follow({"ns", "a"});
  running.Start();
  ASSERT_THAT(running.Reported(2), SizeIs(2));
  ASSERT_TRUE(server.WaitForWatches(1));
  server.ForgetRequests();
  // Read in the order of their changes, were it not for its rest.
  put_large('b');
  Put("a", kTwoShapes);
  EXPECT_THAT(running.Reported(3).back(), "ns/a: 2 shapes");
  EXPECT_THAT(ReadsOf(server), ElementsAre("ns/a"));
  EXPECT_FALSE(running.feed().IsKnown({"ns", "large"}));
  clock.Advance(std::chrono::seconds(5));
  Put("a", kOneShape);
  running.Reported(5);
  EXPECT_THAT(ReadsOf(server), UnorderedElementsAre("ns/a", "ns/a", "ns/large"));
  EXPECT_TRUE(running.feed().IsKnown({"ns", "large"}));
}

TEST_F(RuleFeedTest, OnlyRulesThatAreFollowedAreRead) {
  Put("a", kOneShape);
  Put("b", kTwoShapes);
  RunningFeed running(cluster);
  running.feed().Follow({"ns", "a"});
  EXPECT_FALSE(running.feed().synced());
  running.Start();
  EXPECT_THAT(running.Reported(1), ElementsAre("ns/a: 1 shape"));
  ASSERT_TRUE(running.feed().WaitSynced(std::chrono::seconds(30), {}));
  ASSERT_TRUE(server.WaitForWatches(1));

  running.feed().Follow({"ns", "b"});
  running.feed().Follow({"ns", "b"});
  EXPECT_THAT(running.Reported(2), ElementsAre("ns/a: 1 shape", "ns/b: 2 shapes"));
  running.feed().Forget({"ns", "a"});
  Put("a", kTwoShapes);
  Put("b", kOneShape);
  EXPECT_THAT(running.Reported(3), ElementsAre("ns/a: 1 shape", "ns/b: 2 shapes", "ns/b: 1 shape"));
  EXPECT_THAT(ReadsOf(server), UnorderedElementsAre("metadata", "ns/a", "watch", "ns/b", "ns/b"));
  EXPECT_FALSE(running.feed().IsKnown({"ns", "a"}));
  EXPECT_TRUE(Eventually([&] { return running.feed().IsKnown({"ns", "b"}); }));
}

TEST_F(RuleFeedTest, WhatComesAndGoesIsReported) {
  RunningFeed running(cluster);
  running.feed().Follow({"ns", "a"});
  running.Start();
  EXPECT_THAT(running.Reported(1), ElementsAre("ns/a: none"));
  ASSERT_TRUE(server.WaitForWatches(1));
  server.Put(resources::kConfigMaps, ConfigMap("ns", "a", {{"other", "x"}}));
  EXPECT_THAT(running.Reported(2), SizeIs(2));
  Put("a", kOneShape);
  EXPECT_THAT(running.Reported(3), SizeIs(3));
  server.Remove(resources::kConfigMaps, "ns", "a");
  EXPECT_THAT(running.Reported(4),
              ElementsAre("ns/a: none", "ns/a: none", "ns/a: 1 shape", "ns/a: none"));
}

TEST_F(RuleFeedTest, ARuleThatMayHaveChangedIsNotKnownUntilItIsRead) {
  Put("a", kOneShape);
  RunningFeed running(cluster);
  running.feed().Follow({"ns", "a"});
  running.Start();
  ASSERT_TRUE(server.WaitForWatches(1));
  ASSERT_TRUE(Eventually([&] { return running.feed().IsKnown({"ns", "a"}); }));
  const auto gate = server.Hold({.target_part = "fieldSelector"});
  Put("a", kTwoShapes);
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_FALSE(running.feed().IsKnown({"ns", "a"}));
  EXPECT_TRUE(running.feed().current());
  gate->Release();
  EXPECT_THAT(running.Reported(2), ElementsAre("ns/a: 1 shape", "ns/a: 2 shapes"));
  EXPECT_TRUE(Eventually([&] { return running.feed().IsKnown({"ns", "a"}); }));
}

// Nobody knows what happened between the watch that ended and the new list.
TEST_F(RuleFeedTest, AfterANewListAllThatIsFollowedIsReadAgain) {
  Put("a", kOneShape);
  RunningFeed running(cluster);
  running.feed().Follow({"ns", "a"});
  running.Start();
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_THAT(running.Reported(1), SizeIs(1));
  const auto gate = server.Hold({.target_part = "watch=true"});
  server.CutWatches(FakeApiServer::Cut::kConnection);
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_FALSE(running.feed().current());
  Put("a", kTwoShapes);
  server.Compact();
  gate->Release();
  EXPECT_THAT(running.Reported(2), ElementsAre("ns/a: 1 shape", "ns/a: 2 shapes"));
}

TEST_F(RuleFeedTest, AReadThatFailsIsRetried) {
  Put("a", kOneShape);
  server.AnswerNext(1, {.target_part = "fieldSelector"},
                    kube::testing::StatusAnswer(500, "InternalError", "no"));
  std::mutex mutex;
  std::vector<std::string> faults;
  RunningFeed running(cluster, {.failed = [&](const kube::Fault& fault, std::chrono::milliseconds) {
                        const std::lock_guard lock(mutex);
                        faults.emplace_back(kube::ReasonName(fault.reason));
                      }});
  running.feed().Follow({"ns", "a"});
  running.Start();
  EXPECT_THAT(running.Reported(1), ElementsAre("ns/a: 1 shape"));
  EXPECT_TRUE(running.feed().WaitSynced(std::chrono::seconds(30), {}));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(faults, ElementsAre("Unavailable"));
}

TEST_F(RuleFeedTest, WhereNoRuleMayBeNothingIsRead) {
  server.Put(resources::kConfigMaps, Rule("kube-system", "a", kOneShape));
  server.Put(resources::kConfigMaps, Rule("elsewhere", "a", kOneShape));
  for (const char* ns : {"", "ns"}) {
    server.ForgetRequests();
    RunningFeed running(cluster, {.ns = ns, .without = {"kube-system", "elsewhere"}});
    for (const RuleName& rule :
         {RuleName("kube-system", "a"), RuleName("elsewhere", "a"), RuleName("ns", "")}) {
      running.feed().Follow(rule);
      EXPECT_TRUE(running.feed().IsKnown(rule)) << "it is known that there is none";
    }
    running.feed().Follow({"ns", "b"});
    running.Start();
    EXPECT_THAT(running.Reported(1), ElementsAre("ns/b: none"));
    ASSERT_TRUE(server.WaitForWatches(1));
    server.Put(resources::kConfigMaps, Rule("elsewhere", "a", kTwoShapes));
    Put("b", kOneShape);
    EXPECT_THAT(running.Reported(2), ElementsAre("ns/b: none", "ns/b: 1 shape"));
    EXPECT_THAT(ReadsOf(server), UnorderedElementsAre("metadata", "ns/b", "watch", "ns/b"));
    server.Remove(resources::kConfigMaps, "ns", "b");
    // Or its last read would count as one of the next turn.
    EXPECT_THAT(running.Reported(3), ElementsAre("ns/b: none", "ns/b: 1 shape", "ns/b: none"));
  }
}

TEST_F(RuleFeedTest, ARuleThatIsTooLargeIsNoRule) {
  server.Put(resources::kConfigMaps,
             ConfigMap("ns", "a",
                       {{"elastic_scaling.json", kOneShape}, {"x", std::string(20 * 1024, 'x')}}));
  RunningFeed running(cluster, {}, {.page_bytes = 4 * 1024, .object_bytes = 8 * 1024});
  running.feed().Follow({"ns", "a"});
  running.Start();
  EXPECT_THAT(running.Reported(1), ElementsAre("ns/a: ConfigMap \"a\" is too large to be read"));
  ASSERT_TRUE(server.WaitForWatches(1));
  Put("a", kOneShape);
  EXPECT_THAT(running.Reported(2), ElementsAre(::testing::_, "ns/a: 1 shape"));
}

// A tenant's namespace full of them delays nobody, as nobody reads them.
TEST(ScalingRules, SeventyConfigMapsOfAMegabyteBesideTheRule) {
  Cluster cluster;
  for (int i = 0; i < 70; ++i) {
    cluster.server.Put(resources::kConfigMaps,
                       ConfigMap(i % 2 == 0 ? "ns" : "tenant", "large-" + std::to_string(i),
                                 {{"x", std::string(1'000'000, 'x')}}));
  }
  cluster.PutRule(kOneShape);
  cluster.Submit("p0", "g0");
  cluster.Submit("d0", "g1");
  Replica watcher(cluster);
  watcher.Start();
  EXPECT_TRUE(cluster.WaitOpen({"p0", "d0"}, {"p0", "d0"}));
  ASSERT_TRUE(cluster.server.WaitForWatches(3));  // pods, rules and nodes
  cluster.server.Put(resources::kConfigMaps,
                     ConfigMap("ns", "large-0", {{"x", std::string(1'000'000, 'y')}}));
  cluster.PutRule(kTwoShapes);
  ASSERT_TRUE(cluster.server.WaitForRequests({.target_part = "metadata.name%3Drule"}, 2));
  EXPECT_THAT(ReadsOf(cluster.server),
              UnorderedElementsAre("metadata", "metadata", "ns/rule", "ns/rule", "watch"))
      << "50 a page, and then the rest";
}

// Nothing is done to a service one of whose pods nobody can read; others go on.
TEST(ScalingRules, APodThatIsTooLargeHoldsItsServiceOnly) {
  Cluster cluster;
  cluster.PutRule(kOneShape);
  cluster.Submit("p0", "g0");
  cluster.Submit("d0", "g1");
  Json large = Cluster::Pod("d1", "g1");
  large["spec"]["nodeName"] = std::string(20 * 1024, 'x');
  large["metadata"]["labels"]["jobID"] = "other";
  cluster.server.Put(resources::kPods, large);
  Json beside = Cluster::Pod("p1", "g0");
  beside["metadata"]["labels"]["jobID"] = "other";
  cluster.server.Put(resources::kPods, beside);

  Replica watcher(cluster, Replica::OverHttp(cluster),
                  {.page_bytes = 4 * 1024, .object_bytes = 8 * 1024});
  watcher.Start();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, {"p0", "d0", "p1"}));
  const auto why = [&] {
    std::set<std::string> reasons;
    for (const auto& entry : watcher.entries()) {
      if (entry.record.about[1].second == "other") reasons.insert(entry.record.reason);
    }
    return reasons;
  };
  ASSERT_TRUE(Eventually([&] { return !why().empty(); }));
  EXPECT_THAT(why(), ElementsAre("pod d1 is too large to be read, so its state is unknown"));
  EXPECT_EQ(watcher.pods.left_out(), 1u);
}

}  // namespace
}  // namespace mindgate::watcher::scaling
