#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "audit/audited_server.h"
#include "audit/controller.h"
#include "base/threads.h"
#include "support/eventually.h"

namespace mindgate::audit {
namespace {

using json::Json;
using mindgate::testing::Eventually;
namespace resources = kube::resources;

struct ChangesTest : testing::AuditedServer {
  Mutex mutex;
  std::map<std::string, int> changed GUARDED_BY(mutex);
  Changes changes{client,
                  sleeper,
                  clock,
                  logger,
                  pods,
                  {.enabled = [] { return true; },
                   .changed =
                       [this](const std::string& ns) {
                         const MutexLock lock(mutex);
                         ++changed[ns];
                       }}};
  std::jthread following_pods;
  std::jthread following;  // both end before what they use

  void Start() {
    following_pods = std::jthread([this](const std::stop_token& stop) { pods.Run(stop); });
    following = std::jthread([this](const std::stop_token& stop) { changes.Run(stop); });
    ASSERT_TRUE(WaitForAllWatches());
  }
  // How often each namespace has changed since the last call, once `last` has.
  std::map<std::string, int> Await(const std::string& last) {
    EXPECT_TRUE(Eventually([&] {
      const MutexLock lock(mutex);
      return changed.contains(last);
    }));
    const MutexLock lock(mutex);
    return std::exchange(changed, {});
  }
  void Touch(const std::string& ns) { PutNamespace(ns, std::to_string(++touches)); }
  void PutNamespace(const std::string& ns, const std::string& label) {
    server.Put(resources::kNamespaces,
               {{"metadata", {{"name", ns}, {"labels", {{"touched", label}}}}}});
  }
  int touches = 0;

  static Json Pod(const std::string& name, const char* kind) {
    Json pod = {{"metadata", {{"namespace", "ray"}, {"name", name}}}};
    if (kind != nullptr) {
      pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                             {"kind", kind},
                                             {"name", "o"},
                                             {"uid", "u"},
                                             {"controller", true}}};
    }
    return pod;
  }
};

TEST_F(ChangesTest, AreWhatUsersWriteAndNotWhatControllersDo) {
  PutChat("infer", "force");
  Start();
  Touch("last");
  EXPECT_EQ(Await("last")["infer"], 2) << "the namespace, and the Deployment in it";

  Json chat = server.Find(resources::kDeployments, "infer", "chat");
  chat["status"] = {{"readyReplicas", 1}};
  server.Put(resources::kDeployments, chat);
  server.Put(resources::kConfigMaps, {{"metadata", {{"namespace", "infer"}, {"name", "rules"}}}});
  Touch("after-a-status");
  EXPECT_EQ(Await("after-a-status"), (std::map<std::string, int>{{"after-a-status", 1}}));

  chat["metadata"]["labels"] = {{"team", "search"}};
  server.Put(resources::kDeployments, chat);
  EXPECT_EQ(Await("infer"), (std::map<std::string, int>{{"infer", 1}}));
  chat["metadata"]["generation"] = 7;
  server.Put(resources::kDeployments, chat);
  EXPECT_EQ(Await("infer"), (std::map<std::string, int>{{"infer", 1}}));
  server.Remove(resources::kDeployments, "infer", "chat");
  EXPECT_EQ(Await("infer"), (std::map<std::string, int>{{"infer", 1}}));
}

TEST_F(ChangesTest, OfPodsAreThoseThatAreAuditedThemselves) {
  PutNamespace("ray", "");
  Start();
  Touch("last");
  Await("last");
  server.Put(resources::kPods, Pod("of-a-set", "ReplicaSet"));
  Json set = Pod("of-a-deployment", "Deployment");
  server.Put(resources::kReplicaSets, set);
  server.Put(resources::kPods, Pod("of-a-cluster", "RayCluster"));
  EXPECT_EQ(Await("ray"), (std::map<std::string, int>{{"ray", 1}}));
  Json running = Pod("of-a-cluster", "RayCluster");
  running["status"] = {{"phase", "Running"}};
  server.Put(resources::kPods, running);
  server.Put(resources::kPods, Pod("bare", nullptr));
  EXPECT_EQ(Await("ray"), (std::map<std::string, int>{{"ray", 1}}));
}

TEST_F(ChangesTest, FollowTheKindsOfTheSiteAsTheyBecomeOthers) {
  const schemas::SiteKinds ray = Installed("ray");
  const schemas::SiteKinds jobset = Installed("jobset");
  const auto put = [&](const schemas::KindInfo& info, const std::string& ns) {
    server.Put(ResourceOf(info), {{"metadata", {{"namespace", ns}, {"name", "train"}}}});
  };
  const auto watches = [&](size_t of_site) {
    return server.WaitForWatches(AllWatches() + of_site);
  };
  PutNamespace("ray", "");
  PutNamespace("jobs", "");
  put(ray.info(0), "ray");
  Start();
  Touch("last");
  Await("last");
  changes.Follow(ray);
  EXPECT_TRUE(watches(3));
  EXPECT_EQ(Await("ray")["ray"], 1);
  put(ray.info(1), "ray");
  EXPECT_EQ(Await("ray")["ray"], 1);

  changes.Follow(jobset);
  EXPECT_TRUE(watches(1)) << "and no longer those of Ray";
  put(jobset.info(0), "jobs");
  EXPECT_EQ(Await("jobs")["jobs"], 1);

  changes.Follow({});
  EXPECT_TRUE(watches(0));
  Touch("last");
  EXPECT_EQ(Await("last")["last"], 1) << "the others are followed all the same";
}

TEST_F(ChangesTest, KnowWhichNamespacesThereAre) {
  PutNamespace("infer", "");
  EXPECT_FALSE(changes.Exists("infer"));
  Start();
  ASSERT_TRUE(Eventually([this] { return changes.synced(); }));
  EXPECT_TRUE(changes.Exists("infer"));
  EXPECT_FALSE(changes.Exists("train"));
  bool found = false;
  changes.ForEachNamespace([&](const std::string& ns) { found = found || ns == "infer"; });
  EXPECT_TRUE(found);
  Await("infer");
  server.Remove(resources::kNamespaces, "", "infer");
  Await("infer");
  EXPECT_FALSE(changes.Exists("infer"));
}

}  // namespace
}  // namespace mindgate::audit
