#include <gtest/gtest.h>

#include <set>
#include <string>

#include "watcher/rescheduling/policy.h"
#include "watcher/rescheduling_policies.h"

// Which fault each pod has.
namespace mindgate::watcher::rescheduling {
namespace {

using faults::FaultLevel;
using faults::NodeStatus;

struct FaultyCluster {
  faults::FaultsByNode nodes;
  std::set<std::string, std::less<>> not_ready;

  std::string TypeOf(const Task& task, const FaultPolicy& policy = {}) const {
    return std::string(FaultTypeName(Classify(task, policy, {nodes, not_ready})));
  }
};

Task On(const std::string& node, const std::string& chip = "") {
  Task task{.pod = "p", .node = node};
  if (!chip.empty()) task.chips = {chip};
  return task;
}

TEST(Classify, TheFirstThatIsSo) {
  FaultyCluster cluster;
  cluster.nodes["noded"].machine.status = NodeStatus::kUnhealthy;
  cluster.nodes["switch"].switches.status = NodeStatus::kUnhealthy;
  cluster.nodes["pre"].machine.status = NodeStatus::kPreSeparate;
  cluster.nodes["chips"].devices.unhealthy = {"Ascend910-3"};
  cluster.nodes["chips"].devices.network_unhealthy = {"Ascend910-4"};
  cluster.nodes["chips"].devices.recovering = {"Ascend910-5"};
  cluster.nodes["slow"].devices.faults = {{"Ascend910-6", FaultLevel::kSubHealth, {}, {}}};
  cluster.nodes["slow-switch"].switches.status = NodeStatus::kSubHealthy;
  cluster.not_ready = {"lost", "noded"};
  const FaultPolicy plain = PolicyOf({{"fault-scheduling", "force"}});
  const FaultPolicy retries = PolicyOf({{"fault-scheduling", "force"}, {"fault-retry-times", "3"}});
  const FaultPolicy exits =
      PolicyOf({{"fault-scheduling", "force"}, {"subHealthyStrategy", "graceExit"}});
  EXPECT_EQ(cluster.TypeOf(On("")), "Healthy") << "not placed";
  EXPECT_EQ(cluster.TypeOf(On("other", "Ascend910-3")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("noded")), "NodeUnhealthy") << "also without NPUs";
  EXPECT_EQ(cluster.TypeOf(On("switch")), "NodeUnhealthy");
  // PreSeparate is not a fault of what runs, nor is a network.
  EXPECT_EQ(cluster.TypeOf(On("pre", "Ascend910-0")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-3")), "CardUnhealthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-4")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips", "Ascend910-5")), "Healthy");
  EXPECT_EQ(cluster.TypeOf(On("chips")), "Healthy") << "its chips are not known";
  EXPECT_EQ(cluster.TypeOf(On("lost", "Ascend910-0")), "NodeUnhealthy");
  // A failed pod is seen only where retries are counted, whatever their number is.
  Task failed = On("other");
  failed.failed = true;
  EXPECT_EQ(cluster.TypeOf(failed, plain), "Healthy");
  EXPECT_EQ(cluster.TypeOf(failed, retries), "pod-failed");
  EXPECT_EQ(cluster.TypeOf(failed, PolicyOf({{"fault-retry-times", "-1"}})), "pod-failed");
  Task related = On("other");
  related.fault_type = "Separate";
  EXPECT_EQ(cluster.TypeOf(related), "RelationFault");
  related.failed = true;
  EXPECT_EQ(cluster.TypeOf(related, retries), "pod-failed");
  Task slow = On("other");
  slow.fault_type = "SubHealth";
  for (const Task& task : {On("slow", "Ascend910-6"), On("slow-switch"), slow}) {
    EXPECT_EQ(cluster.TypeOf(task, plain), "Healthy") << task.node;
    EXPECT_EQ(cluster.TypeOf(task, exits), "SubHealthFault") << task.node;
  }
  EXPECT_EQ(cluster.TypeOf(On("slow", "Ascend910-7"), exits), "Healthy") << "another chip";
  // A pod is switched only where another one waits for its place.
  const FaultPolicy switches = PolicyOf({{"subHealthyStrategy", "hotSwitch"}});
  EXPECT_EQ(cluster.TypeOf(slow, switches), "Healthy");
  slow.may_be_switched = true;
  EXPECT_EQ(cluster.TypeOf(slow, switches), "SubHealthFault");
}

TEST(ReasonOf, HardwareBeforeFailedPods) {
  using enum FaultType;
  EXPECT_EQ(ReasonOf({}), kHealthy);
  EXPECT_EQ(ReasonOf({kHealthy, kPodFailed}), kPodFailed);
  EXPECT_EQ(ReasonOf({kPodFailed, kSubHealthFault}), kSubHealthFault);
  EXPECT_EQ(ReasonOf({kPodFailed, kCardUnhealthy}), kCardUnhealthy);
  EXPECT_EQ(ReasonOf({kSubHealthFault, kRelationFault}), kRelationFault);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
