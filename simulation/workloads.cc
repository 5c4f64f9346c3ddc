#include "simulation/workloads.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/decode.h"
#include "simulation/pod_text.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using std::chrono::seconds;
using watcher::scaling::Phase;

std::string BackText(const InstanceSpec& spec) {
  const std::string gate = spec.gated ? " behind the gate" : "";
  return (spec.pods == 1 ? "; its pod comes back" : "; its pods come back") + gate;
}

}  // namespace

std::string PodsText(const InstanceSpec& spec) {
  return Counted(spec.pods, "pod") + " with " + Counted(spec.npus_per_pod, "NPU") +
         (spec.pods == 1 ? "" : " each");
}

Workloads::Workloads(const Scenario& scenario, const ScenarioOptions& options,
                     const ManualClock& clock, ApiServer& server, Telling telling,
                     Following following)
    : scenario_(scenario),
      options_(options),
      clock_(clock),
      server_(server),
      telling_(std::move(telling)),
      following_(std::move(following)),
      cluster_(scenario.nodes) {
  server_.Listen([this](ApiServer::Change change, const ApiServer::PodName& name,
                        const Json& object) { PodChanged(change, name, object); });
}

const std::string& Workloads::NamespaceOf(const InstanceSpec& spec) const {
  return scenario_.services[spec.service].rule.ns;
}

std::optional<size_t> Workloads::Find(const std::string& ns, const std::string& name) const {
  const auto found = by_name_.find({ns, name});
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::span<const Workloads::Place> Workloads::PlacesOf(size_t instance) const {
  const Live& live = live_[instance];
  return std::span(places_).subspan(live.first_pod, static_cast<size_t>(live.spec->pods));
}

void Workloads::Wake(size_t place, Time at) { alarms_.insert({at, place}); }

// --- what the API server tells ---

void Workloads::PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                           const Json& object) {
  const size_t number = there_.at(name);
  Place& place = places_[number];
  Live& live = live_[place.instance];
  changed_.insert(place.instance);
  live.refused.reset();
  if (change == ApiServer::Change::kDeleted) {
    there_.erase(name);
    cluster_.Release(number);
    place = {.instance = place.instance, .name = place.name};
    if (!live.deleted) missing_.insert(number);
    following_(name, nullptr, seconds(0));
    return;
  }
  const Time now = clock_.WallNow();
  auto state = watcher::scaling::PodOf(json::Document(object).root());
  const auto pod = std::make_shared<const watcher::scaling::PodState>(*std::move(state));
  const watcher::scaling::PodPtr before = std::exchange(place.pod, pod);
  const bool granted = before != nullptr && before->gate && !pod->gate;
  if (granted) {
    place.eligible_at = now + options_.seen_after;
    Wake(number, place.eligible_at);
  }
  if (pod->deleted && !place.ends_at) {
    place.ends_at = now + live.spec->termination_time.value_or(options_.termination_time);
    Wake(number, *place.ends_at);
  }
  following_(name, pod, granted ? options_.seen_after : seconds(0));
}

std::vector<std::pair<size_t, std::optional<Phase>>> Workloads::TakeChanged(const RuleOf& rule_of) {
  std::vector<std::pair<size_t, std::optional<Phase>>> changed;
  for (const size_t number : std::exchange(changed_, {})) {
    Live& live = live_[number];
    const auto before = live.seen ? std::optional(live.seen->phase) : std::nullopt;
    if (live.seen) waiting_.erase(TurnOf(live, number));
    std::vector<watcher::scaling::PodPtr> pods;
    bool waits = false;
    for (const Place& place : PlacesOf(number)) {
      if (place.pod == nullptr) continue;
      pods.push_back(place.pod);
      waits = waits || (!place.pod->gate && !place.pod->deleted && !place.node);
    }
    auto observed = watcher::scaling::Observe(pods, rule_of(live.spec->service), nullptr);
    live.seen.reset();
    if (!live.deleted && !observed.empty()) {
      live.seen = std::move(observed.front().instance);
      live.seen->name = live.spec->name;
      if (waits) waiting_.insert(TurnOf(live, number));
    }
    changed.emplace_back(number, before);
  }
  return changed;
}

std::optional<Span> Workloads::SpanOf(size_t instance) const {
  const Live& live = live_[instance];
  Span span{.service = scenario_.services[live.spec->service].name, .instance = live.spec->name};
  bool any = false;
  for (const Place& place : PlacesOf(instance)) {
    any = any || place.pod != nullptr;
    if (!place.node) continue;
    const std::string& node = scenario_.nodes[*place.node].name;
    if (std::find(span.nodes.begin(), span.nodes.end(), node) == span.nodes.end()) {
      span.nodes.push_back(node);
    }
  }
  if (!any) return std::nullopt;
  if (!live.seen) {
    span.state = Span::State::kEnding;
  } else if (live.seen->phase == Phase::kRunning) {
    span.state = Span::State::kRunning;
  } else if (live.seen->phase == Phase::kStarting) {
    span.state = live.seen->unschedulable ? Span::State::kNoRoom : Span::State::kStarting;
  }
  return span;
}

void Workloads::Touch(size_t service) {
  for (size_t i = 0; i < live_.size(); ++i) {
    if (live_[i].spec->service == service && !live_[i].deleted) changed_.insert(i);
  }
}

// --- what happens to instances ---

void Workloads::Submit(const InstanceSpec& spec) {
  int64_t revision = 1;
  if (!spec.workload.empty()) {
    Deployment& deployment = deployments_[{spec.service, spec.workload}];
    deployment.bases.push_back(spec.name);
    revision = deployment.revision;
  }
  Add(spec, spec.name, revision);
}

void Workloads::Add(const InstanceSpec& spec, const std::string& base, int64_t revision) {
  const size_t number = live_.size();
  Live& live = live_.emplace_back();
  live.spec = &spec;
  live.first_pod = places_.size();
  live.base = base;
  live.revision = revision;
  for (size_t i = 0; i < static_cast<size_t>(spec.pods); ++i) {
    missing_.insert(places_.size());
    places_.push_back(
        {.instance = number, .name = PodNameOf(spec, scenario_.services[spec.service], i)});
  }
  by_name_[{NamespaceOf(spec), spec.name}] = number;
  telling_(EventKind::kSubmitted, live,
           (spec.group.empty() ? "no group" : "group " + spec.group) + ", " + PodsText(spec));
}

void Workloads::Delete(size_t instance) {
  Live& live = live_[instance];
  if (live.deleted) {
    telling_(EventKind::kDeleted, live, "nothing: it is not there");
    return;
  }
  telling_(EventKind::kDeleted, live, "its pods go with it");
  live.deleted = true;
  changed_.insert(instance);
  if (!live.spec->workload.empty()) {
    std::erase(deployments_[{live.spec->service, live.spec->workload}].bases, live.base);
  }
  for (size_t i = 0; i < static_cast<size_t>(live.spec->pods); ++i) {
    missing_.erase(live.first_pod + i);
    End(live.first_pod + i, false);
  }
}

// Its owner makes it again, or the instance is deleted.
void Workloads::End(size_t place, bool at_once) {
  const Place of = places_[place];
  if (of.pod == nullptr) return;
  const seconds takes =
      live_[of.instance].spec->termination_time.value_or(options_.termination_time);
  if (at_once || takes == seconds(0) || (of.node && cluster_.IsBroken(*of.node))) {
    server_.Remove(of.name);
  } else {
    server_.Delete(of.name);
  }
}

void Workloads::LoseInstance(size_t instance, const std::string& why, bool at_once) {
  const Live& live = live_[instance];
  if (!live.deleted) telling_(EventKind::kLost, live, why + BackText(*live.spec));
  for (size_t i = 0; i < static_cast<size_t>(live.spec->pods); ++i) {
    End(live.first_pod + i, at_once);
  }
}

void Workloads::LosePods(const std::vector<size_t>& pods, const std::string& why) {
  std::set<size_t> instances;
  for (const size_t pod : pods) instances.insert(places_[pod].instance);
  for (const size_t instance : instances) LoseInstance(instance, why, false);
}

void Workloads::FailInstance(size_t instance) {
  const Live& live = live_[instance];
  if (live.seen && live.seen->phase == Phase::kRunning) {
    LoseInstance(instance, "its processes exit", true);
  } else {
    telling_(EventKind::kLost, live, "nothing: none of its processes runs yet");
  }
}

void Workloads::FailPod(size_t instance, int64_t pod) {
  const Live& live = live_[instance];
  const Place place = places_[live.first_pod + static_cast<size_t>(pod)];
  const std::string what = "pod " + std::to_string(pod);
  if (place.pod == nullptr || !place.pod->running || place.pod->deleted) {
    telling_(EventKind::kLost, live, "nothing: " + what + " does not run");
    return;
  }
  telling_(EventKind::kLost, live,
           what + " exits; it comes back" + (live.spec->gated ? " behind the gate" : ""));
  server_.Remove(place.name);
}

void Workloads::SetReady(size_t node, bool ready) {
  for (const size_t pod : cluster_.PodsOn(node)) {
    if (places_[pod].pod == nullptr || !places_[pod].pod->running) continue;
    server_.Update(places_[pod].name,
                   [&](Json& object) { simulation::SetReady(object, ready, clock_.WallNow()); });
  }
}

// --- owners and kubelets ---

bool Workloads::RingAlarms() {
  const Time now = clock_.WallNow();
  bool rang = false;
  while (!alarms_.empty() && alarms_.begin()->first <= now) {
    const size_t number = alarms_.begin()->second;
    alarms_.erase(alarms_.begin());
    const Place place = places_[number];
    if (place.pod != nullptr && place.ends_at && *place.ends_at <= now) {
      server_.Remove(place.name);
    } else if (place.pod != nullptr && place.runs_at && *place.runs_at <= now) {
      places_[number].runs_at.reset();
      const bool ready = cluster_.IsReady(*place.node);
      server_.Update(place.name, [&](Json& pod) {
        SetRunning(pod, now);
        if (!ready) simulation::SetReady(pod, false, now);
      });
    }
    rang = true;
  }
  return rang;
}

bool Workloads::SyncOwners() {
  bool any = false;
  for (auto& [key, deployment] : deployments_) {
    if (deployment.rolls && SyncDeployment(key, deployment)) any = true;
  }
  for (auto next = missing_.begin(); next != missing_.end();) {
    const size_t number = *next;
    Place& place = places_[number];
    if (there_.contains(place.name)) {
      ++next;  // one of that name still ends
      continue;
    }
    next = missing_.erase(next);
    there_[place.name] = number;
    const Live& live = live_[place.instance];
    server_.Create(NewPod(*live.spec, scenario_.services[live.spec->service],
                          number - live.first_pod, live.revision));
    any = true;
  }
  return any;
}

std::optional<Time> Workloads::next_due() const {
  return alarms_.empty() ? std::nullopt : std::optional(alarms_.begin()->first);
}

// --- rolling updates ---

void Workloads::RollOut(const Rollout& rollout, size_t service) {
  Deployment& deployment = deployments_[{service, rollout.workload}];
  ++deployment.revision;
  deployment.max_surge = rollout.max_surge;
  deployment.max_unavailable = rollout.max_unavailable;
  deployment.rolls = true;
}

bool Workloads::IsAvailable(size_t instance) const {
  return live_[instance].seen && live_[instance].seen->phase == Phase::kRunning;
}

// One sync of the deployment controller (kubernetes: pkg/controller/deployment/rolling.go).
bool Workloads::SyncDeployment(const DeploymentKey& key, Deployment& deployment) {
  std::vector<size_t> old_ones;
  std::vector<size_t> new_ones;
  for (size_t i = 0; i < live_.size(); ++i) {
    const Live& live = live_[i];
    if (live.deleted || live.spec->service != key.first || live.spec->workload != key.second) {
      continue;
    }
    (live.revision == deployment.revision ? new_ones : old_ones).push_back(i);
  }
  if (old_ones.empty() && new_ones.size() == deployment.bases.size()) {
    deployment.rolls = false;
    return false;
  }
  const std::string& ns = scenario_.services[key.first].rule.ns;
  return ScaleUp(ns, deployment, old_ones, new_ones) || ScaleDown(deployment, old_ones, new_ones);
}

bool Workloads::ScaleUp(const std::string& ns, const Deployment& deployment,
                        const std::vector<size_t>& old_ones, const std::vector<size_t>& new_ones) {
  const int64_t replicas = std::ssize(deployment.bases);
  const int64_t room =
      replicas + deployment.max_surge - std::ssize(old_ones) - std::ssize(new_ones);
  int64_t more = std::min(room, replicas - std::ssize(new_ones));
  if (more <= 0) return false;
  std::set<std::string> made;
  for (const size_t i : new_ones) made.insert(live_[i].base);
  for (const std::string& base : deployment.bases) {
    if (more == 0) break;
    if (made.contains(base)) continue;
    const InstanceSpec& like = *live_[by_name_.at({ns, base})].spec;
    InstanceSpec& spec = made_.emplace_back(like);
    spec.name = base + "-r" + std::to_string(deployment.revision);
    Add(spec, base, deployment.revision);
    --more;
  }
  return true;
}

bool Workloads::ScaleDown(const Deployment& deployment, const std::vector<size_t>& old_ones,
                          const std::vector<size_t>& new_ones) {
  const auto available = [this](const std::vector<size_t>& of) {
    return std::count_if(of.begin(), of.end(), [this](size_t i) { return IsAvailable(i); });
  };
  const int64_t least =
      std::max<int64_t>(0, std::ssize(deployment.bases) - deployment.max_unavailable);
  const int64_t all = std::ssize(old_ones) + std::ssize(new_ones);
  int64_t most = all - least - (std::ssize(new_ones) - available(new_ones));
  if (most <= 0) return false;
  bool any = false;
  // What does not run is missed by nobody.
  int64_t spare = available(old_ones) + available(new_ones) - least;
  for (const bool healthy : {false, true}) {
    for (const size_t i : old_ones) {
      if (most <= 0 || (healthy && spare <= 0)) break;
      if (live_[i].deleted || IsAvailable(i) != healthy) continue;
      telling_(EventKind::kDeleted, live_[i], "a newer revision takes its place");
      live_[i].deleted = true;
      changed_.insert(i);
      missing_.erase(live_[i].first_pod);
      End(live_[i].first_pod, false);
      --most;
      spare -= healthy ? 1 : 0;
      any = true;
    }
  }
  return any;
}

// --- the scheduler ---

Workloads::Turn Workloads::TurnOf(const Live& live, size_t instance) {
  return {-live.spec->priority, live.seen->since, live.spec->name, instance};
}

// One that finds no room does not stop those behind it.
bool Workloads::Schedule() {
  bool any = false;
  for (const auto& [priority, since, name, instance] : waiting_) {
    if (live_[instance].refused == cluster_.freed()) continue;
    if (PlaceInstance(instance)) any = true;
  }
  return any;
}

bool Workloads::PlaceInstance(size_t instance) {
  const Live& live = live_[instance];
  const Time now = clock_.WallNow();
  std::vector<size_t> places;
  std::optional<size_t> beside;
  for (size_t i = live.first_pod; i < live.first_pod + static_cast<size_t>(live.spec->pods); ++i) {
    const Place& place = places_[i];
    if (place.pod == nullptr || place.pod->gate) return false;  // a gang waits until it is whole
    if (place.node) {
      beside = place.node;
    } else if (!place.pod->deleted) {
      if (place.eligible_at > now) return false;
      places.push_back(i);
    }
  }
  if (places.empty()) return false;
  const PodNeeds needs{live.spec->npus_per_pod, live.spec->node_selector, live.spec->one_super_pod};
  if (const auto nodes = FindNodes(places, needs, beside)) {
    for (size_t i = 0; i < places.size(); ++i) {
      Place& place = places_[places[i]];
      place.node = (*nodes)[i];
      if (live.spec->ever_starts) {
        place.runs_at = now + live.spec->start_time.value_or(options_.start_time);
        Wake(places[i], *place.runs_at);
      }
      const std::string& node = scenario_.nodes[(*nodes)[i]].name;
      server_.Update(ApiServer::PodName(place.name), [&](Json& pod) { SetPlaced(pod, node, now); });
    }
    TellPlaced(live, *nodes);
    return true;
  }
  bool fresh = false;
  for (const size_t number : places) {
    if (places_[number].pod->unschedulable) continue;
    fresh = true;
    server_.Update(ApiServer::PodName(places_[number].name),
                   [&](Json& pod) { SetUnschedulable(pod, now); });
  }
  if (fresh) {
    const int64_t room = cluster_.Room(needs, live.spec->pods);
    telling_(EventKind::kNoRoom, live,
             PodsText(*live.spec) + ", and there is room for " +
                 (room == 0 ? "none" : std::to_string(room)) +
                 (needs.one_super_pod ? " in one super pod" : ""));
  }
  live_[instance].refused = cluster_.freed();
  return fresh;
}

// Without asking the cluster when others like them have found no room since room was freed.
std::optional<std::vector<size_t>> Workloads::FindNodes(const std::vector<size_t>& places,
                                                        const PodNeeds& needs,
                                                        std::optional<size_t> beside) {
  if (no_room_since_ != cluster_.freed()) {
    no_room_.clear();
    no_room_since_ = cluster_.freed();
  }
  const std::tuple size(places.size(), needs,
                        beside ? scenario_.nodes[*beside].super_pod : std::string());
  if (no_room_.contains(size)) return std::nullopt;
  auto nodes = cluster_.Place(places, needs, beside);
  if (!nodes) no_room_.insert(size);
  return nodes;
}

void Workloads::TellPlaced(const Live& live, const std::vector<size_t>& nodes) {
  std::vector<std::string> texts;
  for (auto node = nodes.begin(); node != nodes.end();) {
    const auto end = std::upper_bound(node, nodes.end(), *node);
    const auto pods = end - node;
    texts.push_back(scenario_.nodes[*node].name +
                    (nodes.size() == 1 || pods == 1 ? "" : " (" + std::to_string(pods) + " pods)"));
    node = end;
  }
  telling_(EventKind::kPlaced, live, "on " + Join(texts, " and "));
}

}  // namespace mindgate::simulation
