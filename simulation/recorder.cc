#include "simulation/recorder.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/resource.h"
#include "schemas/names.h"
#include "simulation/pod_text.h"
#include "simulation/replica.h"
#include "watcher/rescheduling/state.h"

namespace mindgate::simulation {

void Recorder::Note(EventKind kind, std::string of, std::string subject, std::string reason) {
  if (playback_.stopped) return;
  if (playback_.events.size() == limits_.events) {
    Stop("there are more than " + std::to_string(limits_.events) + " events");
    return;
  }
  playback_.events.push_back({at(), kind, std::move(of), std::move(subject), std::move(reason)});
}

void Recorder::Stop(std::string reason) {
  playback_.stopped = true;
  playback_.events.push_back({at(), EventKind::kStopped, "", "", std::move(reason)});
}

void Recorder::Check(CheckResult check) {
  std::string text = check.what + ": " + check.expected;
  if (!check.met) text = check.what + ": expected " + check.expected + ", found " + check.found;
  Note(check.met ? EventKind::kExpected : EventKind::kNotMet, check.service,
       "line " + std::to_string(check.line), std::move(text));
  playback_.checks.push_back(std::move(check));
}

void Recorder::Follow(const Key& key, std::optional<Span> next) {
  const auto open = open_.find(key);
  if (open != open_.end()) {
    Span& span = open->second;
    if (next && span.state == next->state && span.nodes == next->nodes) return;
    if (span.from < at() && playback_.spans.size() < limits_.events) {
      span.to = at();
      playback_.spans.push_back(std::move(span));
    }
    open_.erase(open);
  }
  if (!next) return;
  next->from = at();
  open_.emplace(key, *std::move(next));
}

void Recorder::FollowJobs(std::map<std::string, Span> next) {
  std::map<std::string, std::optional<Span>> all;
  for (const auto& [key, span] : open_) {
    if (key.first == 0) all[key.second];
  }
  for (auto& [pod, span] : next) all[pod] = std::move(span);
  for (auto& [pod, span] : all) Follow({0, pod}, std::move(span));
}

void Recorder::FollowNode(const std::string& node, std::string what) {
  const auto open = outages_.find(node);
  if (open != outages_.end()) {
    if (open->second.what == what) return;
    Outage& outage = open->second;
    outage.to = at();
    if (outage.from < outage.to) playback_.outages.push_back(std::move(outage));
    outages_.erase(open);
  }
  if (!what.empty()) outages_[node] = {node, std::move(what), at(), at()};
}

Playback Recorder::Finish() {
  playback_.end = at();
  while (!outages_.empty()) FollowNode(std::string(outages_.begin()->first), "");
  while (!open_.empty()) Follow(Key(open_.begin()->first), std::nullopt);
  return std::move(playback_);
}

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
  using Kind = watcher::DecisionKind;
  switch (record.kind) {
    case Kind::kHeld:
    case Kind::kRuleUnusable:
      state.held[name] = reason;
      break;
    case Kind::kGranted:
      done(EventKind::kGranted);
      break;
    case Kind::kWithdrawn:
      done(EventKind::kWithdrawn);
      state.history.withdrawn[name] = about("group");
      break;
    case Kind::kGivenUp:
      done(EventKind::kGivenUp);
      state.history.given_up[name] = about("group");
      break;
    case Kind::kWouldGiveUp:
      state.history.would_give_up[name] = about("group");
      state.would_give_up.emplace_back(name, reason);
      break;
    default:
      break;
  }
}

void ServiceStates::NoteReason(const Gang& gang, const std::string& reason) {
  states_[gang.instance->service].history.reasons[gang.spec->name] = reason;
}

void ServiceStates::Check() {
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

namespace {

// "2 of g0 and 1 of g1".
std::string TierText(const schemas::ScalingTier& tier) {
  std::map<std::string, int64_t> wanted;
  for (const schemas::ScalingGroup& group : tier.groups) {
    wanted.insert_or_assign(group.group_name, group.group_num);
  }
  std::vector<std::string> texts;
  for (const auto& [group, count] : wanted) {
    texts.push_back(std::to_string(count) + " of " + group);
  }
  return texts.empty() ? "nothing" : Join(texts, " and ");
}

std::string First(const json::Issues& issues) {
  const json::Issue& issue = issues.items().front();
  if (issue.at.line == 0) return issue.message;
  return "line " + std::to_string(issue.at.line) + ": " + issue.message;
}

}  // namespace

RuleLook LookAt(const RuleSpec& spec) {
  RuleLook look;
  const json::Json config_map = {
      {"metadata", {{"namespace", spec.key.ns}, {"name", spec.key.name}}},
      {"data", {{schemas::kScalingRuleKey, spec.text}}}};
  look.state = watcher::scaling::RuleOf(json::Document(config_map).root());
  const schemas::ScalingRuleReading reading = schemas::ReadScalingRule(spec.text);
  if (!reading.rule) {
    look.text = "refused: " + First(reading.refused);
    return look;
  }
  std::vector<std::string> shapes;
  for (const schemas::ScalingTier& tier : reading.rule->tiers) shapes.push_back(TierText(tier));
  look.text = shapes.empty() ? "no shapes" : Join(shapes, ", else ");
  if (!reading.unworkable.empty()) look.text += "; taken, but " + First(reading.unworkable);
  return look;
}

std::string ShapeText(const watcher::scaling::Service& service,
                      const watcher::scaling::Decision& decision) {
  if (!service.rule) return "unknown: " + service.no_rule;
  const auto& tiers = service.rule->tiers;
  if (decision.reached) {
    return std::to_string(*decision.reached + 1) + " of " + std::to_string(tiers.size()) +
           " runs: " + TierText(tiers[*decision.reached]);
  }
  if (!decision.aim) return "unknown: the instances are not counted";
  return "none of " + std::to_string(tiers.size()) + " runs";
}

void JobStates::Note(const PodAction& action) {
  const auto job = world_.JobOf(action.pod);
  if (!job) return;
  auto& pods = states_[*job].done[action.kind][clock_.WallNow().time_since_epoch()];
  pods.insert(std::upper_bound(pods.begin(), pods.end(), action.pod.name), action.pod.name);
}

void JobStates::Note(size_t job, const std::string& what, const std::string& reason) {
  states_[job].last = what;
  states_[job].reason = reason;
}

JobNow JobStates::NowOf(size_t job) const {
  JobNow now = states_[job];
  now.untouched = world_.Untouched(job);
  now.running = world_.Running(job);
  for (size_t node = 0; node < scenario_.nodes.size(); ++node) {
    if (world_.cluster().IsIsolated(node)) now.isolated.push_back(scenario_.nodes[node].name);
  }
  std::sort(now.isolated.begin(), now.isolated.end());
  const json::Json kept = server_.FindObject(
      kube::PathOf(kube::resources::kConfigMaps, Replica::kNamespace, Replica::kState));
  const auto text = json::Document::Decode(json::TextAt(kept, {"data", "state.json"}));
  if (!text) return now;
  const auto written = watcher::rescheduling::Decode(text->root(), clock_.WallNow());
  const auto state = written.find({scenario_.jobs[job].ns, scenario_.jobs[job].name});
  if (state != written.end()) now.retries_used = state->second.retries_used;
  return now;
}

std::vector<JobEnd> JobStates::Ends() const {
  std::vector<JobEnd> ends;
  for (size_t i = 0; i < states_.size(); ++i) {
    const JobNow now = NowOf(i);
    JobEnd end{.job = scenario_.jobs[i].name,
               .pods = scenario_.jobs[i].pods,
               .running = std::ssize(now.running),
               .retries_used = now.retries_used};
    for (const auto& [kind, by_time] : now.done) {
      for (const auto& [time, pods] : by_time) {
        (kind == PodAction::Kind::kMarked ? end.marked : end.restarted) += std::ssize(pods);
      }
    }
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace mindgate::simulation
