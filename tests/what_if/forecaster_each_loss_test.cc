// What each single loss would stop.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/small_cluster.h"
#include "what_if/forecaster.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::SmallCluster;

// --- what a loss stops ---------------------------------------------------------------------------

// "n0: down Job/a; degraded ...".
std::string ImpactText(const Impact& impact) {
  std::string text = impact.name + ":";
  for (const StoppedInstance& one : impact.down) {
    text += " down " + one.owner + " " + std::string(OutcomeName(one.outcome)) + " " +
            std::to_string(one.without_place) + ";";
  }
  for (const StoppedInstance& one : impact.degraded) {
    text += " degraded " + one.owner + " " + std::string(OutcomeName(one.outcome)) + " " +
            std::to_string(one.without_place) + ";";
  }
  for (const ServiceForecast& service : impact.shrunk) text += " shrunk " + service.service.job_id;
  text += " moved " + std::to_string(impact.moved);
  for (const auto& [resource, npus] : impact.missing) {
    text += " missing " + std::to_string(npus) + " " + resource;
  }
  return text;
}

std::vector<std::string> RankOf(const SmallCluster& cluster,
                                std::vector<SingleLoss> (*losses)(const Inventory&)) {
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const InitialState initial(snapshot);
  Forecaster forecaster(initial);
  std::vector<Impact> impacts;
  for (const SingleLoss& loss : losses(initial.inventory)) {
    impacts.push_back(ImpactOf(loss.name, forecaster.Of(loss.hypothesis)));
  }
  Rank(impacts);
  std::vector<std::string> reported;
  for (const Impact& impact : impacts) reported.push_back(ImpactText(impact));
  return reported;
}

// A job of eight NPUs on n0, two of four on n1, one of two on n10; n2 is free but for two.
SmallCluster Ranked() {
  const Json force = {{"fault-scheduling", "force"}};
  SmallCluster cluster;
  for (const char* node : {"n0", "n1", "n2", "n10"}) cluster.Node(node);
  const auto add = [&](const std::string& name, const char* node, const char* chips) {
    cluster.Group(name, "Job/" + name, 1, force);
    cluster.Pod({name, node, chips, name, "Job/" + name, force});
  };
  add("a", "n0", "0-7");
  add("b", "n1", "0-3");
  add("c", "n1", "4-7");
  add("d", "n10", "0-5");
  add("e", "n2", "0-1");
  return cluster;
}

TEST(EachLoss, TheWorstComesFirst) {
  EXPECT_EQ(RankOf(Ranked(), EachNode),
            (std::vector<std::string>{
                "n0: down Job/a noRoom 1; moved 0 missing 8 huawei.com/Ascend910",
                "n1: down Job/c noRoom 1; moved 1 missing 4 huawei.com/Ascend910",
                "n2: moved 1",
                "n10: moved 1",
            }));
}

TEST(EachLoss, EachCardOfANode) {
  const auto reported = RankOf(Ranked(), EachCard);
  ASSERT_EQ(reported.size(), 32U);
  EXPECT_EQ(reported[0],
            "n0/Ascend910-0: down Job/a noRoom 1; moved 0 missing 8 huawei.com/Ascend910");
  EXPECT_EQ(reported[8], "n1/Ascend910-0: moved 1");
}

TEST(EachLoss, OfALabel) {
  SmallCluster cluster = Ranked();
  cluster.nodes[0]["metadata"]["labels"] = {{"rack", "r10"}};
  cluster.nodes[1]["metadata"]["labels"] = {{"rack", "r2"}};
  cluster.nodes[3]["metadata"]["labels"] = {{"rack", "r2"}};
  const ClusterSnapshot snapshot = cluster.Snapshot();
  const auto losses = EachValue(TakeInventory(snapshot), "rack");
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].name, "rack=r2");
  EXPECT_EQ(losses[0].hypothesis.lost, (std::vector<std::string>{"n1", "n10"}));
  EXPECT_EQ(losses[1].name, "rack=r10");
  EXPECT_EQ(losses[1].hypothesis.lost, (std::vector<std::string>{"n0"}));
  EXPECT_TRUE(EachValue(TakeInventory(snapshot), "row").empty());
}

// A service of which nothing runs any more is worse than any number of jobs.
TEST(EachLoss, ServicesComeBeforeInstances) {
  std::vector<Impact> impacts(3);
  impacts[0].name = "jobs";
  impacts[0].down.resize(5);
  impacts[1].name = "shrinks";
  impacts[1].shrunk.push_back({.service = {}, .before = 0, .after = 1});
  impacts[2].name = "ends";
  impacts[2].shrunk.push_back({.service = {}, .before = 0});
  Rank(impacts);
  EXPECT_EQ(impacts[0].name, "ends");
  EXPECT_EQ(impacts[1].name, "jobs");
  EXPECT_EQ(impacts[2].name, "shrinks");
}

// --- drains one after the other -----------------------------------------------------------------

// The pod of n2 finds room on n10, and both of n10 then on n2. Only now there is a whole node for
// the job of n0, and then one for those of n1.
TEST(OrderOfDrains, EachNodeIsBackBeforeTheNextOneGoes) {
  const ClusterSnapshot snapshot = Ranked().Snapshot();
  const auto order = OrderOfDrains(snapshot, {"n0", "n1", "n2", "n10"});
  EXPECT_EQ(order.order, (std::vector<std::string>{"n2", "n10", "n0", "n1"}));
  EXPECT_EQ(order.stopping, std::vector<std::string>());
  EXPECT_EQ(order.untried, 0U);
}

TEST(OrderOfDrains, EndsAfterSoManyPods) {
  const ClusterSnapshot snapshot = Ranked().Snapshot();
  const auto order = OrderOfDrains(snapshot, {"n0", "n2", "n10"}, 5);
  EXPECT_EQ(order.order, std::vector<std::string>{"n2"});
  EXPECT_EQ(order.stopping, std::vector<std::string>{"n0"});
  EXPECT_EQ(order.untried, 1U);
}

TEST(OrderOfDrains, WhatIsFullStays) {
  SmallCluster cluster = Ranked();
  cluster.nodes.erase(cluster.nodes.begin() + 2, cluster.nodes.end());
  cluster.Node("n3", {{"spec", {{"unschedulable", true}}}});
  const auto order = OrderOfDrains(cluster.Snapshot(), {"n0", "n1", "n3"});
  EXPECT_EQ(order.order, std::vector<std::string>{"n3"});
  EXPECT_EQ(order.stopping, (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(order.untried, 0U);
}

}  // namespace
}  // namespace mindgate::what_if
