#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/expectation.h"
#include "simulation/recorder.h"
#include "simulation/scenario.h"
#include "simulation/world.h"
#include "watcher/frame/decision_log.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/instances.h"

namespace mindgate::simulation {

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
  void Look();
  // Whether it was looked at in this moment, as something had changed.
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

}  // namespace mindgate::simulation
