#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "kube/resource.h"
#include "schemas/names.h"
#include "simulation/fault_reporters.h"
#include "simulation/pod_text.h"
#include "simulation/world.h"

namespace mindgate::simulation {

using json::Json;
using watcher::scaling::Phase;

// The part of World that makes pods: owners of jobs and instances, and Volcano as far as it keeps
// their PodGroups.

namespace {

std::string GroupPath(const Gang& gang) {
  return kube::PathOf(kube::resources::kPodGroups, gang.ns(), gang.spec->name);
}

// An empty value takes one away.
void ChangeLabels(const Labels& change, Labels& labels) {
  for (const auto& [key, value] : change) {
    if (value.empty()) {
      labels.erase(key);
    } else {
      labels.insert_or_assign(key, value);
    }
  }
}

bool IsGroupOfWorkers(const Gang& gang) {
  return gang.job != nullptr && gang.job->kind == OwnerKind::kLeaderWorkerSet;
}

}  // namespace

// --- instances ---

void World::Submit(const InstanceSpec& spec) {
  int64_t revision = 1;
  if (!spec.workload.empty()) {
    Deployment& deployment = deployments_[{spec.service, spec.workload}];
    deployment.bases.push_back(spec.name);
    revision = deployment.revision;
  }
  AddInstance(spec, spec.name, revision);
}

void World::AddInstance(const InstanceSpec& spec, const std::string& base, int64_t revision) {
  const size_t number = gangs_.size();
  const ServiceSpec& service = scenario_.services[spec.service];
  gangs_.push_back(
      {.spec = &spec, .instance = &spec, .service = &service, .revision = revision, .base = base});
  for (size_t i = 0; i < static_cast<size_t>(spec.pods); ++i) {
    AddPlace(number, i, PodNameOf(spec, service, i));
  }
  by_name_[{service.rule.ns, spec.name}] = number;
  if (!service.labels.empty()) AddGroup(number);
  happened_(EventKind::kSubmitted, gangs_.back(),
            (spec.group.empty() ? "no group" : "group " + spec.group) + ", " + PodsText(spec));
}

void World::Delete(size_t instance) {
  Gang& gang = gangs_[instance];
  if (gang.deleted) {
    happened_(EventKind::kDeleted, gang, "nothing: it is not there");
    return;
  }
  happened_(EventKind::kDeleted, gang, "its pods go with it");
  if (!gang.instance->workload.empty()) {
    std::erase(deployments_[{gang.instance->service, gang.instance->workload}].bases, gang.base);
  }
  Dismiss(instance);
}

void World::Dismiss(size_t instance) {
  Gang& gang = gangs_[instance];
  gang.deleted = true;
  changed_.insert(instance);
  for (const size_t place : gang.places) {
    missing_.erase(place);
    End(place, false);
  }
  if (!gang.phase.empty()) server_.RemoveObject(GroupPath(gang));
}

bool World::IsAvailable(size_t instance) const {
  const auto& observed = gangs_[instance].observed;
  return observed && observed->phase == Phase::kRunning;
}

// --- jobs ---

void World::Change(const ChangeJob& change) {
  Gang& gang = gangs_[change.job];
  ChangeLabels(change.labels, gang.labels);
  ChangeLabels(change.annotations, gang.annotations);
  if (change.terminates) gang.terminates = *change.terminates;
  PutGroup(gang);
  const std::vector<size_t> places = gang.places;
  WakeAll({places.begin(), places.end()});
  for (const size_t number : places) {
    if (!places_[number].pod.there || change.labels.empty()) continue;
    server_.Update(ApiServer::PodName(places_[number].name), [&](Json& object) {
      Json& labels = object["metadata"]["labels"];
      for (const auto& [key, value] : change.labels) {
        if (value.empty()) {
          labels.erase(key);
        } else {
          labels[key] = value;
        }
      }
    });
  }
}

std::string World::DeletePod(size_t job, const std::string& pod, bool by_force) {
  const ApiServer::PodName name{gangs_[job].ns(), pod};
  const bool done = by_force ? server_.Remove(name) : server_.Delete(name);
  return done ? "" : "nothing: there is no such pod now";
}

// --- pods ---

size_t World::AddPlace(size_t gang, size_t number, ApiServer::PodName name) {
  const size_t place = places_.size();
  places_.push_back({.gang = gang, .number = number, .name = std::move(name)});
  auto& places = gangs_[gang].places;
  if (number == places.size()) {
    places.push_back(place);
  } else {
    places[number] = place;
  }
  missing_.insert(place);
  return place;
}

bool World::SyncOwners() {
  bool any = false;
  for (auto& [key, deployment] : deployments_) {
    if (deployment.rolls && SyncDeployment(key, deployment)) any = true;
  }
  for (const size_t number : grouped_) {
    if (IsGroupOfWorkers(gangs_[number]) && RestartGroup(gangs_[number])) any = true;
  }
  any = MakePods() || any;
  for (const size_t number : grouped_) {
    if (SyncPhase(gangs_[number])) any = true;
  }
  return any;
}

bool World::MakePods() {
  bool any = false;
  for (auto next = missing_.begin(); next != missing_.end();) {
    Place& place = places_[*next];
    const Gang& gang = gangs_[place.gang];
    if (gang.job != nullptr) place.name = PodNameOf(*gang.job, place.number, place.generation + 1);
    // One of that name may still end.
    if (by_pod_.contains(place.name) || MustWait(gang)) {
      ++next;
      continue;
    }
    ++place.generation;
    if (IsGroupOfWorkers(gang)) place.was_asked = false;
    by_pod_[place.name] = *next;
    if (gang.job != nullptr) job_of_[place.name] = place.gang;
    next = missing_.erase(next);
    server_.Create(NewPodFor(place));
    any = true;
  }
  return any;
}

Json World::NewPodFor(const Place& place) const {
  const Gang& gang = gangs_[place.gang];
  return gang.job != nullptr ? NewPod(*gang.job, gang.labels, place.number, place.generation)
                             : NewPod(*gang.instance, *gang.service, place.number, gang.revision);
}

// A group of a LeaderWorkerSet is recreated when all of it is gone.
bool World::MustWait(const Gang& gang) const {
  return IsGroupOfWorkers(gang) &&
         std::any_of(gang.places.begin(), gang.places.end(), [this](size_t place) {
           return places_[place].pod.there && places_[place].was_asked;
         });
}

// RestartPolicy RecreateGroupOnPodRestart: with one pod of the group go all (sigs.k8s.io/lws
// pkg/controllers/pod_controller.go).
bool World::RestartGroup(const Gang& gang) {
  bool broken = false;
  std::vector<std::string> others;
  for (const size_t number : gang.places) {
    const Place& place = places_[number];
    const Pod& pod = place.pod;
    if (place.generation == 0) continue;
    if (!pod.there || pod.going || pod.exited) broken = true;
    if (pod.there && !pod.going) others.push_back(place.name.name);
  }
  if (!broken || others.empty()) return false;
  happened_(EventKind::kDeleted, gang,
            Join(others, ", ") + " by LeaderWorkerSet, which makes the whole group again");
  for (const std::string& pod : others) server_.Delete({gang.ns(), pod});
  return true;
}

// --- PodGroups ---

void World::AddGroup(size_t gang) {
  grouped_.push_back(gang);
  gangs_[gang].phase = "Pending";
  PutGroup(gangs_[gang]);
}

void World::PutGroup(const Gang& gang) {
  server_.PutObject(kube::resources::kPodGroups, gang.ns(), gang.spec->name,
                    gang.job != nullptr
                        ? NewPodGroup(*gang.job, gang.labels, gang.annotations, gang.phase)
                        : NewPodGroup(*gang.instance, *gang.service, gang.revision, gang.phase));
}

// As Volcano sets it: a job that ran and lost some of its pods is Unknown.
bool World::SyncPhase(Gang& gang) {
  if (gang.deleted) return false;
  const auto running = std::count_if(gang.places.begin(), gang.places.end(), [this](size_t place) {
    return places_[place].pod.running && !places_[place].pod.going;
  });
  std::string phase = "Pending";
  if (running >= (gang.job != nullptr ? MinMember(*gang.job) : gang.spec->pods)) {
    phase = "Running";
    gang.ran = true;
  } else if (gang.ran && gang.with_node > 0) {
    phase = "Unknown";
  }
  if (phase == gang.phase) return false;
  gang.phase = std::move(phase);
  PutGroup(gang);
  return true;
}

// --- rolling updates ---

void World::RollOut(const Rollout& rollout) {
  Deployment& deployment = deployments_[{rollout.service, rollout.workload}];
  ++deployment.revision;
  deployment.max_surge = rollout.max_surge;
  deployment.max_unavailable = rollout.max_unavailable;
  deployment.rolls = true;
}

// One sync of the deployment controller (kubernetes: pkg/controller/deployment/rolling.go).
bool World::SyncDeployment(const DeploymentKey& key, Deployment& deployment) {
  std::vector<size_t> old_ones;
  std::vector<size_t> new_ones;
  for (size_t i = scenario_.jobs.size(); i < gangs_.size(); ++i) {
    const Gang& gang = gangs_[i];
    if (gang.deleted || gang.instance->service != key.first ||
        gang.instance->workload != key.second) {
      continue;
    }
    (gang.revision == deployment.revision ? new_ones : old_ones).push_back(i);
  }
  if (old_ones.empty() && new_ones.size() == deployment.bases.size()) {
    deployment.rolls = false;
    return false;
  }
  const std::string& ns = scenario_.services[key.first].rule.ns;
  return ScaleUp(ns, deployment, old_ones, new_ones) || ScaleDown(deployment, old_ones, new_ones);
}

bool World::ScaleUp(const std::string& ns, const Deployment& deployment,
                    const std::vector<size_t>& old_ones, const std::vector<size_t>& new_ones) {
  const int64_t replicas = std::ssize(deployment.bases);
  const int64_t room =
      replicas + deployment.max_surge - std::ssize(old_ones) - std::ssize(new_ones);
  int64_t more = std::min(room, replicas - std::ssize(new_ones));
  if (more <= 0) return false;
  std::set<std::string> made;
  for (const size_t i : new_ones) made.insert(gangs_[i].base);
  for (const std::string& base : deployment.bases) {
    if (more == 0) break;
    if (made.contains(base)) continue;
    InstanceSpec& spec = rolled_out_.emplace_back(*gangs_[by_name_.at({ns, base})].instance);
    spec.name = base + "-r" + std::to_string(deployment.revision);
    AddInstance(spec, base, deployment.revision);
    --more;
  }
  return true;
}

bool World::ScaleDown(const Deployment& deployment, const std::vector<size_t>& old_ones,
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
  // What does not run is not missed.
  int64_t spare = available(old_ones) + available(new_ones) - least;
  for (const bool healthy : {false, true}) {
    for (const size_t i : old_ones) {
      if (most <= 0 || (healthy && spare <= 0)) break;
      if (gangs_[i].deleted || IsAvailable(i) != healthy) continue;
      happened_(EventKind::kDeleted, gangs_[i], "a newer revision takes its place");
      Dismiss(i);
      --most;
      spare -= healthy ? 1 : 0;
      any = true;
    }
  }
  return any;
}

// The part of World that places pods, as Volcano does.

void World::WaitInTurn(size_t number, bool waits) {
  if (const auto turn = turns_.extract(number)) waiting_.erase(turn.mapped());
  if (!waits) return;
  const Gang& gang = gangs_[number];
  // A job was submitted at the start.
  const Turn turn{-gang.spec->priority, gang.observed ? gang.observed->since : Time(),
                  gang.observed ? gang.spec->name : std::string(), number};
  waiting_.insert(turn);
  turns_.emplace(number, turn);
}

// One that finds no room does not stop those behind it.
bool World::Schedule() {
  bool any = false;
  for (const auto& [priority, since, name, gang] : waiting_) {
    if (gangs_[gang].refused == cluster_.freed()) continue;
    if (PlaceGang(gang)) any = true;
  }
  return any;
}

// All pods of an instance or none; of a job as many as find room, once there are minMember with
// those that have a node.
bool World::PlaceGang(size_t number) {
  const Gang& gang = gangs_[number];
  const Time now = clock_.WallNow();
  std::vector<size_t> places;
  std::optional<size_t> beside;
  int64_t placed = 0;
  for (const size_t i : gang.places) {
    const Pod& pod = places_[i].pod;
    // An instance waits until it is whole.
    if (gang.instance != nullptr && (!pod.there || pod.gated())) return false;
    if (!pod.there || (gang.job != nullptr && pod.going)) continue;
    if (pod.node) {
      beside = pod.node;
      ++placed;
    } else if (!pod.going) {
      if (pod.eligible_at > now) return false;
      places.push_back(i);
    }
  }
  if (places.empty()) return false;
  const int64_t least = gang.job != nullptr ? MinMember(*gang.job) - placed : std::ssize(places);
  const PodNeeds needs{gang.spec->npus_per_pod, gang.spec->node_selector, gang.spec->one_super_pod};
  if (std::ssize(places) < least) return Refuse(number, {}, needs);
  auto nodes = FindNodes(places, needs, beside);
  if (!nodes && least < std::ssize(places)) {
    const int64_t room = cluster_.Room(needs, std::ssize(places));
    if (room < std::max<int64_t>(least, 1)) return Refuse(number, places, needs);
    places.resize(static_cast<size_t>(room));
    nodes = FindNodes(places, needs, beside);
  }
  if (!nodes) return Refuse(number, places, needs);
  for (size_t i = 0; i < places.size(); ++i) Bind(places[i], (*nodes)[i]);
  happened_(EventKind::kPlaced, gang, PlacedText(gang, places, *nodes));
  return true;
}

void World::Bind(size_t number, size_t node) {
  Place& place = places_[number];
  Gang& gang = gangs_[place.gang];
  const Time now = clock_.WallNow();
  place.pod.node = node;
  on_node_[node].insert(number);
  ++gang.with_node;
  if (gang.job != nullptr || gang.instance->ever_starts) {
    place.pod.runs_at = now + gang.spec->start_time.value_or(options_.start_time);
    Wake(number, *place.pod.runs_at);
  }
  std::vector<std::string> chips;
  if (!gang.phase.empty()) {
    for (const int64_t chip : cluster_.CardsOf(number)) chips.push_back(ChipName(chip));
  }
  server_.Update(ApiServer::PodName(place.name), [&](Json& pod) {
    SetPlaced(pod, scenario_.nodes[node].name, now);
    if (chips.empty()) return;
    pod["metadata"]["annotations"][std::string(schemas::kAscendReal)] = Join(chips, ",");
  });
}

// Returns whether a pod is marked that was not.
bool World::Refuse(size_t number, const std::vector<size_t>& places, const PodNeeds& needs) {
  const Gang& gang = gangs_[number];
  bool fresh = false;
  for (const size_t place : places) {
    if (gang.job != nullptr || places_[place].pod.state->unschedulable) continue;
    fresh = true;
    server_.Update(ApiServer::PodName(places_[place].name),
                   [&](Json& pod) { SetUnschedulable(pod, clock_.WallNow()); });
  }
  if (fresh) {
    const int64_t room = cluster_.Room(needs, gang.spec->pods);
    happened_(EventKind::kNoRoom, gang,
              PodsText(*gang.spec) + ", and there is room for " +
                  (room == 0 ? "none" : std::to_string(room)) +
                  (needs.one_super_pod ? " in one super pod" : ""));
  }
  gangs_[number].refused = cluster_.freed();
  return fresh;
}

// Without asking the cluster when others like them have found no room since room was freed.
std::optional<std::vector<size_t>> World::FindNodes(const std::vector<size_t>& places,
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

std::string World::PlacedText(const Gang& gang, const std::vector<size_t>& places,
                              const std::vector<size_t>& nodes) const {
  std::vector<std::string> texts;
  if (gang.job != nullptr) {
    for (size_t i = 0; i < places.size(); ++i) {
      texts.push_back(places_[places[i]].name.name + " on " + scenario_.nodes[nodes[i]].name);
    }
    return Join(texts, ", ");
  }
  for (auto node = nodes.begin(); node != nodes.end();) {
    const auto end = std::upper_bound(node, nodes.end(), *node);
    const auto pods = end - node;
    texts.push_back(scenario_.nodes[*node].name +
                    (nodes.size() == 1 || pods == 1 ? "" : " (" + std::to_string(pods) + " pods)"));
    node = end;
  }
  return "on " + Join(texts, " and ");
}

}  // namespace mindgate::simulation
