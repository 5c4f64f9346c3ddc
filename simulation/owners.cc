// The part of World that makes pods: owners of jobs and instances, and Volcano as far as it keeps
// their PodGroups.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "kube/resource.h"
#include "simulation/pod_text.h"
#include "simulation/world.h"

namespace mindgate::simulation {

using json::Json;
using watcher::scaling::Phase;

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

// A group of a LeaderWorkerSet is made again when all of it is gone.
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

}  // namespace mindgate::simulation
