#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/node_faults.h"
#include "simulation/api_server.h"
#include "simulation/manual_clock.h"
#include "simulation/scenario.h"
#include "simulation/timeline.h"

namespace mindgate::simulation {

// The path of an object that an API server keeps beside pods.
std::string NodePath(const std::string& node);
std::string PodGroupPath(const JobSpec& job);

// Owners of jobs, a scheduler that places gangs, kubelets and the hardware below them, at one API
// server. As real ones they look at pods as they are, whoever changed them.
class Jobs {
 public:
  using Telling = std::function<void(EventKind kind, size_t job, const std::string& subject,
                                     std::string reason)>;

  // All must outlive it; `options` is read whenever something is done.
  Jobs(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
       ApiServer& server, Telling telling);

  // Told of each change of a pod by the API server.
  void PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                  const json::Json& object);

  void Report(size_t node, const faults::NodeFaults& faults);
  void SetReady(size_t node, bool ready);
  void SetCordoned(size_t node, bool cordoned);
  void RemoveNode(size_t node);
  bool IsThere(size_t node) const { return nodes_[node].there; }
  bool IsReady(size_t node) const { return nodes_[node].there && nodes_[node].ready; }
  bool IsIsolated(size_t node) const;

  // Each says why it could not be done; empty: it was.
  std::string Change(const ChangePod& change);
  void Change(const ChangeJob& change);
  std::string Delete(size_t job, const std::string& pod, bool by_force);

  // Each does what is due and returns whether there was anything.
  bool RunPods();
  bool SyncOwners();
  bool Schedule();
  std::optional<Time> next_due() const;

  // Whose a pod is or was.
  size_t JobOf(const std::string& pod) const { return job_of_.at(pod); }
  // By name.
  std::vector<std::string> Running(size_t job) const;
  // Those of the start that nobody has asked to end.
  std::vector<std::string> Untouched(size_t job) const;
  // Of each pod that is there, by name; without times.
  std::map<std::string, Span> Spans() const;

 private:
  struct Pod {
    size_t job = 0;
    size_t ordinal = 0;
    int64_t generation = 1;
    std::string uid{};
    std::optional<size_t> node{};
    std::vector<int64_t> chips{};
    std::optional<Time> runs_at{};
    std::optional<Time> ends_at{};
    bool running = false;
    bool failed = false;
    bool exited = false;
    bool going = false;
  };
  struct Place {
    int64_t generation = 0;  // of its last pod
    std::string name{};      // of its pod; empty: there is none
    bool was_asked = false;  // somebody has asked one of its pods to end
  };
  struct Job {
    const JobSpec* spec = nullptr;
    JobSpec::Texts labels{};
    JobSpec::Texts annotations{};
    bool ever_ends = true;
    bool ran = false;
    std::string phase{};
    std::vector<Place> places{};
  };
  struct Node {
    bool there = true;
    bool ready = true;
    bool cordoned = false;
    std::vector<bool> used{};  // by chip
    faults::NodeFaults faults{};
  };

  ApiServer::PodName NameOf(const Job& job, const std::string& pod) const;
  bool SyncGroup(size_t number);
  bool SyncPhase(size_t number);
  void PutNode(const std::string& name, bool ready);
  void PutGroup(size_t number);
  std::optional<std::vector<int64_t>> Room(size_t node, const Job& job) const;
  bool PlaceJob(size_t number);

  const Scenario& scenario_;
  const ScenarioOptions& options_;
  const ManualClock& clock_;
  ApiServer& server_;
  const Telling telling_;
  std::vector<Job> jobs_;
  std::vector<Node> nodes_;
  std::map<ApiServer::PodName, Pod> pods_;
  std::map<std::string, size_t, std::less<>> job_of_;  // of each pod that ever was
};

}  // namespace mindgate::simulation
