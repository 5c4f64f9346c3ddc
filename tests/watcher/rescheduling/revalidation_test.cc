#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "watcher/rescheduling_direct.h"

// What has changed between a decision and the step that cannot be undone.
namespace mindgate::watcher::rescheduling {
namespace {

using mindgate::testing::Eventually;
namespace resources = kube::resources;

// The watch is late: the pod was replaced by somebody else.
TEST(ReschedulingFreshLook, APodThatWasReplacedIsNotDeleted) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  const auto gate = cluster.server.Hold({.method = "GET", .target_part = "/pods/train-3"});
  cluster.PutNode("n3", false);
  ASSERT_TRUE(gate->WaitUntilHeld());
  cluster.server.Remove(resources::kPods, kNs, "train-3");
  cluster.PutPod("train", "train-3", "n2", kPodLabels);
  const uint64_t looks = replica.controller.counts().looks;
  gate->Release();
  EXPECT_TRUE(Eventually([&] { return replica.controller.counts().looks > looks; }));
  EXPECT_FALSE(cluster.Pod("train-3").is_null());
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  EXPECT_EQ(cluster.Kept().dump().find("restart"), std::string::npos) << cluster.Kept();
}

// The plugin acts in the same moment: that is no failure, and nothing is reported.
TEST(ReschedulingFreshLook, APodThatSomebodyElseDeletesIsDone) {
  Cluster cluster;
  cluster.PutJob("train", kPodLabels);
  Replica replica(cluster);
  ASSERT_TRUE(replica.Start());
  const auto gate = cluster.server.Hold(kDeletes);
  cluster.PutNode("n3", false);
  ASSERT_TRUE(gate->WaitUntilHeld());
  cluster.server.Remove(resources::kPods, kNs, "train-3");
  cluster.PutPod("train", "train-3", "n2", kPodLabels);
  gate->Release();
  EXPECT_TRUE(Eventually([&] { return replica.controller.counts().restarts == 1; }));
  EXPECT_FALSE(cluster.Pod("train-3").is_null());
  EXPECT_EQ(replica.controller.counts().failed, 0U);
  EXPECT_EQ(replica.Reported("train"), std::vector<std::string>());
}

// The chip may be healthy again: the watch of the reports is late.
TEST(ReschedulingFreshLook, NothingGoesByAReportThatIsOutdated) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.reported["n3"].devices.unhealthy = {"Ascend910-0"};
  const auto version = [&] {
    return direct.cluster.server
        .Find(resources::kConfigMaps, "mindx-dl",
              "cluster-info-device-0")["metadata"]["resourceVersion"]
        .get<std::string>();
  };
  using Reports = std::vector<faults::ReportVersion>;
  direct.reports["n3"] = Reports{{"mindx-dl", "cluster-info-device-0", version()}};
  direct.cluster.ReportChips({{"n2", "Ascend910-1"}});
  const ReconcileResult late = direct.Reconcile("train", {});
  EXPECT_EQ(direct.Deletes(), 0U);
  EXPECT_EQ(late.requeue_after, std::chrono::seconds(1));
  EXPECT_FALSE(late.failed);
  direct.reports["n3"] = std::nullopt;  // reported since the decision
  EXPECT_EQ(direct.Reconcile("train", {}).requeue_after, std::chrono::seconds(1));
  EXPECT_EQ(direct.Deletes(), 0U);
  direct.reports["n3"] = Reports{{"mindx-dl", "cluster-info-device-0", version()}};
  direct.cluster.server.ForgetRequests();
  direct.Reconcile("train", {});
  EXPECT_EQ(direct.Deletes(), 1U) << direct.decisions.last();
  EXPECT_EQ(direct.cluster.server.Count({.target_part = "/namespaces/mindx-dl/configmaps?"}), 1U)
      << "asked for once, and by its name";
}

TEST(ReschedulingFreshLook, AReportThatIsGoneOrUnreadableTakesNobody) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.reported["n3"].devices.unhealthy = {"Ascend910-0"};
  direct.reports["n3"] =
      std::vector<faults::ReportVersion>{{"kube-system", "mindx-dl-deviceinfo-n3", "7"}};
  EXPECT_FALSE(direct.Reconcile("train", {}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
  direct.cluster.server.Forbid("list", "configmaps");
  EXPECT_TRUE(direct.Reconcile("train", {}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
  // It has no part in a fault of the pod itself.
  direct.reports["n2"] = direct.reports["n3"];
  direct.reported.clear();
  direct.Reconcile("train", {"n2"});
  direct.cluster.PutNode("n2", false);
  direct.Reconcile("train", {"n2"});
  EXPECT_EQ(direct.Deletes(), 1U) << direct.decisions.last();
}

// The watch of pods is ahead of the one of nodes: the pod runs on a node that has just joined.
TEST(ReschedulingFreshLook, ANodeThatOnlyTheWatchDoesNotKnowIsHealthy) {
  Direct direct;
  direct.cluster.PutJob("train", kForceLabel);
  const ReconcileResult result = direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 0U);
  EXPECT_TRUE(result.requeue_after);
  direct.cluster.server.Remove(resources::kNodes, "", "n3");  // now it is gone indeed
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.cluster.Pods("train"), PodNames{});
}

// Of two nodes that the watch calls not Ready, one is Ready again: the pods there stay.
TEST(ReschedulingFreshLook, OnlyPodsOfNodesThatAreStillNotReadyGo) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.Reconcile("train", {"n2", "n3"});
  EXPECT_EQ(direct.cluster.Pods("train"), (PodNames{"train-0", "train-1", "train-2"}));
}

// What cannot be read is not known to be faulty.
TEST(ReschedulingFreshLook, ANodeThatCannotBeReadHoldsTheRestart) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.cluster.server.Forbid("get", "nodes");
  EXPECT_TRUE(direct.Reconcile("train", {"n3"}).failed);
  EXPECT_EQ(direct.Deletes(), 0U);
}

// A wider restart is about pods that did not come back: the watch may not have seen them yet.
TEST(ReschedulingFreshLook, AJobThatIsCompleteByNowIsNotRestartedWider) {
  Direct direct;
  direct.settings.escalate_after = std::chrono::seconds(6);
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.Reconcile("train", {"n3"});
  ASSERT_EQ(direct.Deletes(), 1U);
  direct.cluster.PutPod("train", "train-3", "", kPodLabels);
  const Job late = direct.JobNow("train");
  direct.Reconcile("train", late, {});
  direct.cluster.PutPod("train", "train-3", "n2", kPodLabels);
  direct.cluster.clock.Advance(std::chrono::seconds(30));
  direct.Reconcile("train", late, {});
  EXPECT_EQ(direct.Deletes(), 1U);
}

// The scheduler counts pods that succeeded, which no watch reports, and those that failed.
TEST(ReschedulingFreshLook, AJobWhosePodsHaveEndedIsNotRestartedWider) {
  const std::pair<Json, bool> cases[] = {
      {{{"running", 1}, {"succeeded", 3}}, true},
      {{{"running", 1}, {"succeeded", 2}, {"failed", 1}}, true},
      {{{"running", 3}, {"failed", 1}}, true},
      {{{"running", 3}, {"succeeded", 0}}, false},
      {{{"running", 3}, {"succeeded", -7}}, false},
  };
  for (const auto& [counts, is_complete] : cases) {
    Direct direct;
    direct.settings.escalate_after = std::chrono::seconds(6);
    direct.cluster.PutJob("train", kPodLabels);
    direct.cluster.PutNode("n3", false);
    direct.Reconcile("train", {"n3"});
    direct.cluster.PutPod("train", "train-3", "", kPodLabels);
    const Job late = direct.JobNow("train");
    direct.Reconcile("train", late, {});
    Json group = direct.Group("train");
    group["status"].merge_patch(counts);
    direct.cluster.server.Put(kube::resources::kPodGroups, group);
    direct.cluster.clock.Advance(std::chrono::seconds(30));
    direct.Reconcile("train", late, {});
    EXPECT_EQ(direct.Deletes(), is_complete ? 1U : 5U) << counts.dump();
  }
}

// Its budget is for the restarts that happen.
TEST(ReschedulingFreshLook, ARestartThatIsNotBegunCostsNothing) {
  Direct direct;
  direct.settings.restarts_per_minute = 2;  // of which one namespace gets one
  direct.cluster.PutJob("train", kForceLabel);
  for (int i = 0; i < 5; ++i) direct.Reconcile("train", {"n3"});
  direct.cluster.PutNode("n3", false);
  direct.cluster.server.Forbid("patch", "configmaps");
  for (int i = 0; i < 5; ++i) direct.Reconcile("train", {"n3"});
  ASSERT_EQ(direct.Deletes(), 0U);
  direct.cluster.server.AllowAll();
  direct.Reconcile("train", {"n3"});
  EXPECT_EQ(direct.Deletes(), 4U) << direct.decisions.last();
}

// --- what the fresh objects say counts, and not what a late watch reported -----------------------

// As they were when `seen` was reported: each case changes one of them on the server alone.
TEST(ReschedulingFreshLook, ThePolicyIsThatOfTheFreshObjects) {
  struct Case {
    const char* name;
    std::function<void(Cluster&)> change;
    size_t deletes;
  };
  const auto label = [](Cluster& cluster, const kube::Resource& resource, const std::string& name,
                        const char* key, const char* value) {
    Json object = cluster.server.Find(resource, kNs, name);
    object["metadata"]["labels"][key] = value;
    cluster.server.Put(resource, object);
  };
  const Case cases[] = {
      {"nothing changes", [](Cluster&) {}, 1},
      {"the PodGroup no longer asks for it",
       [&](Cluster& cluster) {
         label(cluster, resources::kPodGroups, "train", "fault-scheduling", "off");
       },
       0},
      {"a healthy pod opts out",
       [&](Cluster& cluster) {
         label(cluster, resources::kPods, "train-0", "mindgate.io/rescheduling", "disabled");
       },
       0},
      {"a healthy pod contradicts the PodGroup",
       [&](Cluster& cluster) {
         label(cluster, resources::kPods, "train-0", "fault-scheduling", "off");
       },
       0},
      {"the whole job is meant by now",
       [&](Cluster& cluster) {
         label(cluster, resources::kPodGroups, "train", "pod-rescheduling", "off");
         for (int i = 0; i < 4; ++i) {
           label(cluster, resources::kPods, "train-" + std::to_string(i), "pod-rescheduling",
                 "off");
         }
       },
       4},
  };
  for (const Case& c : cases) {
    Direct direct;
    direct.cluster.PutJob("train", kPodLabels);
    direct.cluster.PutNode("n3", false);
    const Job seen = direct.JobNow("train");
    c.change(direct.cluster);
    direct.Reconcile("train", seen, {"n3"});
    EXPECT_EQ(direct.Deletes(), c.deletes) << c.name << ": " << direct.decisions.last();
  }
}

// Of a large job, one list of metadata says the same of the pods that are not read one by one.
TEST(ReschedulingFreshLook, AHealthyPodOfALargeJobOptsOut) {
  constexpr int kPods = static_cast<int>(kReadOneByOne) + 16;
  for (const bool opts_out : {false, true}) {
    Direct direct;
    direct.cluster.PutJob("train", kPodLabels, kPods);
    direct.cluster.PutNode("n3", false);
    const Job seen = direct.JobNow("train", kPods);
    ASSERT_EQ(seen.tasks.size(), static_cast<size_t>(kPods));
    if (opts_out) {
      Json pod = direct.cluster.Pod("train-0");
      pod["metadata"]["annotations"]["mindgate.io/rescheduling"] = "disabled";
      direct.cluster.server.Put(resources::kPods, pod);
    }
    direct.cluster.server.ForgetRequests();
    direct.Reconcile("train", seen, {"n3"});
    EXPECT_EQ(direct.Deletes(), opts_out ? 0U : static_cast<size_t>(kPods) / 4)
        << direct.decisions.last();
    EXPECT_EQ(direct.cluster.server.Count({.method = "GET", .target_part = "/pods/train-0"}), 0U);
  }
}

// The pause comes while the objects are read again.
TEST(ReschedulingFreshLook, APauseDuringItCounts) {
  Direct direct;
  direct.cluster.PutJob("train", kPodLabels);
  direct.cluster.PutNode("n3", false);
  const auto gate = direct.cluster.server.Hold({.method = "GET", .target_part = "/pods/train-3"});
  std::jthread look([&] { direct.Reconcile("train", {"n3"}); });
  ASSERT_TRUE(gate->WaitUntilHeld());
  direct.cluster.server.Put(resources::kLeases,
                            {{"metadata",
                              {{"namespace", "mindgate-system"},
                               {"name", "mindgate-watcher"},
                               {"annotations", {{"mindgate.io/pause-rescheduling", "true"}}}}}});
  gate->Release();
  look.join();
  EXPECT_EQ(direct.Deletes(), 0U) << direct.decisions.last();
  EXPECT_EQ(direct.cluster.Kept().dump().find("restart"), std::string::npos)
      << "nothing was done, and so nothing is written down: " << direct.cluster.Kept();
}

// What the watches report during the last reads counts: the same news may release the brake.
TEST(ReschedulingFreshLook, AFaultThatGoesAfterItsReportWasReadTakesNobody) {
  enum class Fault : uint8_t { kChip, kNode };
  for (const Fault fault : {Fault::kChip, Fault::kNode}) {
    for (const bool goes : {false, true}) {
      Direct direct;
      direct.cluster.PutJob("train", kPodLabels);
      const PodNames not_ready = fault == Fault::kNode ? PodNames{"n3"} : PodNames();
      if (fault == Fault::kNode) {
        direct.cluster.PutNode("n3", false);
      } else {
        direct.reported["n3"].devices.unhealthy = {"Ascend910-0"};
      }
      const auto gate =
          direct.cluster.server.Hold({.method = "GET", .target_part = "/pods/train-3"});
      std::jthread look([&] { direct.Reconcile("train", not_ready); });
      ASSERT_TRUE(gate->WaitUntilHeld());
      if (goes && fault == Fault::kChip) direct.reports["n3"] = std::nullopt;
      if (goes && fault == Fault::kNode) direct.ready.insert("n3");
      gate->Release();
      look.join();
      EXPECT_EQ(direct.Deletes(), goes ? 0U : 1U) << direct.decisions.last();
      const bool begun = direct.cluster.Kept().dump().find("restart") != std::string::npos;
      EXPECT_EQ(begun, !goes) << direct.cluster.Kept();
    }
  }
}

// What the leader before restarted within the last minute counts for the next one.
TEST(ReschedulingFreshLook, ANewLeaderInheritsTheBudget) {
  Direct direct;
  direct.settings.restarts_per_minute = 2;  // one for each namespace
  direct.cluster.PutNode("n3", false);
  for (const char* job : {"a", "b"}) direct.cluster.PutJob(job, kPodLabels);
  direct.Reconcile("a", {"n3"});
  EXPECT_EQ(direct.Deletes(), 1U);
  direct.budget.GiveBack(kNs);  // another process knows nothing of it
  direct.Restart();
  direct.Reconcile("b", {"n3"});
  EXPECT_EQ(direct.Deletes(), 1U) << direct.decisions.last();
  direct.cluster.clock.Advance(std::chrono::seconds(61));
  direct.Reconcile("b", {"n3"});
  EXPECT_EQ(direct.Deletes(), 2U) << direct.decisions.last();
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
