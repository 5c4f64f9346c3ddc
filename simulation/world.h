#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "faults/node_faults.h"
#include "simulation/api_server.h"
#include "simulation/cluster.h"
#include "simulation/player.h"
#include "simulation/replica.h"
#include "watcher/scaling/instances.h"

namespace mindgate::simulation {

// Pods that start and end together: a job, or an instance of a service.
struct Gang {
  const GangSpec* spec = nullptr;  // of one of the following two, the other of which is null
  const JobSpec* job = nullptr;
  const InstanceSpec* instance = nullptr;
  const ServiceSpec* service = nullptr;  // of the instance
  std::vector<size_t> places{};          // of its pods, by their numbers
  // What a watcher with a perfect view would see of an instance; nothing while it has no pods.
  std::optional<watcher::scaling::Instance> observed{};
  int64_t revision = 1;  // of its Deployment
  std::string base{};    // its name without the revision
  bool deleted = false;
  // Of its PodGroup, and whether its pods end when they are asked to.
  Labels labels{};
  Labels annotations{};
  bool terminates = true;
  bool ran = false;
  std::string phase{};    // empty: it has no PodGroup
  int64_t with_node = 0;  // pods
  // When the scheduler refused it: Cluster::freed().
  std::optional<uint64_t> refused{};

  const std::string& ns() const { return job != nullptr ? job->ns : service->rule.ns; }
};

// All that makes, places, runs and ends the pods of an API server: owners, a scheduler, kubelets
// and the hardware below them. Each pod has a place, in which its owner makes another one when it
// is gone. Whatever changes is reported to the watches of the watcher. One thread.
class World {
 public:
  using Happened = std::function<void(EventKind kind, const Gang& gang, std::string reason)>;

  // All must outlive it; `options` is read whenever something is done. The jobs are there.
  World(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
        ApiServer& server, Replica& replica, Happened happened);

  // By number: the jobs in the order of the scenario, then instances in that of submission.
  const std::vector<Gang>& gangs() const { return gangs_; }
  // Of the instance of that name that was submitted last; nothing when there never was one.
  std::optional<size_t> FindInstance(const std::string& ns, const std::string& name) const;
  // The job that a pod is or was of; nothing: it is of an instance.
  std::optional<size_t> JobOf(const ApiServer::PodName& pod) const;

  // --- what happens to nodes ---

  const Cluster& cluster() const { return cluster_; }
  // Instances lose their pods there, and those of jobs hang, as a kubelet that is away ends none.
  void BreakNode(size_t node);
  void RepairNode(size_t node);
  // Returns the pods on them, for LosePods.
  std::vector<size_t> BreakCards(size_t node, int64_t count) {
    return cluster_.BreakCards(node, count);
  }
  void RepairCards(size_t node, int64_t count) { cluster_.RepairCards(node, count); }
  void SetReady(size_t node, bool ready);
  void SetCordoned(size_t node, bool cordoned);
  void RemoveNode(size_t node);
  // Pods come to no hardware that is reported.
  void Report(size_t node, const faults::NodeFaults& faults);

  // --- what happens to gangs and pods ---

  void Submit(const InstanceSpec& spec);
  void Delete(size_t instance);
  void FailInstance(size_t instance);
  void FailPod(size_t instance, int64_t pod);
  void RollOut(const Rollout& rollout);
  // As Volcano does with the label fault-scheduling: all pods of an instance go with one of them,
  // those on nodes that are broken at once.
  void LoseInstance(size_t instance, const std::string& why, bool at_once);
  // Volcano ends what is left of instances; jobs wait until somebody reports the fault.
  void LosePods(const std::vector<size_t>& pods, const std::string& why);
  // Each returns why it could not be done; empty: it was.
  std::string Change(const ChangePod& change);
  std::string DeletePod(size_t job, const std::string& pod, bool by_force);
  void Change(const ChangeJob& change);

  // --- what time brings: each does what is due and returns whether there was anything ---

  bool FireTimers();
  bool SyncOwners();
  bool Schedule();
  std::optional<Time> next_due();

  // --- what there is ---

  // Observes the gangs whose pods changed since the last call, and returns the instances among
  // them, each with the phase that it had, in order. `rule_of` gives the rule of a service, or
  // null.
  using RuleOf = std::function<const schemas::ScalingRule*(size_t service)>;
  std::vector<std::pair<size_t, std::optional<watcher::scaling::Phase>>> TakeChanged(
      const RuleOf& rule_of);
  // Instances of a service whose rule is another one.
  void Touch(size_t service);
  // What the pods of an instance do and where, without its times; nothing when it has none.
  std::optional<Span> SpanOf(size_t instance) const;
  // Of each pod of a job, by name; likewise.
  std::map<std::string, Span> SpansOfJobs() const;
  // Pods of a job, by name: those that run, and those of the start that nobody has asked to end.
  std::vector<std::string> Running(size_t job) const;
  std::vector<std::string> Untouched(size_t job) const;

 private:
  struct Pod {
    bool there = false;
    watcher::scaling::PodPtr state{};  // of an instance
    std::optional<size_t> node{};
    std::optional<Time> runs_at{};
    std::optional<Time> ends_at{};
    Time eligible_at{};
    bool running = false;
    bool exited = false;
    bool going = false;

    bool gated() const { return state != nullptr && state->gate; }
  };
  // Where a pod is, or will be.
  struct Place {
    size_t gang = 0;
    size_t number = 0;  // among the pods of the gang
    ApiServer::PodName name{};
    int64_t generation = 0;  // of its last pod
    bool was_asked = false;  // somebody has asked one of its pods to end
    bool left = false;       // its owner has made the next pod elsewhere
    Pod pod{};
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
  // By priority, the highest first.
  using Turn = std::tuple<int64_t, Time, std::string, size_t>;

  // world.cc
  void PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                  const json::Json& object);
  void PodIsGone(size_t place);
  void ObjectChanged(const std::string& path, const json::Json* object);
  void Wake(size_t place, Time at) { timers_.insert({at, place}); }
  void WakeAll(const std::set<size_t>& places);
  bool Matters(const Place& place, Time timer) const;
  bool IsUnavailable(size_t node) const {
    return !cluster_.IsReady(node) || cluster_.IsBroken(node);
  }
  std::chrono::seconds TerminationOf(const Gang& gang) const;
  void PutNode(size_t node);
  void NodeChanged(size_t node);
  void End(size_t place, bool at_once);

  // control_plane.cc: owners
  size_t AddPlace(size_t gang, size_t number, ApiServer::PodName name);
  void AddInstance(const InstanceSpec& spec, const std::string& base, int64_t revision);
  void AddGroup(size_t gang);
  void PutGroup(const Gang& gang);
  void Dismiss(size_t instance);
  bool MakePods();
  json::Json NewPodFor(const Place& place) const;
  bool MustWait(const Gang& gang) const;
  bool RestartGroup(const Gang& gang);
  bool SyncPhase(Gang& gang);
  bool SyncDeployment(const DeploymentKey& key, Deployment& deployment);
  bool ScaleUp(const std::string& ns, const Deployment& deployment,
               const std::vector<size_t>& old_ones, const std::vector<size_t>& new_ones);
  bool ScaleDown(const Deployment& deployment, const std::vector<size_t>& old_ones,
                 const std::vector<size_t>& new_ones);
  bool IsAvailable(size_t instance) const;

  // control_plane.cc: the scheduler
  void WaitInTurn(size_t gang, bool waits);
  bool PlaceGang(size_t gang);
  bool Refuse(size_t gang, const std::vector<size_t>& places, const PodNeeds& needs);
  std::optional<std::vector<size_t>> FindNodes(const std::vector<size_t>& places,
                                               const PodNeeds& needs, std::optional<size_t> beside);
  void Bind(size_t place, size_t node);
  std::string PlacedText(const Gang& gang, const std::vector<size_t>& places,
                         const std::vector<size_t>& nodes) const;

  const Scenario& scenario_;
  const ScenarioOptions& options_;
  const ManualClock& clock_;
  ApiServer& server_;
  Replica& replica_;
  const Happened happened_;
  Cluster cluster_;
  std::map<std::string, size_t> node_of_path_;
  std::vector<bool> node_exists_;          // Nodes
  std::vector<std::set<size_t>> on_node_;  // places of pods
  std::vector<Gang> gangs_;
  std::vector<size_t> grouped_;  // gangs with PodGroups
  std::vector<Place> places_;
  std::deque<InstanceSpec> rolled_out_;                            // of rolling updates
  std::map<std::pair<std::string, std::string>, size_t> by_name_;  // instances, with namespaces
  std::map<ApiServer::PodName, size_t> by_pod_;                    // the place of each pod
  std::map<ApiServer::PodName, size_t> job_of_;  // of each pod of a job that ever was
  std::set<size_t> missing_;                     // places whose owner will make a pod
  std::set<std::pair<Time, size_t>> timers_;     // of places
  std::set<Turn> waiting_;                       // gangs that may be placed
  std::map<size_t, Turn> turns_;                 // of those
  std::set<size_t> changed_;                     // gangs
  std::map<DeploymentKey, Deployment> deployments_;
  // What found no room, and Cluster::freed() then.
  std::set<std::tuple<size_t, PodNeeds, std::string>> no_room_;
  uint64_t no_room_since_ = 0;
};

// "2 pods with 8 NPUs each".
std::string PodsText(const GangSpec& spec);

}  // namespace mindgate::simulation
