#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "simulation/scenario.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"
#include "what_if/snapshot.h"
#include "what_if/survey.h"

namespace mindgate::what_if {

using simulation::Labels;

// What a snapshot says of nodes, pods and PodGroups, as a scheduler sees them.

// An annotation of the entries of pods that are not there, but in a manifest. No snapshot of a
// cluster keeps it.
inline constexpr std::string_view kPlanned = "mindgate.io/planned";

// One that keeps new pods away (NoSchedule, NoExecute).
struct Taint {
  std::string key;
  std::string value;
  std::string effect;
};

struct Toleration {
  std::string key;        // empty, with Exists: of all taints
  std::string operation;  // "Exists", else Equal
  std::string value;
  std::string effect;  // empty: of all effects
  auto operator<=>(const Toleration&) const = default;
};

struct Node {
  std::string name;
  Labels labels{};
  std::string super_pod{};  // empty: it is in none
  std::vector<Taint> taints{};
  bool closed = false;  // cordoned, or being deleted
  // By resource: "huawei.com/Ascend910" to "Ascend910-0" and so on, numbers in names as numbers.
  std::map<std::string, std::vector<std::string>> chips{};
  // What the kubelet offers, without chips that its device plugin calls unhealthy.
  std::map<std::string, int64_t> allocatable{};
};

struct Pod {
  std::string ns;
  std::string name;
  std::string node{};          // empty: it is not placed
  std::optional<size_t> on{};  // its place in Inventory::nodes; nothing: it has none there
  std::string pod_group{};     // empty: it is in none
  // For people: "Deployment/chat", "LeaderWorkerSet/chat", "Pod/p0".
  std::string owner{};
  std::string controller{};  // the kind of its controller; empty: nobody makes it again
  std::string lws_group{};   // pods that LeaderWorkerSet recreates together; empty: it is of none
  Time created{};
  int64_t priority = 0;
  // The NPUs that it asks for; empty: none. A device that no node offers comes before them.
  std::string resource{};
  int64_t npus = 0;
  std::set<std::string> chips{};  // physical ones of AscendReal
  Labels node_selector{};
  std::vector<Toleration> tolerations{};
  bool gated = false;                  // the scheduler may not place it yet
  bool failed = false;                 // it has ended, and holds no chips
  bool leaving = false;                // its deletion was asked for
  bool is_new = false;                 // of a manifest: it is not there
  const json::Value* entry = nullptr;  // of the snapshot, which outlives it
};

struct Gang {
  int64_t min_member = 1;
  std::optional<int64_t> k{};  // huawei.com/schedule_minAvailable, of the PodGroup, else of a pod
  bool of_replica_set = false;
  bool of_job = false;  // its pods are of use only together
  Time created{};
  // All of its pods go to one super pod: sp-block says that they are one block.
  bool one_super_pod = false;

  // How many of `pods` the scheduler binds together or not at all (mind-cluster:
  // component/ascend-for-volcano/plugin/job.go, initByJobInfo): of a ReplicaSet without K all, K
  // where minMember is 1, else minMember.
  int64_t Together(int64_t pods) const;
};

using GroupName = std::pair<std::string, std::string>;  // namespace and name

struct Inventory {
  std::vector<Node> nodes;                   // by name, numbers in names as numbers
  std::vector<Pod> pods;                     // by namespace and name
  std::vector<std::vector<size_t>> pods_on;  // by node, in ascending order
  std::map<GroupName, Gang> gangs;
  std::set<std::string, std::less<>> devices;  // that any node has or had, NPUs or not

  std::optional<size_t> FindNode(std::string_view name) const;
  std::optional<size_t> FindPod(const std::string& ns, const std::string& name) const;
};

Inventory TakeInventory(const ClusterSnapshot& snapshot);

// A resource that a device plugin registers, of any vendor: not cpu, memory and others of
// Kubernetes.
bool IsDevice(std::string_view resource);

// Whether a pod may go to a node with these taints.
bool Tolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints);

// Namespace, and PodGroup, group of a LeaderWorkerSet or owner: of no two of them is it the same,
// since an owner has a '/' and a PodGroup's name has none.
using InstanceKey = std::pair<std::string, std::string>;

// Pods that are placed and counted together.
struct Instance {
  InstanceKey key;
  std::vector<size_t> pods{};  // of the inventory, in ascending order
  const Gang* gang = nullptr;  // null: they are in no PodGroup
  // Who is placed first: by priority, the highest first, then by age.
  int64_t priority = 0;
  Time created{};
};

// Instances and services of which nothing is decided without the others. Between families there is
// the room on the nodes alone.
struct Family {
  std::vector<size_t> instances{};  // of InitialState, in ascending order
  std::vector<size_t> pods{};       // of the inventory, in ascending order
  std::set<watcher::scaling::ServiceKey> services{};
  std::vector<watcher::scaling::PodGroupPtr> pod_groups{};  // under a scaling rule
};

// A cluster, read for any number of questions. Nothing changes it, and it is safe from many
// threads.
struct InitialState {
  // `of` must outlive it.
  explicit InitialState(const ClusterSnapshot& of);
  InitialState(const InitialState&) = delete;
  InitialState& operator=(const InitialState&) = delete;

  const ClusterSnapshot& snapshot;
  const Inventory inventory;
  const SurveyedFaults reported;
  const Jobs jobs;
  std::vector<Instance> instances{};  // by key
  std::vector<Family> families{};
  std::vector<size_t> family_of{};  // by pod
  // By namespace and name.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const watcher::scaling::RuleState>>
      rules{};

 private:
  void GroupPods();
  void ReadRules();
  void FindFamilies();
};

// What is decided in one go: whole families. What is in none of them stays as it is.
struct Part {
  std::vector<size_t> families{};  // in ascending order, as all of these
  std::vector<size_t> instances{};
  std::vector<size_t> pods{};
};
Part PartOf(const InitialState& initial, const std::set<size_t>& families);
Part Whole(const InitialState& initial);

}  // namespace mindgate::what_if
