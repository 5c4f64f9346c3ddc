#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simulation/api_server.h"
#include "simulation/cluster.h"
#include "simulation/manual_clock.h"
#include "simulation/timeline.h"
#include "watcher/scaling/instances.h"

namespace mindgate::simulation {

// All that makes, places, runs and ends the pods of an API server: owners, a scheduler and
// kubelets. Each pod of an instance has a place of its own, in which its owner makes another one
// when it is gone. The scheduler places all pods of an instance or none, the longest waiting
// instance first. One thread.
class Workloads {
 public:
  struct Live {
    const InstanceSpec* spec = nullptr;
    size_t first_pod = 0;  // its places are this one and those that follow
    int64_t revision = 1;  // of its Deployment
    std::string base{};    // its name without the revision
    bool deleted = false;
    // What a watcher with a perfect view would see of it; nothing while it has no pods.
    std::optional<watcher::scaling::Instance> seen{};
    // When the scheduler refused it: Cluster::freed().
    std::optional<uint64_t> refused{};
  };
  using Telling = std::function<void(EventKind kind, const Live& live, std::string reason)>;
  // A pod as it is now, null when it is gone, and how much later than that it is to be seen.
  using Following = std::function<void(const ApiServer::PodName& name, watcher::scaling::PodPtr pod,
                                       std::chrono::seconds delay)>;

  // All must outlive it; `options` is read whenever something is done.
  Workloads(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
            ApiServer& server, Telling telling, Following following);

  Cluster& cluster() { return cluster_; }
  const std::vector<Live>& all() const { return live_; }  // by number, in the order of submission
  // The one of that name that was submitted last; nothing when there never was one.
  std::optional<size_t> Find(const std::string& ns, const std::string& name) const;

  void Submit(const InstanceSpec& spec);
  void Delete(size_t instance);
  void FailInstance(size_t instance);
  void FailPod(size_t instance, int64_t pod);
  void RollOut(const Rollout& rollout, size_t service);
  // As Volcano does with the label fault-scheduling: all pods of an instance go with one of them;
  // those on nodes that are broken at once.
  void LosePods(const std::vector<size_t>& pods, const std::string& why);
  // Of the pods on it.
  void SetReady(size_t node, bool ready);

  // Each does what is due and returns whether there was anything.
  bool RingAlarms();
  bool SyncOwners();
  bool Schedule();
  std::optional<Time> next_due() const;

  // Looks at the instances whose pods changed since the last call, and returns them, each with the
  // phase that it had, in order. `rule_of` gives the rule of a service, or null.
  using RuleOf = std::function<const schemas::ScalingRule*(size_t service)>;
  std::vector<std::pair<size_t, std::optional<watcher::scaling::Phase>>> TakeChanged(
      const RuleOf& rule_of);
  // What its pods do and where, without its times; nothing when it has none.
  std::optional<Span> SpanOf(size_t instance) const;
  // Those of a service whose rule is another one.
  void Touch(size_t service);

 private:
  // Where a pod is, or will be.
  struct Place {
    size_t instance = 0;
    ApiServer::PodName name;
    watcher::scaling::PodPtr pod{};  // null: there is none now
    std::optional<size_t> node{};
    std::optional<Time> runs_at{};
    std::optional<Time> ends_at{};
    Time eligible_at{};
  };
  // Instances that are replaced by newer ones.
  struct Deployment {
    std::vector<std::string> bases{};  // of its replicas
    int64_t revision = 1;
    int64_t max_surge = 0;
    int64_t max_unavailable = 0;
    bool rolls = false;
  };
  using DeploymentKey = std::pair<size_t, std::string>;  // service and workload

  void Add(const InstanceSpec& spec, const std::string& base, int64_t revision);
  void PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                  const json::Json& object);
  void Wake(size_t place, Time at);
  void End(size_t place, bool at_once);
  void LoseInstance(size_t instance, const std::string& why, bool at_once);
  bool SyncDeployment(const DeploymentKey& key, Deployment& deployment);
  bool ScaleUp(const std::string& ns, const Deployment& deployment,
               const std::vector<size_t>& old_ones, const std::vector<size_t>& new_ones);
  bool ScaleDown(const Deployment& deployment, const std::vector<size_t>& old_ones,
                 const std::vector<size_t>& new_ones);
  bool IsAvailable(size_t instance) const;
  bool PlaceInstance(size_t instance);
  std::optional<std::vector<size_t>> FindNodes(const std::vector<size_t>& places,
                                               const PodNeeds& needs, std::optional<size_t> beside);
  void TellPlaced(const Live& live, const std::vector<size_t>& nodes);
  std::span<const Place> PlacesOf(size_t instance) const;
  const std::string& NamespaceOf(const InstanceSpec& spec) const;

  // By priority, the highest first.
  using Turn = std::tuple<int64_t, Time, std::string, size_t>;
  static Turn TurnOf(const Live& live, size_t instance);

  const Scenario& scenario_;
  const ScenarioOptions& options_;
  const ManualClock& clock_;
  ApiServer& server_;
  const Telling telling_;
  const Following following_;
  Cluster cluster_;
  std::vector<Live> live_;
  std::vector<Place> places_;
  std::deque<InstanceSpec> made_;                                  // of rolling updates
  std::map<std::pair<std::string, std::string>, size_t> by_name_;  // by namespace and name
  std::map<ApiServer::PodName, size_t> there_;                     // the place of each pod
  std::set<size_t> missing_;                  // places whose owner will make a pod
  std::set<std::pair<Time, size_t>> alarms_;  // of places
  std::set<Turn> waiting_;                    // instances that may be placed
  std::set<size_t> changed_;
  std::map<DeploymentKey, Deployment> deployments_;
  // What found no room, and Cluster::freed() then.
  std::set<std::tuple<size_t, PodNeeds, std::string>> no_room_;
  uint64_t no_room_since_ = 0;
};

// "2 pods with 8 NPUs each".
std::string PodsText(const InstanceSpec& spec);

}  // namespace mindgate::simulation
