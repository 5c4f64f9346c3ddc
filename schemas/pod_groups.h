#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

// What is true of the PodGroups of each owner: one table, so that rules and mutators ask for a fact
// and not for an owner.
namespace mindgate::schemas {

// Who creates a PodGroup. This decides its minMember and where labels must be.
enum class PodGroupOwner : uint8_t {
  kAscendJob,
  kVolcanoJob,
  kReplicaSet,
  kStatefulSet,
  kDaemonSet,
  kReplicationController,
  kJob,
  kLeaderWorkerSetGroup,
  kRoleSet,
  kPodSet,
  kInstance,
  kPod,
  kUser,      // a PodGroup that stands alone
  kSitePods,  // of a kind of mindgate.yaml, whose pods are independent
  kSiteGang,  // of one whose pods work together
};

// Which amounts of a container's resources a controller counts.
enum class Counts : uint8_t {
  kRequests,  // volcano: pkg/controllers/util/util.go, CalTaskRequests; lws: pkg/utils/utils.go
  kRequestsOrLimits,  // of a container without any request its limits (kubeflow/common:
                      // pkg/controller.v1/common/util.go, AddResourceList)
  kEither,            // of real pods, where the API server copies limits; infer-operator
};

struct PodGroupFacts {
  PodGroupOwner owner;
  std::string_view maker = {};  // the controller; empty: a user
  // Its name is `before`, or the object's name and `after`.
  std::string_view before = {};
  std::string_view after = {};
  Counts counts = Counts::kEither;
  // It has the labels and annotations of the object's own metadata (mind-cluster:
  // component/ascend-operator/pkg/controllers/v1/job.go; volcano:
  // pkg/controllers/job/job_controller_actions.go).
  bool copies_metadata = false;
  // Its controller counts all pods for minResources; others count one, and multiply.
  bool counts_all_pods = false;
  // Its pods come from this object alone, in the number it says. Nothing can raise it later.
  bool fixed_size = false;
  // Its pods are one instance, which works only whole.
  bool one_instance = false;
  // Each of its pods is an instance of its own.
  bool independent_pods = false;
  // A leader and its workers. Whether they share a PodGroup is an option of their controller.
  bool leader_and_workers = false;
  // Pod 1 is made when pod 0 is ready, unless podManagementPolicy says otherwise.
  bool in_order = false;
  // A Deployment, whose rolling update replaces the group by another. Without a gang size Volcano's
  // Ascend plugin waits for all of its live replicas.
  bool of_deployment = false;
};

// Who makes a PodGroup and what it is called: volcano: pkg/controllers/podgroup, staging
// pkg/apis/helpers (GeneratePodgroupName); mind-cluster: ascend-operator pkg/controllers/v1/job.go,
// infer-operator pkg/controller/workload/podgroup_manager.go; lws:
// pkg/schedulerprovider/volcano_provider.go. In the order of PodGroupOwner.
inline constexpr PodGroupFacts kPodGroupFacts[] = {
    {.owner = PodGroupOwner::kAscendJob,
     .maker = "ascend-operator",
     .after = "-<uid>",
     .counts = Counts::kRequestsOrLimits,
     .copies_metadata = true,
     .counts_all_pods = true,
     .fixed_size = true},
    {.owner = PodGroupOwner::kVolcanoJob,
     .maker = "volcano-controllers",
     .after = "-<uid>",
     .counts = Counts::kRequests,
     .copies_metadata = true,
     .counts_all_pods = true,
     .fixed_size = true},
    {.owner = PodGroupOwner::kReplicaSet,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid of its ReplicaSet>",
     .independent_pods = true,
     .of_deployment = true},
    {.owner = PodGroupOwner::kStatefulSet,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid>",
     .independent_pods = true,
     .in_order = true},
    {.owner = PodGroupOwner::kDaemonSet,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid>",
     .independent_pods = true},
    {.owner = PodGroupOwner::kReplicationController,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid>",
     .independent_pods = true},
    {.owner = PodGroupOwner::kJob,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid of the Job>",
     .fixed_size = true},
    {.owner = PodGroupOwner::kLeaderWorkerSetGroup,
     .maker = "lws",
     .after = "-<group>-<revision>",
     .counts = Counts::kRequests,
     .counts_all_pods = true,
     .leader_and_workers = true},
    {.owner = PodGroupOwner::kRoleSet,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid of its RoleSet>",
     .independent_pods = true},
    {.owner = PodGroupOwner::kPodSet,
     .maker = "volcano-controllers",
     .before = "podgroup-<uid of its PodSet>",
     .fixed_size = true,
     .one_instance = true},
    {.owner = PodGroupOwner::kInstance,
     .maker = "infer-operator",
     .before = "<instance>",
     .counts_all_pods = true,
     .fixed_size = true},
    {.owner = PodGroupOwner::kPod, .maker = "volcano-controllers", .before = "podgroup-<uid>"},
    {.owner = PodGroupOwner::kUser, .copies_metadata = true},
    // Their operator makes it, or Volcano does; the object does not show which.
    {.owner = PodGroupOwner::kSitePods,
     .maker = "operator or volcano-controllers",
     .before = "<PodGroup>",
     .independent_pods = true},
    {.owner = PodGroupOwner::kSiteGang,
     .maker = "operator or volcano-controllers",
     .before = "<PodGroup>",
     .counts_all_pods = true},
};
static_assert(std::ranges::all_of(kPodGroupFacts, [](const PodGroupFacts& facts) {
  return &facts - kPodGroupFacts == static_cast<int>(facts.owner);
}));

constexpr const PodGroupFacts& FactsOf(PodGroupOwner owner) {
  return kPodGroupFacts[static_cast<size_t>(owner)];
}

}  // namespace mindgate::schemas
