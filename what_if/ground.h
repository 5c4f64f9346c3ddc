#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"
#include "watcher/scaling/pod_group.h"
#include "what_if/inventory.h"
#include "what_if/snapshot.h"
#include "what_if/survey.h"

namespace mindgate::what_if {

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
  std::vector<size_t> instances{};  // of Ground, in ascending order
  std::vector<size_t> pods{};       // of the inventory, in ascending order
  std::set<watcher::scaling::ServiceKey> services{};
  std::vector<watcher::scaling::PodGroupPtr> pod_groups{};  // under a scaling rule
};

// A cluster, read for any number of questions. Nothing changes it, and it is safe from many
// threads.
struct Ground {
  // `of` must outlive it.
  explicit Ground(const ClusterSnapshot& of);
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

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
Part PartOf(const Ground& ground, const std::set<size_t>& families);
Part Whole(const Ground& ground);

}  // namespace mindgate::what_if
