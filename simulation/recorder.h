#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/api_server.h"
#include "simulation/expectation.h"
#include "simulation/player.h"
#include "simulation/scenario.h"
#include "simulation/world.h"
#include "watcher/frame/decision_log.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/instances.h"

namespace mindgate::simulation {

// Writes down a play as it goes, within its limits.
class Recorder {
 public:
  // Both must outlive it.
  Recorder(const ManualClock& clock, const PlayLimits& limits) : clock_(clock), limits_(limits) {}

  std::chrono::seconds at() const { return clock_.WallNow().time_since_epoch(); }
  bool stopped() const { return playback_.stopped; }

  // `of`: the service or job; empty: it concerns the cluster.
  void Note(EventKind kind, std::string of, std::string subject, std::string reason);
  void Stop(std::string reason);
  void Check(CheckResult check);
  void ChangeShape(ShapeChange change) { playback_.shapes.push_back(std::move(change)); }

  // What an instance does from now on, without its times; nothing: it has no pods.
  void FollowInstance(size_t number, std::optional<Span> next) {
    Follow({number + 1, ""}, std::move(next));
  }
  // What is wrong with a node from now on; empty: nothing.
  void FollowNode(const std::string& node, std::string what);
  // What all pods of jobs do, by their names.
  void FollowJobs(std::map<std::string, Span> next);

  // What there is at the end is to be added.
  Playback Finish();

 private:
  using Key = std::pair<size_t, std::string>;  // of a row; 0 and the pod for those of jobs

  void Follow(const Key& key, std::optional<Span> next);

  const ManualClock& clock_;
  const PlayLimits& limits_;
  std::map<Key, Span> open_;
  std::map<std::string, Outage> outages_;  // those that last, by node
  Playback playback_;
};

// How the services stand in truth, whatever the watcher has seen, and what it decided about them.
class ServiceStates {
 public:
  // All must outlive it.
  ServiceStates(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
                World& world, Recorder& recorder);

  // Null: the ConfigMap is gone.
  void RuleChanged(const RuleKey& key,
                   const std::shared_ptr<const watcher::scaling::RuleState>& rule);
  // Follows who runs, after anything has happened.
  void Follow();
  // What the watcher decided about scaling. Who waits and why is recorded once a moment: between
  // the rounds of one reasons come and go.
  void Note(watcher::DecisionRecord record);
  // Why the watcher last did something to an instance, or did not.
  void NoteReason(const Gang& instance, const std::string& reason);
  // At the end of each moment.
  void Check();
  // Whether it was checked in this moment, as something had changed.
  bool looked(size_t service) const { return states_[service].looked; }
  ServiceNow NowOf(size_t service) const;
  std::vector<ServiceEnd> Ends() const;

  // As entries name an instance: with its namespace where another one has an instance of its name.
  std::string SubjectOf(const ServiceSpec& service, const std::string& name) const;

 private:
  struct State {
    watcher::scaling::RuleState rule;
    std::vector<size_t> instances{};  // by number
    watcher::scaling::Service service{};
    watcher::scaling::Decision decision{};  // only for what is reached and how many run
    bool changed = true;
    bool looked = false;
    History history{};
    std::map<std::string, int64_t> running{};  // by group
    // Since the last moment: who waits and why, by instance, and what would be done.
    std::map<std::string, std::string> held{};
    std::vector<std::pair<std::string, std::string>> would_give_up{};
    std::map<std::string, std::string> reported_held{};  // the last of each instance
    std::string reported_shape{};
  };

  void Report(size_t service);
  void Decide(State& state);

  const Scenario& scenario_;
  const ScenarioOptions& options_;
  const ManualClock& clock_;
  World& world_;
  Recorder& recorder_;
  std::map<watcher::scaling::ServiceKey, size_t> by_key_;
  std::map<std::string, std::set<std::string>> namespaces_;  // of instances, by their names
  std::vector<State> states_;
  size_t known_ = 0;  // gangs that are among the instances of their services
};

// What the text of a rule means to the services under it.
struct RuleLook {
  watcher::scaling::RuleState state;  // as the watcher reads its ConfigMap
  std::string text;                   // for the timeline
};
RuleLook LookAt(const RuleSpec& spec);

// "2 of 3 runs: 1 of g0 and 1 of g1".
std::string ShapeText(const watcher::scaling::Service& service,
                      const watcher::scaling::Decision& decision);

// What the watcher did to each job, and why.
class JobStates {
 public:
  // All must outlive it.
  JobStates(const Scenario& scenario, const ManualClock& clock, const ApiServer& server,
            const World& world)
      : scenario_(scenario),
        clock_(clock),
        server_(server),
        world_(world),
        states_(scenario.jobs.size()) {}

  void Note(const PodAction& action);
  // Of the job with that number.
  void Note(size_t job, const std::string& what, const std::string& reason);
  JobNow NowOf(size_t job) const;
  std::vector<JobEnd> Ends() const;

 private:
  const Scenario& scenario_;
  const ManualClock& clock_;
  const ApiServer& server_;
  const World& world_;
  std::vector<JobNow> states_;  // only what was done and why
};

}  // namespace mindgate::simulation
