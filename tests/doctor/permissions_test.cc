#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/installed.h"

namespace mindgate::doctor {
namespace {

// The Pods of the watcher, whose label app.kubernetes.io/name is what nameOverride says.
struct WatcherPods : testing::InstalledFixture {
  WatcherPods() {
    PutWebhooks(true);
    PutWebhooks(false);
    PutConfig(
        "elasticScaling: {mode: enforce}\nrescheduling: {mode: takeover, isolateNodes: true}\n");
    server.Put(kube::resources::kPods,
               {{"metadata",
                 {{"namespace", "serving"},
                  {"name", "p0"},
                  {"labels",
                   {{"mind-cluster/scaling-rule", "rule"},
                    {"jobID", "chat"},
                    {"mind-cluster/group-name", "g0"}}}}},
                {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}},
                {"status", {{"phase", "Pending"}}}});
    server.Put(
        kube::resources::kNodes,
        {{"metadata", {{"name", "n1"}}},
         {"spec", {{"taints", {{{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}}}}}}});
  }
};

TEST_F(WatcherPods, AreThoseOfTheRelease) {
  PutPod(Metadata("watcher-0", "watcher"));
  EXPECT_EQ(Of("gates", Status::kOk).size(), 1);
  EXPECT_EQ(Of("taints", Status::kOk).size(), 1);
}

TEST_F(WatcherPods, AreNotThoseOfAnotherRelease) {
  Json metadata = Metadata("watcher-0", "watcher");
  metadata["labels"]["app.kubernetes.io/instance"] = "canary";
  PutPod(metadata);
  EXPECT_EQ(Of("gates", Status::kFailed).size(), 1);
  EXPECT_EQ(Of("taints", Status::kFailed).size(), 1);
}

// A Lease that is renewed shows that a watcher runs: nothing advises to release what it holds.
TEST_F(WatcherPods, ThatWereNotFoundMayRunAllTheSame) {
  PutLease();
  const std::string renewed = FormatTime(clock.WallNow());
  EXPECT_EQ(Of("permissions", Status::kSkipped),
            Texts{"no Pod of the watcher was found in namespace ops (app.kubernetes.io/"
                  "component=watcher,app.kubernetes.io/instance=prod), but Lease "
                  "ops/prod-gate-watcher was renewed at " +
                  renewed +
                  ": a watcher runs, and what it may do and is configured to do could not be "
                  "checked"});
  for (const char* check : {"gates", "taints"}) {
    EXPECT_EQ(Of(check, Status::kFailed), Texts()) << check;
    EXPECT_EQ(Of(check, Status::kSkipped).size(), 1) << check;
  }
  server.Forbid("get", "leases");
  EXPECT_EQ(Of("gates", Status::kFailed), Texts()) << "and where that cannot be known";
}

TEST_F(WatcherPods, AreGoneWhenNobodyRenewsTheLease) {
  PutLease(std::chrono::hours(1));
  EXPECT_EQ(Of("gates", Status::kFailed).size(), 1);
  EXPECT_EQ(Of("taints", Status::kFailed).size(), 1);
}

}  // namespace
}  // namespace mindgate::doctor
