#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "json/decode.h"
#include "json/value.h"
#include "schemas/replicas.h"

namespace mindgate::watcher::gang_repair {

// When the gang size of a PodGroup must be lowered so that a rolling update goes on, or so that the
// pods that a scale-down left can be replaced, and when it is given back. Pure: the same objects
// give the same decision, so that a new leader goes on where the old one stopped.
//
// K is the annotation huawei.com/schedule_minAvailable. The scheduler takes that of the PodGroup
// before that of the pods, and neither unless minMember is 1 (mind-cluster:
// component/ascend-for-volcano/plugin/job.go). Every template change makes a ReplicaSet with a
// PodGroup of its own; while the deployment controller makes fewer pods of it than K, none of them
// is placed, and so none becomes available, for which the controller waits.

// Who owns a gang. The namespace is a part of it: an ownerReference names none, and anybody may
// write the uid of another tenant's object into one.
struct OwnerKey {
  std::string ns{};
  std::string uid{};
  friend auto operator<=>(const OwnerKey&, const OwnerKey&) = default;
  friend const std::string& NamespaceOf(const OwnerKey& owner) { return owner.ns; }
};

// Counts are pods.
struct Deployment {
  std::string ns{};
  std::string name{};
  std::string uid{};
  int64_t replicas = 1;
  std::optional<schemas::RollingUpdate> rolling{};  // nothing: strategy Recreate
  int64_t generation = 0;
  int64_t observed_generation = 0;    // what the figures below are about
  std::optional<int64_t> revision{};  // that of the ReplicaSet of the present template
  int64_t all = 0;                    // of every template
  int64_t updated = 0;                // of the present one
  int64_t available = 0;              // of every template
  OwnerKey key() const { return {ns, uid}; }
  bool operator==(const Deployment&) const = default;
};

struct ReplicaSet {
  std::string ns{};
  std::string name{};
  std::string uid{};
  std::string owner{};  // the Deployment's uid
  int64_t revision = 0;
  int64_t replicas = 0;  // that it is to make
  int64_t k = 0;         // of its template, always more than 1
  // sp-block of its template, where that is more chips than one pod has; else 0. The scheduler
  // refuses a pod that is alone in such a block, whatever K is.
  int64_t block = 0;
  OwnerKey key() const { return {ns, uid}; }
  OwnerKey owner_key() const { return {ns, owner}; }
  bool operator==(const ReplicaSet&) const = default;
};

// An AIBrix RoleSet. The pods of all its roles with podGroupSize 1 share one PodGroup.
struct RoleSet {
  std::string ns{};
  std::string name{};
  std::string uid{};
  int64_t pods = 0;  // that these roles ask for
  int64_t k = 0;     // of their templates, always more than 1
  OwnerKey key() const { return {ns, uid}; }
  bool operator==(const RoleSet&) const = default;
};

struct PodGroup {
  std::string ns{};
  std::string name{};
  std::string uid{};
  std::string owner{};    // uid of the ReplicaSet or RoleSet
  std::string version{};  // resourceVersion
  int64_t min_member = 0;
  std::optional<std::string> k{};
  std::optional<std::string> marker{};  // schemas::kGangRepair
  OwnerKey owner_key() const { return {ns, owner}; }
  bool operator==(const PodGroup&) const = default;
};

// The pods of one ReplicaSet of the Deployment.
struct Gang {
  ReplicaSet set{};
  std::optional<PodGroup> group{};
  int64_t pods = 0;  // that exist and can still be placed or run: none that end or have ended
  bool operator==(const Gang&) const = default;
};

enum class Act : uint8_t {
  kNothing,
  kLower,    // annotation and marker get the values below
  kRestore,  // both are removed, so that the template's K counts again
};

struct Decision {
  Act act = Act::kNothing;
  std::string k{};       // of kLower
  std::string marker{};  // of kLower
  std::string reason{};  // a sentence for people, without the names of Deployment and PodGroup
  bool operator==(const Decision&) const = default;
};

// What becomes of the gang's PodGroup. What is written is at least 1 and less than the template's
// K; deciding again on what was written gives kNothing.
//
// A K that a person wrote on the PodGroup is never touched. It is distinguished from ours by what
// it says: ours is every value that the marker names, and the template's own, which the scheduler
// copies from a pod into its PodGroup and may write back with an older copy of it, without or with
// an older marker. Any other value is a person's; so is every value but the template's where there
// is no marker.
Decision Decide(const Deployment& deployment, const Gang& gang);

// The same for a RoleSet: its templates keep their K when it is scaled, so that a changed K does
// not restart all pods. With fewer pods than K the scheduler refuses the whole group, and the first
// replacement after a fault never starts. The PodGroup then gets the number that the roles ask for,
// not that of the pods that exist: those dip at every fault.
Decision Decide(const RoleSet& roles, const std::optional<PodGroup>& group);

// How many pods of a new template the deployment controller makes before the first of them is
// available.
int64_t PodsBeforeTheFirstIsAvailable(const Deployment& deployment);

// What gang repair keeps of a cluster: of each object a few figures, and whose it is.

// A pod that counts; there may be 100,000.
struct Pod {
  std::string ns;
  std::string owner;  // the ReplicaSet's uid
  OwnerKey owner_key() const { return {ns, owner}; }
  bool operator==(const Pod&) const = default;
};

// The members of an object that the functions below read; metadata.namespace, name, uid and
// resourceVersion always are there.
using Fields = std::vector<json::Projection::Path>;
Fields DeploymentFields();
Fields ReplicaSetFields();
Fields RoleSetFields();
Fields PodGroupFields();
Fields PodFields();

Deployment DeploymentOf(const json::Value& object);
// Nothing for a ReplicaSet that no Deployment owns, or whose template has no K above 1.
std::optional<ReplicaSet> ReplicaSetOf(const json::Value& object);
// Nothing for a RoleSet whose roles with podGroupSize 1 have no K above 1.
std::optional<RoleSet> RoleSetOf(const json::Value& object);
// Nothing for a PodGroup that neither a ReplicaSet nor a RoleSet owns.
std::optional<PodGroup> PodGroupOf(const json::Value& object);
// Nothing for a pod that no ReplicaSet owns, that is in no PodGroup yet, that waits behind the gate
// of elastic scaling, or that is being deleted or has ended: its place in the gang is free.
std::optional<Pod> PodOf(const json::Value& object);

// Everything that is known, by who owns what; objects may come in any order. Each change says which
// Deployments and RoleSets it is about, by their keys; none is about others. One thread at a time.
class State {
 public:
  using Affected = std::set<OwnerKey>;

  // As kube::Informer reports a change: null is "not there".
  Affected Change(const Deployment* before, const Deployment* after);
  Affected Change(const ReplicaSet* before, const ReplicaSet* after);
  Affected Change(const RoleSet* before, const RoleSet* after);
  Affected Change(const PodGroup* before, const PodGroup* after);
  Affected Change(const Pod* before, const Pod* after);

  // What the API server answered to a write of ours. An older version of the PodGroup that a watch
  // brings after that is not taken for news.
  void Wrote(const PodGroup& group);

  struct Rollout {
    Deployment deployment;
    std::vector<Gang> gangs;  // by revision
  };
  // Nothing when there is no such Deployment.
  std::optional<Rollout> Of(const OwnerKey& deployment) const;

  struct Roles {
    RoleSet set;
    std::optional<PodGroup> group;
  };
  // Nothing when there is no such RoleSet.
  std::optional<Roles> RolesOf(const OwnerKey& role_set) const;

  std::vector<OwnerKey> Owners() const;      // the Deployments and RoleSets with a gang
  size_t marked() const { return marked_; }  // PodGroups with a marker of ours

 private:
  struct HeldGroup {
    PodGroup group;
    bool answered = false;  // it is what a write of ours was answered: no watch has reported it yet
  };

  // Of a ReplicaSet its Deployment, of a RoleSet itself.
  Affected OwnerOf(const OwnerKey& set) const;
  void Put(const PodGroup& group, bool answered);
  void Remove(const PodGroup& group);

  std::map<OwnerKey, Deployment> deployments_;
  std::map<OwnerKey, ReplicaSet> sets_;
  std::map<OwnerKey, std::set<OwnerKey>> sets_of_;  // by Deployment
  std::map<OwnerKey, RoleSet> role_sets_;
  std::map<OwnerKey, HeldGroup> groups_;  // by ReplicaSet or RoleSet
  std::map<OwnerKey, int64_t> pods_;      // by ReplicaSet
  size_t marked_ = 0;
};

}  // namespace mindgate::watcher::gang_repair
