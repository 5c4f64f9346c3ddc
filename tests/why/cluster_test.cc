#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/small_cluster.h"
#include "why/reader.h"
#include "why/reasons.h"

namespace mindgate::why {
namespace {

using json::Json;
using ::mindgate::testing::SmallCluster;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// All pods of the cluster as those of one workload.
Facts FactsOf(const SmallCluster& cluster) {
  Facts facts{.kind = "Deployment", .name = "chat", .ns = SmallCluster::kNs};
  for (const Json& pod : cluster.pods) {
    const json::Document document(pod);
    facts.pods.push_back(PodFactsOf(document.root()));
    facts.pods.back().ready = facts.pods.back().phase == "Running";
  }
  AddCluster(cluster.Snapshot(), facts);
  return facts;
}

std::vector<std::string> HitsOf(const SmallCluster& cluster) {
  std::vector<std::string> hits;
  for (const HitFacts& hit : FactsOf(cluster).hits) {
    for (const std::string& pod : hit.pods) hits.push_back(pod + " " + hit.fault);
  }
  return hits;
}

Json Ready(const char* status) {
  return {{"status", {{"conditions", {{{"type", "Ready"}, {"status", status}}}}}}};
}

// A frontend, a DaemonSet's pod and one on other chips run as before.
TEST(WhyCluster, PodsWithoutAPodGroupAreHitByFaultsOfTheirOwnHardwareAlone) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1", Ready("Unknown")).Node("n2");
  cluster.Devices("n0", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-3"}});
  cluster.Pod({.name = "frontend", .node = "n0"});
  cluster.Pod({.name = "on-chip-0", .node = "n0", .chips = "0"});
  cluster.Pod({.name = "on-chip-3", .node = "n0", .chips = "3"});
  cluster.Pod({.name = "failed", .node = "n0", .chips = "3", .status = {{"phase", "Failed"}}});
  cluster.Pod({.name = "lost", .node = "n1"});
  cluster.Pod({.name = "elsewhere", .node = "n2", .chips = "3"});
  EXPECT_THAT(HitsOf(cluster), ElementsAre("lost NodeUnhealthy", "on-chip-3 CardUnhealthy"));
}

TEST(WhyCluster, AFrontendOnANodeWithAFaultyChipRuns) {
  SmallCluster cluster;
  cluster.Node("n0").Devices("n0", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-3"}});
  cluster.Pod({.name = "frontend", .node = "n0"});
  EXPECT_TRUE(IsSettled(WhyIsIt(FactsOf(cluster))));
}

// Of a job that was restarted, pods that failed on the hardware stay as objects.
TEST(WhyCluster, PodsThatFailedAreHitUntilTheyAreReplaced) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  cluster.Devices("n0", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-3"}});
  cluster.Group("pg", "ReplicaSet/chat-7d", 1, {{"fault-scheduling", "force"}});
  cluster.Pod({.name = "failed",
               .node = "n0",
               .chips = "3",
               .group = "pg",
               .owner = "ReplicaSet/chat-7d",
               .status = {{"phase", "Failed"}}});
  EXPECT_THAT(HitsOf(cluster), ElementsAre("failed CardUnhealthy"));
  cluster.Pod({.name = "new", .node = "n1", .group = "pg", .owner = "ReplicaSet/chat-7d"});
  EXPECT_THAT(HitsOf(cluster), IsEmpty());
}

std::string FixOf(const Json& labels, const char* scheduler, const std::string& chips) {
  SmallCluster cluster;
  cluster.Node("n0", Ready("False"));
  cluster.Pod({.name = "p0",
               .node = "n0",
               .chips = chips,
               .labels = labels,
               .spec = {{"schedulerName", scheduler}}});
  for (const Reason& reason : WhyIsIt(FactsOf(cluster)).reasons) {
    if (reason.id == "fault-not-handled") return reason.fix;
  }
  return "";
}

// The label alone has no effect there.
TEST(WhyCluster, TheFixOfAFaultUnderAPodWithoutAPodGroupIsToGetOne) {
  const std::string label = "set the label fault-scheduling (force or grace) in the pod template, ";
  const std::string group =
      "set spec.schedulerName to volcano in the pod template, so that its pods get a PodGroup, "
      "and ";
  const std::string controllers =
      "see that volcano-controllers runs, which makes PodGroups of Volcano's pods, and ";
  const std::string remove =
      "delete the pods on the faulty hardware: kubectl delete pod p0 -n infer";
  const Json force = {{"fault-scheduling", "force"}};
  EXPECT_EQ(FixOf(Json::object(), "default-scheduler", "0"), label + group + remove);
  EXPECT_EQ(FixOf(force, "default-scheduler", "0"), group + remove);
  EXPECT_EQ(FixOf(force, "volcano", "0"), controllers + remove);
  EXPECT_EQ(FixOf(Json::object(), "default-scheduler", ""), remove) << "it asks for no NPUs";
}

}  // namespace
}  // namespace mindgate::why
