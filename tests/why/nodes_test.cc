#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/small_cluster.h"
#include "why/chat.h"
#include "why/reader.h"
#include "why/reasons.h"

namespace mindgate::why {
namespace {

using ::mindgate::testing::SmallCluster;
using testing::Chat;
using ::testing::ElementsAre;
using testing::IdsOf;
using ::testing::IsEmpty;
using testing::Node;
using testing::Placement;

Facts WithNodes(std::vector<NodeFacts> nodes) {
  Facts facts = Chat();
  facts.placements = {Placement(std::move(nodes))};
  return facts;
}

// No NPUs, as nodes of the control plane.
NodeFacts CpuNode(const std::string& why_not) { return {.name = "cpu-0", .why_not = why_not}; }

NodeFacts Lacking(NodeFacts node, std::vector<std::string> labels) {
  node.unmet = std::move(labels);
  return node;
}

TEST(WhyNodes, WhatClosesNodesThatWouldNotFitIsNoReason) {
  for (const auto& [why_not, id] :
       {std::pair("cordoned", "nodes-cordoned"), std::pair("not Ready", "nodes-not-ready"),
        std::pair("taint dedicated", "taint"), std::pair("faulty", "faulty-nodes")}) {
    const NodeFacts full = Node("npu-1", "full", 4);
    EXPECT_THAT(IdsOf(WithNodes({CpuNode(why_not), full})), ElementsAre("not-enough-npus")) << id;
    EXPECT_THAT(IdsOf(WithNodes({Node("npu-0", why_not, 4), full})), ElementsAre("not-enough-npus"))
        << id;
    EXPECT_THAT(IdsOf(WithNodes({Lacking(Node("npu-0", why_not), {"pool=red"}), full})),
                ElementsAre("not-enough-npus"))
        << id;
    EXPECT_THAT(IdsOf(WithNodes({Node("npu-0", why_not), full})),
                ElementsAre(id, "not-enough-npus"));
    Facts without_npus = WithNodes({CpuNode(why_not)});
    without_npus.placements[0].npus = 0;
    EXPECT_THAT(IdsOf(without_npus), ElementsAre(id));
  }
}

std::string LabelFixOf(std::vector<NodeFacts> nodes, std::vector<std::string> unknown = {}) {
  Facts facts = WithNodes(std::move(nodes));
  facts.placements[0].unknown = std::move(unknown);
  for (const Reason& reason : WhyIsIt(facts).reasons) {
    if (reason.id == "no-such-label") return reason.fix.substr(reason.fix.find("NODE") + 5);
  }
  return "";
}

TEST(WhyNodes, TheLabelToAddIsWhatLargeEnoughNodesLack) {
  const std::string missing = "no node has pool=red: they have blue";
  const NodeFacts cpu = Lacking(CpuNode("label arch=arm64"), {"arch=arm64", "pool=red"});
  const NodeFacts npu = Lacking(Node("npu-0", "label pool=red"), {"pool=red"});
  EXPECT_EQ(LabelFixOf({cpu, npu}, {missing}), "pool=red");
  NodeFacts red_cpu = Lacking(cpu, {"arch=arm64"});
  EXPECT_EQ(LabelFixOf({red_cpu, npu}), "pool=red") << "the one that has it is no use";
  const NodeFacts both = Lacking(Node("npu-1", "label arch=arm64"), {"arch=arm64", "pool=red"});
  EXPECT_EQ(LabelFixOf({npu, both}, {missing}), "pool=red");
  EXPECT_EQ(LabelFixOf({both, npu}, {missing}), "pool=red");
  EXPECT_EQ(LabelFixOf({npu, cpu, red_cpu}), "pool=red") << "before nodes that are too small";
  EXPECT_EQ(LabelFixOf({both}), "arch=arm64 pool=red");
  const NodeFacts other = Lacking(Node("npu-1", "label arch=arm64"), {"arch=arm64"});
  EXPECT_EQ(LabelFixOf({other, npu}), "arch=arm64") << "one label makes npu-1 fit";
  EXPECT_EQ(LabelFixOf({npu, Node("npu-1", "full", 4)}), "") << "npu-1 has all of them";
  EXPECT_EQ(LabelFixOf({cpu}, {missing}), "arch=arm64 pool=red") << "none is large enough";
}

TEST(WhyNodes, KnowsTheLabelsThatEachNodeLacks) {
  SmallCluster cluster;
  cluster.Node("n0", {{"metadata", {{"labels", {{"arch", "arm64"}}}}}});
  cluster.Node("n1", {{"metadata", {{"labels", {{"arch", "arm64"}, {"pool", "red"}}}}},
                      {"spec", {{"unschedulable", true}}}});
  cluster.Pod({.name = "chat-0",
               .npus = 8,
               .spec = {{"nodeSelector", {{"arch", "arm64"}, {"pool", "red"}}}}});
  Facts facts{.kind = "Deployment", .name = "chat", .ns = SmallCluster::kNs};
  facts.pods = {testing::Waiting("chat-0")};
  AddCluster(cluster.Snapshot(), facts);
  ASSERT_EQ(facts.placements.size(), 1u);
  ASSERT_EQ(facts.placements[0].nodes.size(), 2u);
  EXPECT_THAT(facts.placements[0].nodes[0].unmet, ElementsAre("pool=red"));
  EXPECT_THAT(facts.placements[0].nodes[1].unmet, IsEmpty());
}

}  // namespace
}  // namespace mindgate::why
