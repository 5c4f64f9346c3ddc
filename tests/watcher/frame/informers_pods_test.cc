#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "support/eventually.h"
#include "watcher/frame/informers.h"
#include "watcher/frame_fixture.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using mindgate::testing::Eventually;
using ::testing::HasSubstr;
namespace resources = kube::resources;

// A controller that keeps one text of each pod.
struct PodReader {
  std::mutex mutex;
  std::map<std::string, std::string> kept;
  std::atomic<bool> wanted = true;
  std::atomic<int> on_synced = 0;
  std::atomic<int> unexpected = 0;

  void SubscribeTo(PodInformer& pods, const std::string& selector, const std::string& section,
                   const std::string& key) {
    using Kept = std::pair<std::string, std::string>;
    PodInformer::Subscription<Kept> subscription;
    subscription.enabled = [this] { return wanted.load(); };
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
      if (before != nullptr && kept.erase(before->first) == 0) ++unexpected;
      if (after != nullptr && !kept.insert(*after).second) ++unexpected;
    };
    subscription.on_synced = [this] { ++on_synced; };
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
  EXPECT_TRUE(Eventually([&] { return all.on_synced > 0 && labelled.on_synced > 0; }));
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
  // What went while another selector is listed is reported, too.
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

// A pod that went in the meantime would else be known for as long as the program runs, and each
// other one twice.
TEST_F(FrameTest, WhatNobodyWantsAnyMoreIsGone) {
  PodInformer pods(client, sleeper, clock, {});
  PodReader all;
  PodReader labelled;
  all.SubscribeTo(pods, "", "spec", "nodeName");
  labelled.SubscribeTo(pods, "wanted", "status", "phase");
  Put("a", "yes");
  Put("b");
  std::jthread run([&](const std::stop_token& stop) { pods.Run(stop); });
  const auto want = [&](bool wanted) {
    all.wanted = wanted;
    labelled.wanted = wanted;
    pods.Refresh();
  };
  EXPECT_TRUE(all.Has({{"a", "n"}, {"b", "n"}}));
  EXPECT_TRUE(labelled.Has({{"a", "Running"}}));
  want(false);
  EXPECT_TRUE(all.Has({}));
  EXPECT_TRUE(labelled.Has({}));
  server.Remove(resources::kPods, "ns", "a");
  want(true);
  EXPECT_TRUE(all.Has({{"b", "n"}}));
  EXPECT_TRUE(labelled.Has({}));
  EXPECT_EQ(all.unexpected, 0) << "no pod comes that is there already, and none goes that is not";
  EXPECT_EQ(labelled.unexpected, 0);
}

// That a watch was opened again says nothing, what happened meanwhile is still to come.
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
  // One that ended in good order has reported everything.
  ASSERT_TRUE(server.WaitForWatches(1));
  server.CutWatches(kube::testing::FakeApiServer::Cut::kOrderly);
  ASSERT_TRUE(server.WaitForWatches(1));
  EXPECT_TRUE(pods.current());
}

}  // namespace
}  // namespace mindgate::watcher
