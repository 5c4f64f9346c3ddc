#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "support/random_cluster.h"
#include "support/small_cluster.h"
#include "what_if/forecaster.h"

namespace mindgate::audit {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::RandomCluster;
using ::mindgate::testing::SmallCluster;

WorkloadName Itself(const WorkloadName& name) { return name; }

std::string TextOf(const std::optional<LossEffect>& effect) {
  return effect ? std::string(RecoveryName(effect->recovery)) + " " + effect->loss : "-";
}

// "Job/train: 8 NPUs of 1 pod; card recovers n0/Ascend910-0; node hangs n0".
std::vector<std::string> Texts(const std::map<WorkloadName, Losses>& all) {
  std::vector<std::string> texts;
  for (const auto& [name, losses] : all) {
    texts.push_back(name.second + ": " + std::to_string(losses.npus) + " NPUs of " +
                    std::to_string(losses.pods) + " pods; card " + TextOf(losses.card) + "; node " +
                    TextOf(losses.node) +
                    (losses.waiting > 0 ? "; " + std::to_string(losses.waiting) + " waiting" : ""));
  }
  return texts;
}

TEST(LossesTest, AreTheWorstOfEachKind) {
  const Json force = {{"fault-scheduling", "force"}};
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  // Has room on n2, whatever dies.
  cluster.Group("small", "Job/small", 1, force);
  cluster.Pod({"small", "n0", "0-1", "small", "Job/small", force});
  // Eight NPUs have room nowhere else.
  cluster.Node("n2", Json::object(), 4);
  cluster.Group("large", "Job/large", 1, force);
  cluster.Pod({"large", "n1", "0-7", "large", "Job/large", force});
  // Nobody does anything about its cards.
  cluster.Group("silent", "Job/silent", 1);
  cluster.Pod({"silent", "n0", "2-3", "silent", "Job/silent"});
  // Nobody makes it again, and Kubernetes does not force it off a node that is lost.
  cluster.Pod({.name = "bare", .node = "n0", .chips = "4", .labels = force});
  // It waits, and is on no node.
  cluster.Group("waits", "Job/waits", 1, force);
  cluster.Pod(
      {.name = "waits", .group = "waits", .owner = "Job/waits", .labels = force, .npus = 8});
  EXPECT_EQ(Texts(LossesOf(cluster.Snapshot(), Itself)),
            (std::vector<std::string>{
                "Job/large: 8 NPUs of 1 pods; card hangs n1/Ascend910-0; node hangs n1",
                "Job/silent: 2 NPUs of 1 pods; card unattended n0/Ascend910-2; node unattended n0",
                "Job/small: 2 NPUs of 1 pods; card recovers n0/Ascend910-0; node recovers n0",
                "Job/waits: 8 NPUs of 1 pods; card -; node -; 1 waiting",
                "Pod/bare: 1 NPUs of 1 pods; card unattended n0/Ascend910-4; node unattended n0"}));
}

// What owns a pod may be owned itself.
TEST(LossesTest, BelongToTheTopmostOwner) {
  SmallCluster cluster;
  cluster.Node("n0").Node("n1");
  for (const char* name : {"a", "b"}) {
    cluster.Pod({.name = name,
                 .node = "n0",
                 .chips = name[0] == 'a' ? "0" : "1",
                 .owner = std::string("ReplicaSet/") + name});
  }
  const auto all = LossesOf(cluster.Snapshot(), [](const WorkloadName& name) {
    return name.second.starts_with("ReplicaSet/") ? WorkloadName(name.first, "RoleSet/all") : name;
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->first, WorkloadName("infer", "RoleSet/all"));
  EXPECT_EQ(all.begin()->second.pods, 2u);
}

// Whatever the cluster, the loss of a node does what what-if says of that node alone.
TEST(LossesTest, OfNodesAreWhatIfs) {
  size_t compared = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const what_if::ClusterSnapshot snapshot = RandomCluster(seed).cluster().Snapshot();
    std::map<WorkloadName, Recovery> want;
    for (const what_if::SingleLoss& loss : what_if::EachNode(what_if::TakeInventory(snapshot))) {
      for (const auto& instance : what_if::ForecastOf(snapshot, loss.hypothesis).instances) {
        if (instance.hits.empty() || instance.already) continue;
        Recovery& worst = want[{instance.ns, instance.owner}];
        worst = std::max(worst, RecoveryOf(instance.outcome));
      }
    }
    for (const auto& [name, losses] : LossesOf(snapshot, Itself)) {
      if (!losses.node) continue;
      ++compared;
      ASSERT_TRUE(want.contains(name)) << seed << " " << name.second;
      EXPECT_EQ(RecoveryName(losses.node->recovery), RecoveryName(want[name]))
          << seed << " " << name.second;
    }
  }
  EXPECT_GT(compared, 100u);
}

TEST(LossesTest, ReportHowFarTheyAre) {
  SmallCluster cluster;
  cluster.Node("n0");
  cluster.Pod({.name = "a", .node = "n0", .chips = "0"});
  std::vector<std::pair<size_t, size_t>> steps;
  LossesOf(cluster.Snapshot(), Itself,
           [&](size_t done, size_t of) { steps.emplace_back(done, of); });
  EXPECT_EQ(steps, (std::vector<std::pair<size_t, size_t>>{{1, 2}, {2, 2}}));
}

}  // namespace
}  // namespace mindgate::audit
