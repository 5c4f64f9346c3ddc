#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "support/small_cluster.h"

namespace mindgate::testing {

// A cluster of up to a dozen nodes with all that decisions distinguish: owners of every kind,
// gangs, scaling rules, taints, racks and super pods, faults that are there already, and pods that
// wait, have failed, are leaving or are bound to a Node that is gone. The same for the same seed.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    const int nodes = Below(9) + 3;
    for (int i = 0; i < nodes; ++i) AddNode(i);
    if (OneIn(2)) AddFaults();
    const int workloads = Below(3 * nodes) + 2;
    for (int i = 0; i < workloads; ++i) AddWorkload(i);
    if (OneIn(2)) AddService();
    if (OneIn(3)) AddDaemonSet();
  }

  const SmallCluster& cluster() const { return cluster_; }
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool OneIn(int of) { return Below(of) == 0; }

 private:
  static std::string NodeName(size_t i) { return "n" + std::to_string(i); }

  void AddNode(int i) {
    Json more = {{"metadata", {{"labels", {{"rack", "r" + std::to_string(i / 3)}}}}}};
    if (OneIn(2)) more["metadata"]["labels"]["pool"] = OneIn(2) ? "blue" : "green";
    if (OneIn(2)) more["metadata"]["annotations"] = {{"superPodID", std::to_string(i / 4)}};
    if (OneIn(8)) more["spec"]["unschedulable"] = true;
    if (OneIn(5)) {
      more["spec"]["taints"] = {{{"key", "dedicated"}, {"value", "llm"}, {"effect", "NoSchedule"}}};
    }
    if (OneIn(12)) more["status"]["conditions"] = {{{"type", "Ready"}, {"status", "Unknown"}}};
    const int npus = OneIn(6) ? 4 : 8;
    cluster_.Node(NodeName(free_.size()), more, npus);
    free_.push_back(npus);
  }

  void AddFaults() {
    const std::string node = NodeName(static_cast<size_t>(Below(static_cast<int>(free_.size()))));
    cluster_.Devices(node, {{OneIn(2) ? "huawei.com/Ascend910-Unhealthy"
                                      : "huawei.com/Ascend910-NetworkUnhealthy",
                             "Ascend910-" + std::to_string(Below(8))}});
  }

  Json FaultLabels() {
    Json labels = Json::object();
    if (!OneIn(5)) labels["fault-scheduling"] = OneIn(4) ? "grace" : "force";
    if (OneIn(2)) labels["pod-rescheduling"] = "on";
    if (OneIn(6)) labels["process-recover-enable"] = "on";
    if (OneIn(6)) labels["subHealthyStrategy"] = "graceExit";
    if (OneIn(8)) labels["fault-retry-times"] = "2";
    return labels;
  }

  // With its node and chips, when there is room for it and nothing else is to happen.
  void Add(PodSpec pod, int npus) {
    if (OneIn(5)) {
      pod.spec["tolerations"] = {{{"key", "dedicated"}, {"operator", "Exists"}}};
    }
    if (OneIn(4)) pod.spec["nodeSelector"] = {{"pool", OneIn(2) ? "blue" : "green"}};
    if (OneIn(5)) pod.spec["priority"] = Below(3);
    if (OneIn(20)) pod.status["phase"] = "Failed";
    if (npus > 0 && !OneIn(8)) {
      const auto first = static_cast<size_t>(Below(static_cast<int>(free_.size())));
      for (size_t i = 0; i < free_.size() && pod.node.empty(); ++i) {
        const size_t node = (first + i) % free_.size();
        if (free_[node] < npus) continue;
        free_[node] -= npus;
        pod.node = NodeName(node);
        pod.chips = std::to_string(free_[node]) + "-" + std::to_string(free_[node] + npus - 1);
      }
    } else if (npus == 0) {
      pod.node = NodeName(static_cast<size_t>(Below(static_cast<int>(free_.size()))));
    }
    if (OneIn(30)) pod.node = "gone";
    pod.npus = npus;
    const bool leaves = OneIn(25);
    cluster_.Pod(pod);
    if (leaves) cluster_.pods.back()["metadata"]["deletionTimestamp"] = "2026-03-02T11:59:00Z";
    if (OneIn(2)) {
      cluster_.pods.back()["metadata"]["creationTimestamp"] =
          "2026-03-01T0" + std::to_string(Below(9)) + ":00:00Z";
    }
  }

  void AddWorkload(int number) {
    const std::string name = "w" + std::to_string(number);
    const int pods = Below(3) + 1;
    const int npus = OneIn(6) ? 0 : 1 << Below(4);
    Json labels = FaultLabels();
    Json annotations = Json::object();
    if (OneIn(3)) annotations["huawei.com/schedule_minAvailable"] = std::to_string(Below(pods) + 1);
    if (OneIn(5)) annotations["sp-block"] = std::to_string(pods * npus);
    std::string group = name;
    std::string owner;
    switch (Below(7)) {
      case 0:
      case 1:
        owner = "ReplicaSet/" + name + "-7d";
        labels["pod-template-hash"] = "7d";
        break;
      case 2:
        owner = "Job/" + name;
        break;
      case 3:
        owner = "AscendJob/" + name;
        break;
      case 4:
        owner = "ReplicaSet/shared-7d";  // of several workloads, in no PodGroup
        group.clear();
        break;
      case 5:
        return AddLeaderWorkerSet(name, labels);
      case 6:
        break;  // bare pods
    }
    if (!group.empty()) {
      cluster_.Group(group, owner.empty() ? "Pod/" + name : owner, OneIn(2) ? 1 : pods, labels,
                     annotations);
    }
    for (int i = 0; i < pods; ++i) {
      Json all = annotations;
      all["hccl/rankIndex"] = std::to_string(i);
      Add({.name = name + "-" + std::to_string(i),
           .group = group,
           .owner = owner,
           .labels = labels,
           .annotations = all},
          npus);
    }
  }

  void AddLeaderWorkerSet(const std::string& name, Json labels) {
    labels["leaderworkerset.sigs.k8s.io/name"] = name;
    cluster_.Group(name, "StatefulSet/" + name, 1);
    for (const char* index : {"0", "1"}) {
      labels["leaderworkerset.sigs.k8s.io/group-index"] = index;
      const std::string leader = name + "-" + index;
      const bool grouped = OneIn(2);
      if (grouped) cluster_.Group(leader, "StatefulSet/" + leader, 1);
      Add({.name = leader, .group = name, .owner = "StatefulSet/" + name, .labels = labels}, 2);
      Add({.name = leader + "-1",
           .group = grouped ? leader : "",
           .owner = "StatefulSet/" + leader,
           .labels = labels},
          OneIn(3) ? 0 : 4);
    }
  }

  void AddService() {
    const int decoders = Below(3) + 1;
    cluster_.Rule("rule", {{{"p", 1}, {"d", decoders}}, {{"p", 1}, {"d", 1}}});
    for (int i = 0; i <= decoders; ++i) {
      const std::string name = (i == 0 ? "p" : "d") + std::to_string(i);
      const Json labels = {{"fault-scheduling", "force"},
                           {"jobID", "chat"},
                           {"mind-cluster/scaling-rule", "rule"},
                           {"mind-cluster/group-name", i == 0 ? "p" : "d"}};
      const std::string owner = "AscendJob/" + name;
      cluster_.Group(name, owner, 1, OneIn(4) ? Json::object() : labels);
      PodSpec pod{.name = name, .group = name, .owner = owner, .labels = labels};
      if (OneIn(5)) pod.spec["schedulingGates"] = {{{"name", "mindgate.io/elastic-scaling"}}};
      Add(pod, OneIn(2) ? 8 : 4);
    }
  }

  void AddDaemonSet() {
    for (size_t i = 0; i < free_.size(); ++i) {
      cluster_.Pod(
          {.name = "proxy-" + std::to_string(i), .node = NodeName(i), .owner = "DaemonSet/proxy"});
    }
    // And pods that need no NPUs, of which others see to it that they run.
    for (int i = 0; i < 3; ++i) {
      cluster_.Pod({.name = "web-" + std::to_string(i),
                    .node = NodeName(static_cast<size_t>(i)),
                    .owner = "ReplicaSet/web-7d",
                    .labels = {{"pod-template-hash", "7d"}}});
    }
  }

  std::mt19937 random_;
  SmallCluster cluster_;
  std::vector<int> free_;  // NPUs, by node
};

}  // namespace mindgate::testing
