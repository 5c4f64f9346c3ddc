#include "simulation/world.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/decode.h"
#include "kube/resource.h"
#include "schemas/names.h"
#include "simulation/fault_reporters.h"
#include "simulation/pod_text.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using std::chrono::seconds;
using watcher::scaling::Phase;

std::string NodePath(const std::string& node) {
  return kube::PathOf(kube::resources::kNodes, "", node);
}

std::string BackText(const InstanceSpec& spec) {
  const std::string gate = spec.gated ? " behind the gate" : "";
  return (spec.pods == 1 ? "; its pod comes back" : "; its pods come back") + gate;
}

}  // namespace

std::string PodsText(const GangSpec& spec) {
  return Counted(spec.pods, "pod") + " with " + Counted(spec.npus_per_pod, "NPU") +
         (spec.pods == 1 ? "" : " each");
}

World::World(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
             ApiServer& server, Replica& replica, Happened happened)
    : scenario_(scenario),
      options_(options),
      clock_(clock),
      server_(server),
      replica_(replica),
      happened_(std::move(happened)),
      cluster_(scenario.nodes),
      node_exists_(scenario.nodes.size(), true),
      on_node_(scenario.nodes.size()) {
  server_.Listen([this](ApiServer::Change change, const ApiServer::PodName& name,
                        const Json& object) { PodChanged(change, name, object); });
  server_.ListenToObjects(
      [this](const std::string& path, const Json* object) { ObjectChanged(path, object); });
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    replica_.NodeListed(scenario.nodes[i].name);
    if (!scenario.has_faults) continue;
    node_of_path_[NodePath(scenario.nodes[i].name)] = i;
    PutNode(i);
  }
  std::set<std::string> namespaces;
  for (const JobSpec& spec : scenario.jobs) {
    const size_t number = gangs_.size();
    gangs_.push_back({.spec = &spec,
                      .job = &spec,
                      .labels = spec.labels,
                      .annotations = spec.annotations,
                      .terminates = spec.terminates});
    for (size_t i = 0; i < static_cast<size_t>(spec.pods); ++i) {
      AddPlace(number, i, PodNameOf(spec, i, 1));
    }
    if (namespaces.insert(spec.ns).second) {
      server_.PutObject(kube::resources::kNamespaces, "", spec.ns, Json::object());
    }
    AddGroup(number);
  }
}

std::optional<size_t> World::FindInstance(const std::string& ns, const std::string& name) const {
  const auto found = by_name_.find({ns, name});
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<size_t> World::JobOf(const ApiServer::PodName& pod) const {
  const auto found = job_of_.find(pod);
  return found == job_of_.end() ? std::nullopt : std::optional(found->second);
}

// --- what the API server reports ---

void World::PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                       const Json& object) {
  const size_t number = by_pod_.at(name);
  Gang& gang = gangs_[places_[number].gang];
  changed_.insert(places_[number].gang);
  gang.refused.reset();
  if (change == ApiServer::Change::kDeleted) {
    PodIsGone(number);
    replica_.PodChanged(name, nullptr, nullptr, seconds(0));
    return;
  }
  const Time now = clock_.WallNow();
  const json::Document document(object);
  Pod& pod = places_[number].pod;
  pod.there = true;
  seconds seen_after{0};
  if (gang.instance != nullptr) {
    auto state = watcher::scaling::PodOf(document.root());
    const bool was_gated = pod.gated();
    pod.state = std::make_shared<const watcher::scaling::PodState>(*std::move(state));
    if (was_gated && !pod.gated()) {
      seen_after = options_.seen_after;
      pod.eligible_at = now + seen_after;
      Wake(number, pod.eligible_at);
    }
  }
  replica_.PodChanged(name, pod.state, &document.root(), seen_after);
  if (pod.going || !object.at("metadata").contains("deletionTimestamp")) return;
  pod.going = true;
  places_[number].was_asked = true;
  pod.ends_at = now + TerminationOf(gang);
  Wake(number, *pod.ends_at);
  if (gang.job == nullptr || !IsReplicaSet(gang.job->kind)) return;
  // Another one comes beside it.
  places_[number].left = true;
  const size_t of_pod = places_[number].number;
  const int64_t generation = places_[number].generation;
  const size_t next = AddPlace(places_[number].gang, of_pod, {});
  places_[next].generation = generation;
}

void World::PodIsGone(size_t number) {
  Place& place = places_[number];
  Gang& gang = gangs_[place.gang];
  by_pod_.erase(place.name);
  cluster_.Release(number);
  if (place.pod.node) {
    on_node_[*place.pod.node].erase(number);
    --gang.with_node;
  }
  place.pod = {};
  place.was_asked = true;
  const bool comes_back = gang.job == nullptr || gang.job->kind != OwnerKind::kPod;
  if (!gang.deleted && !place.left && comes_back) missing_.insert(number);
}

void World::ObjectChanged(const std::string& path, const Json* object) {
  if (path.starts_with("/apis/scheduling.volcano.sh/"))
    return replica_.PodGroupChanged(path, object);
  const auto node = node_of_path_.find(path);
  if (node == node_of_path_.end() || object == nullptr) return;
  const auto taints =
      object->find("spec") == object->end() ? Json() : object->at("spec").value("taints", Json());
  const bool isolated = std::any_of(taints.begin(), taints.end(), [](const Json& taint) {
    return taint.value("key", "") == schemas::kFaultyNode;
  });
  if (isolated == cluster_.IsIsolated(node->second)) return;
  cluster_.SetIsolated(node->second, isolated);
  NodeChanged(node->second);
}

seconds World::TerminationOf(const Gang& gang) const {
  return gang.spec->termination_time.value_or(options_.termination_time);
}

// --- what happens to nodes ---

// With the taints that it has.
void World::PutNode(size_t node) {
  if (!scenario_.has_faults || !node_exists_[node]) return;
  const std::string& name = scenario_.nodes[node].name;
  Json object = server_.FindObject(NodePath(name));
  if (object.is_null()) object = {{"spec", Json::object()}};
  object["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", IsUnavailable(node) ? "Unknown" : "True"}}};
  server_.PutObject(kube::resources::kNodes, "", name, std::move(object));
}

// A scenario that is only about scaling does not count faulty nodes, whose number is the brake of
// rescheduling.
void World::NodeChanged(size_t node) {
  const bool counts = scenario_.has_faults;
  replica_.NodeChanged(scenario_.nodes[node].name, {.exists = node_exists_[node] || !counts,
                                                    .ready = !IsUnavailable(node) || !counts,
                                                    .usable = cluster_.IsUsable(node),
                                                    .npus = scenario_.nodes[node].npus});
}

void World::BreakNode(size_t node) {
  const auto pods = cluster_.BreakNode(node);
  PutNode(node);
  LosePods(pods, scenario_.nodes[node].name + " broke");
  NodeChanged(node);
}

void World::RepairNode(size_t node) {
  cluster_.RepairNode(node);
  PutNode(node);
  WakeAll(on_node_[node]);
  NodeChanged(node);
}

void World::SetReady(size_t node, bool ready) {
  node_exists_[node] = node_exists_[node] || ready;
  cluster_.SetReady(node, node_exists_[node] && ready);
  PutNode(node);
  const std::set<size_t> places = on_node_[node];
  for (const size_t number : places) {
    if (!places_[number].pod.running) continue;
    server_.Update(places_[number].name,
                   [&](Json& object) { simulation::SetReady(object, ready, clock_.WallNow()); });
  }
  WakeAll(places);
  NodeChanged(node);
}

void World::SetCordoned(size_t node, bool cordoned) {
  cluster_.SetCordoned(node, cordoned);
  NodeChanged(node);
}

void World::RemoveNode(size_t node) {
  node_exists_[node] = false;
  cluster_.SetReady(node, false);
  cluster_.SetIsolated(node, false);
  server_.RemoveObject(NodePath(scenario_.nodes[node].name));
  NodeChanged(node);
}

void World::Report(size_t node, const faults::NodeFaults& faults) {
  std::set<int64_t> cards;
  for (int64_t card = 0; card < scenario_.nodes[node].npus; ++card) {
    const std::string name = ChipName(card);
    if (faults.devices.unhealthy.contains(name) ||
        faults.devices.network_unhealthy.contains(name) || faults.devices.IsSubHealthy(name)) {
      cards.insert(card);
    }
  }
  cluster_.SetReported(node,
                       faults.machine.status != faults::NodeStatus::kHealthy ||
                           faults.switches.status == faults::NodeStatus::kUnhealthy,
                       cards);
}

// --- what happens to pods ---

// Its owner makes it again, unless the gang is deleted.
void World::End(size_t number, bool at_once) {
  const Place& place = places_[number];
  if (!place.pod.there) return;
  const ApiServer::PodName name = place.name;
  if (at_once || TerminationOf(gangs_[place.gang]) == seconds(0) ||
      (place.pod.node && cluster_.IsBroken(*place.pod.node))) {
    server_.Remove(name);
  } else {
    server_.Delete(name);
  }
}

void World::LoseInstance(size_t instance, const std::string& why, bool at_once) {
  const Gang& gang = gangs_[instance];
  if (!gang.deleted) happened_(EventKind::kLost, gang, why + BackText(*gang.instance));
  for (const size_t place : gang.places) End(place, at_once);
}

void World::LosePods(const std::vector<size_t>& pods, const std::string& why) {
  std::set<size_t> gangs;
  for (const size_t pod : pods) gangs.insert(places_[pod].gang);
  for (const size_t gang : gangs) {
    if (gangs_[gang].instance != nullptr) LoseInstance(gang, why, false);
  }
}

void World::FailInstance(size_t instance) {
  const Gang& gang = gangs_[instance];
  if (IsAvailable(instance)) {
    LoseInstance(instance, "its processes exit", true);
  } else {
    happened_(EventKind::kLost, gang, "nothing: none of its processes runs yet");
  }
}

void World::FailPod(size_t instance, int64_t pod) {
  const Gang& gang = gangs_[instance];
  const Place& place = places_[gang.places[static_cast<size_t>(pod)]];
  const std::string what = "pod " + std::to_string(pod);
  if (!place.pod.running || place.pod.going) {
    happened_(EventKind::kLost, gang, "nothing: " + what + " does not run");
    return;
  }
  happened_(EventKind::kLost, gang,
            what + " exits; it comes back" + (gang.instance->gated ? " behind the gate" : ""));
  server_.Remove(ApiServer::PodName(place.name));
}

std::string World::Change(const ChangePod& change) {
  using What = ChangePod::What;
  const auto found = std::find_if(by_pod_.begin(), by_pod_.end(), [&](const auto& each) {
    return each.first.name == change.pod && gangs_[places_[each.second].gang].job != nullptr;
  });
  if (found == by_pod_.end()) return "nothing: there is no such pod now";
  Pod& pod = places_[found->second].pod;
  if (!pod.running && (change.what == What::kFailed || change.what == What::kExited)) {
    return "nothing: it does not run";
  }
  pod.exited = pod.exited || change.what == What::kExited;
  pod.running = pod.running && change.what != What::kFailed;
  server_.Update(ApiServer::PodName(found->first), [&](Json& object) {
    Json& labels = object["metadata"]["labels"];
    switch (change.what) {
      case What::kFailed:
        object["status"]["phase"] = "Failed";
        return;
      case What::kExited:
        object["status"]["containerStatuses"] = {
            {{"name", "ascend"}, {"lastState", {{"terminated", {{"exitCode", 1}}}}}}};
        return;
      case What::kSeparate:
        labels["fault-type"] = "Separate";
        return;
      case What::kSubHealth:
        labels["fault-type"] = "SubHealth";
        return;
      case What::kSoftware:
        labels["fault-type"] = "software";
        return;
      case What::kHealthy:
        labels.erase("fault-type");
        return;
    }
  });
  return "";
}

// --- kubelets: one that is away starts nothing and ends nothing ---

bool World::Matters(const Place& place, Time timer) const {
  const Pod& pod = place.pod;
  if (!pod.there || (pod.node && IsUnavailable(*pod.node))) return false;
  return (pod.ends_at == timer && gangs_[place.gang].terminates) ||
         (pod.runs_at == timer && !pod.going) || (pod.eligible_at == timer && !pod.node);
}

void World::WakeAll(const std::set<size_t>& places) {
  for (const size_t number : places) {
    const Pod& pod = places_[number].pod;
    if (pod.ends_at) Wake(number, *pod.ends_at);
    if (pod.runs_at) Wake(number, *pod.runs_at);
  }
}

bool World::FireTimers() {
  const Time now = clock_.WallNow();
  bool fired = false;
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto [at, number] = *timers_.begin();
    timers_.erase(timers_.begin());
    Place& place = places_[number];
    if (!Matters(place, at)) continue;
    fired = true;
    const ApiServer::PodName name = place.name;
    if (place.pod.ends_at == at && gangs_[place.gang].terminates) {
      server_.Remove(name);
    } else if (place.pod.runs_at == at) {
      place.pod.runs_at.reset();
      place.pod.running = true;
      server_.Update(name, [&](Json& pod) { SetRunning(pod, now); });
    }
  }
  return fired;
}

std::optional<Time> World::next_due() {
  while (!timers_.empty() && !Matters(places_[timers_.begin()->second], timers_.begin()->first)) {
    timers_.erase(timers_.begin());
  }
  return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
}

// --- what there is ---

std::vector<std::pair<size_t, std::optional<Phase>>> World::TakeChanged(const RuleOf& rule_of) {
  std::vector<std::pair<size_t, std::optional<Phase>>> changed;
  for (const size_t number : std::exchange(changed_, {})) {
    Gang& gang = gangs_[number];
    const auto before = gang.observed ? std::optional(gang.observed->phase) : std::nullopt;
    std::vector<watcher::scaling::PodPtr> pods;
    bool waits = false;
    for (const size_t place : gang.places) {
      const Pod& pod = places_[place].pod;
      if (!pod.there) continue;
      if (gang.instance != nullptr) pods.push_back(pod.state);
      waits = waits || (!pod.gated() && !pod.going && !pod.node);
    }
    if (gang.instance != nullptr) {
      auto observed = watcher::scaling::Observe(pods, rule_of(gang.instance->service), nullptr);
      gang.observed.reset();
      if (!gang.deleted && !observed.empty()) {
        gang.observed = std::move(observed.front().instance);
        gang.observed->name = gang.spec->name;
      }
      waits = waits && gang.observed;
      changed.emplace_back(number, before);
    }
    WaitInTurn(number, waits);
  }
  return changed;
}

void World::Touch(size_t service) {
  for (size_t i = 0; i < gangs_.size(); ++i) {
    const Gang& gang = gangs_[i];
    if (gang.instance != nullptr && gang.instance->service == service && !gang.deleted) {
      changed_.insert(i);
    }
  }
}

std::optional<Span> World::SpanOf(size_t instance) const {
  const Gang& gang = gangs_[instance];
  Span span{.service = gang.service->name, .instance = gang.spec->name};
  bool any = false;
  for (const size_t place : gang.places) {
    const Pod& pod = places_[place].pod;
    any = any || pod.there;
    if (!pod.node) continue;
    const std::string& node = scenario_.nodes[*pod.node].name;
    if (std::find(span.nodes.begin(), span.nodes.end(), node) == span.nodes.end()) {
      span.nodes.push_back(node);
    }
  }
  if (!any) return std::nullopt;
  if (!gang.observed) {
    span.state = Span::State::kEnding;
  } else if (gang.observed->phase == Phase::kRunning) {
    span.state = Span::State::kRunning;
  } else if (gang.observed->phase == Phase::kStarting) {
    span.state = gang.observed->unschedulable ? Span::State::kNoRoom : Span::State::kStarting;
  }
  return span;
}

std::map<std::string, Span> World::SpansOfJobs() const {
  std::map<std::string, Span> spans;
  if (scenario_.jobs.empty()) return spans;
  for (const auto& [name, number] : by_pod_) {
    const Place& place = places_[number];
    const Gang& gang = gangs_[place.gang];
    if (gang.job == nullptr || !place.pod.there) continue;
    const Pod& pod = place.pod;
    Span span{.service = gang.spec->name, .instance = name.name};
    if (pod.node) span.nodes.push_back(scenario_.nodes[*pod.node].name);
    if (pod.going) {
      span.state = Span::State::kEnding;
    } else if (pod.running) {
      span.state = Span::State::kRunning;
    } else {
      span.state = pod.node ? Span::State::kStarting : Span::State::kNoRoom;
    }
    spans.emplace(name.name, std::move(span));
  }
  return spans;
}

std::vector<std::string> World::Running(size_t job) const {
  std::vector<std::string> names;
  for (const size_t place : gangs_[job].places) {
    const Pod& pod = places_[place].pod;
    if (pod.running && !pod.going) names.push_back(places_[place].name.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> World::Untouched(size_t job) const {
  std::vector<std::string> names;
  for (const size_t number : gangs_[job].places) {
    const Place& place = places_[number];
    if (place.pod.there && place.generation == 1 && !place.was_asked) {
      names.push_back(place.name.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mindgate::simulation
