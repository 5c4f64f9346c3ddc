#include "simulation/service_states.h"

#include <algorithm>
#include <string_view>

#include "simulation/pod_text.h"

namespace mindgate::simulation {

using watcher::scaling::Phase;

ServiceStates::ServiceStates(const Scenario& scenario, const ScenarioOptions& options,
                             const ManualClock& clock, World& world, Recorder& recorder)
    : scenario_(scenario), options_(options), clock_(clock), world_(world), recorder_(recorder) {
  for (const ServiceSpec& spec : scenario.services) {
    const watcher::scaling::ServiceKey key{spec.rule.ns, spec.rule.name, spec.job_id};
    by_key_[key] = states_.size();
    states_.emplace_back().rule = watcher::scaling::RuleMissing(key);
  }
  for (const Entry& entry : scenario.timeline) {
    if (const auto* submit = std::get_if<Submit>(&entry.action)) {
      const InstanceSpec& instance = submit->instance;
      namespaces_[instance.name].insert(scenario.services[instance.service].rule.ns);
    }
  }
}

std::string ServiceStates::SubjectOf(const ServiceSpec& service, const std::string& name) const {
  const auto found = namespaces_.find(name);
  const bool alone = found == namespaces_.end() || found->second.size() == 1;
  return alone ? name : service.rule.ns + "/" + name;
}

void ServiceStates::RuleChanged(const RuleKey& key,
                                const std::shared_ptr<const watcher::scaling::RuleState>& rule) {
  for (const auto& [service, i] : by_key_) {
    if (scenario_.services[i].rule != key) continue;
    states_[i].rule = rule == nullptr ? watcher::scaling::RuleMissing(service) : *rule;
    states_[i].changed = true;
    world_.Touch(i);
  }
}

void ServiceStates::Follow() {
  const auto rule_of = [this](size_t service) -> const schemas::ScalingRule* {
    const auto& rule = states_[service].rule.rule;
    return rule ? &*rule : nullptr;
  };
  for (const auto& [number, before] : world_.TakeChanged(rule_of)) {
    for (; known_ <= number; ++known_) {
      if (const auto* instance = world_.gangs()[known_].instance) {
        states_[instance->service].instances.push_back(known_);
      }
    }
    const Gang& gang = world_.gangs()[number];
    State& state = states_[gang.instance->service];
    state.changed = true;
    recorder_.FollowInstance(number, world_.SpanOf(number));
    const bool ran = before == Phase::kRunning;
    const bool runs = gang.observed && gang.observed->phase == Phase::kRunning;
    if (ran == runs) continue;
    int64_t& running = state.running[gang.instance->group];
    running += runs ? 1 : -1;
    if (!runs) continue;
    Peak& peak = state.history.peaks[gang.instance->group];
    if (running > peak.running) peak = {running, recorder_.at()};
    recorder_.Note(EventKind::kRunning, gang.service->name,
                   SubjectOf(*gang.service, gang.spec->name),
                   gang.observed->ready == gang.spec->pods
                       ? "all of its pods"
                       : std::to_string(gang.observed->ready) + " of its " + PodsText(*gang.spec));
  }
}

void ServiceStates::Note(watcher::DecisionRecord record) {
  const auto about = [&](std::string_view name) -> const std::string& {
    return std::find_if(record.about.begin(), record.about.end(),
                        [&](const auto& member) { return member.first == name; })
        ->second;
  };
  const size_t index = by_key_.at({record.ns, about("rule"), about("jobID")});
  State& state = states_[index];
  const std::string name = WithoutKinds(about("instance"));
  const std::string reason = WithoutKinds(std::move(record.reason));
  state.history.reasons[name] = reason;
  const auto done = [&](EventKind kind) {
    state.held.erase(name);
    state.reported_held.erase(name);
    const ServiceSpec& service = scenario_.services[index];
    recorder_.Note(kind, service.name, SubjectOf(service, name), reason);
  };
  if (record.what == "held") {
    state.held[name] = reason;
  } else if (record.what == "granted") {
    done(EventKind::kGranted);
  } else if (record.what == "withdrawn") {
    done(EventKind::kWithdrawn);
    state.history.withdrawn[name] = about("group");
  } else if (record.what == "given up") {
    done(EventKind::kGivenUp);
    state.history.given_up[name] = about("group");
  } else if (record.what == "would be given up") {
    state.history.would_give_up[name] = about("group");
    state.would_give_up.emplace_back(name, reason);
  }
}

void ServiceStates::NoteReason(const Gang& gang, const std::string& reason) {
  states_[gang.instance->service].history.reasons[gang.spec->name] = reason;
}

void ServiceStates::Look() {
  for (size_t i = 0; i < states_.size(); ++i) Report(i);
}

void ServiceStates::Report(size_t index) {
  State& state = states_[index];
  const ServiceSpec& spec = scenario_.services[index];
  state.looked = state.changed;
  if (state.changed) Decide(state);
  for (const auto& [name, reason] : std::exchange(state.held, {})) {
    if (std::exchange(state.reported_held[name], reason) == reason) continue;
    const auto instance = world_.FindInstance(spec.rule.ns, name);
    const bool waits = !instance || !world_.gangs()[*instance].observed ||
                       world_.gangs()[*instance].observed->gated > 0;
    recorder_.Note(waits ? EventKind::kHeld : EventKind::kKept, spec.name, SubjectOf(spec, name),
                   reason);
  }
  for (auto& [name, reason] : std::exchange(state.would_give_up, {})) {
    recorder_.Note(EventKind::kWouldGiveUp, spec.name, SubjectOf(spec, name), std::move(reason));
  }
  std::string shape = ShapeText(state.service, state.decision);
  if (shape == state.reported_shape || (state.reported_shape.empty() && !state.decision.reached)) {
    return;
  }
  recorder_.Note(EventKind::kShape, spec.name, spec.name, shape);
  recorder_.ChangeShape(
      {recorder_.at(), spec.name, state.decision.reached ? *state.decision.reached + 1 : 0, shape});
  state.reported_shape = std::move(shape);
}

void ServiceStates::Decide(State& state) {
  state.changed = false;
  state.service = {.rule = state.rule.rule, .no_rule = state.rule.why_not, .instances = {}};
  std::erase_if(state.instances, [&](size_t i) { return world_.gangs()[i].deleted; });
  for (const size_t i : state.instances) {
    const Gang& gang = world_.gangs()[i];
    if (gang.observed) state.service.instances.push_back(*gang.observed);
  }
  state.decision = watcher::scaling::Decide(state.service, options_, clock_.WallNow());
}

ServiceNow ServiceStates::NowOf(size_t service) const {
  const State& state = states_[service];
  return {state.service, state.decision, state.history};
}

std::vector<ServiceEnd> ServiceStates::Ends() const {
  std::vector<ServiceEnd> ends;
  for (size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    const size_t shapes = state.rule.rule ? state.rule.rule->tiers.size() : 0;
    ends.push_back(
        {scenario_.services[i].name, state.decision.reached, shapes, state.decision.groups});
  }
  return ends;
}

}  // namespace mindgate::simulation
