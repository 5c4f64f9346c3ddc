#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "json/projection.h"
#include "json/value.h"
#include "watcher/gang_repair/decision.h"

// What gang repair keeps of a cluster: of each object a few figures, and whose it is.
namespace mindgate::watcher::gang_repair {

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

  // As kube::Informer tells a change: null is "not there".
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
    bool answered = false;  // it is what a write of ours was answered: no watch has told it yet
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
