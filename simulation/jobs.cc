#include "simulation/jobs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "json/value.h"
#include "kube/resource.h"
#include "schemas/names.h"
#include "simulation/fault_text.h"
#include "simulation/job_text.h"
#include "simulation/pod_text.h"

namespace mindgate::simulation {
namespace {

using json::Json;

void ChangeTexts(const JobSpec::Texts& change, JobSpec::Texts& texts) {
  for (const auto& [key, value] : change) {
    if (value.empty()) {
      texts.erase(key);
    } else {
      texts.insert_or_assign(key, value);
    }
  }
}

}  // namespace

std::string NodePath(const std::string& node) {
  return kube::PathOf(kube::resources::kNodes, "", node);
}

std::string PodGroupPath(const JobSpec& job) {
  return kube::PathOf(kube::resources::kPodGroups, job.ns, job.name);
}

Jobs::Jobs(const Scenario& scenario, const ScenarioOptions& options, const ManualClock& clock,
           ApiServer& server, Telling telling)
    : scenario_(scenario),
      options_(options),
      clock_(clock),
      server_(server),
      telling_(std::move(telling)) {
  for (const NodeSpec& node : scenario.nodes) {
    nodes_.emplace_back().used.resize(static_cast<size_t>(node.npus));
    PutNode(node.name, true);
  }
  std::set<std::string> namespaces;
  for (const JobSpec& spec : scenario.jobs) {
    Job& job = jobs_.emplace_back();
    job.spec = &spec;
    job.labels = spec.labels;
    job.annotations = spec.annotations;
    job.ever_ends = spec.ever_ends;
    job.phase = "Pending";
    job.places.resize(static_cast<size_t>(spec.pods));
    if (namespaces.insert(spec.ns).second) {
      server_.PutObject(kube::resources::kNamespaces, "", spec.ns, Json::object());
    }
    PutGroup(jobs_.size() - 1);
  }
}

ApiServer::PodName Jobs::NameOf(const Job& job, const std::string& pod) const {
  return {job.spec->ns, pod};
}

// With the taints that it has.
void Jobs::PutNode(const std::string& name, bool ready) {
  Json node = server_.FindObject(NodePath(name));
  if (node.is_null()) node = {{"spec", Json::object()}};
  node["status"]["conditions"] = {{{"type", "Ready"}, {"status", ready ? "True" : "Unknown"}}};
  server_.PutObject(kube::resources::kNodes, "", name, std::move(node));
}

void Jobs::PutGroup(size_t number) {
  const Job& job = jobs_[number];
  server_.PutObject(kube::resources::kPodGroups, job.spec->ns, job.spec->name,
                    NewPodGroup(*job.spec, job.labels, job.annotations, job.phase));
}

// --- what the API server tells ---

void Jobs::PodChanged(ApiServer::Change change, const ApiServer::PodName& name,
                      const Json& object) {
  const auto found = pods_.find(name);
  if (found == pods_.end()) return;
  Pod& pod = found->second;
  Place& place = jobs_[pod.job].places[pod.ordinal];
  if (change == ApiServer::Change::kDeleted) {
    place.was_asked = true;
    if (place.name == name.name) place.name.clear();
    if (pod.node) {
      for (const int64_t chip : pod.chips)
        nodes_[*pod.node].used[static_cast<size_t>(chip)] = false;
    }
    pods_.erase(found);
    return;
  }
  pod.uid = json::TextAt(object, {"metadata", "uid"});
  if (pod.going || !object.at("metadata").contains("deletionTimestamp")) return;
  pod.going = true;
  place.was_asked = true;
  const Job& job = jobs_[pod.job];
  pod.ends_at = clock_.WallNow() + job.spec->termination_time.value_or(options_.termination_time);
}

// --- what happens to nodes, pods and jobs ---

void Jobs::Report(size_t node, const faults::NodeFaults& faults) { nodes_[node].faults = faults; }

void Jobs::SetReady(size_t node, bool ready) {
  nodes_[node].ready = ready;
  nodes_[node].there = nodes_[node].there || ready;
  if (nodes_[node].there) PutNode(scenario_.nodes[node].name, ready);
}

void Jobs::SetCordoned(size_t node, bool cordoned) { nodes_[node].cordoned = cordoned; }

void Jobs::RemoveNode(size_t node) {
  nodes_[node].there = false;
  server_.RemoveObject(NodePath(scenario_.nodes[node].name));
}

bool Jobs::IsIsolated(size_t node) const {
  const Json object = server_.FindObject(NodePath(scenario_.nodes[node].name));
  if (object.is_null() || !object.contains("spec")) return false;
  const Json taints = object["spec"].value("taints", Json::array());
  return std::any_of(taints.begin(), taints.end(), [](const Json& taint) {
    return taint.value("key", "") == schemas::kFaultyNode;
  });
}

std::string Jobs::Change(const ChangePod& change) {
  using What = ChangePod::What;
  const auto found = std::find_if(pods_.begin(), pods_.end(),
                                  [&](const auto& each) { return each.first.name == change.pod; });
  if (found == pods_.end()) return "nothing: there is no such pod now";
  Pod& pod = found->second;
  if (!pod.running && (change.what == What::kFailed || change.what == What::kExited)) {
    return "nothing: it does not run";
  }
  pod.failed = pod.failed || change.what == What::kFailed;
  pod.exited = pod.exited || change.what == What::kExited;
  pod.running = pod.running && !pod.failed;
  server_.Update(found->first, [&](Json& object) {
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

void Jobs::Change(const ChangeJob& change) {
  Job& job = jobs_[change.job];
  ChangeTexts(change.labels, job.labels);
  ChangeTexts(change.annotations, job.annotations);
  if (change.ever_ends) job.ever_ends = *change.ever_ends;
  PutGroup(change.job);
  for (const Place& place : job.places) {
    if (place.name.empty() || change.labels.empty()) continue;
    server_.Update(NameOf(job, place.name), [&](Json& object) {
      for (const auto& [key, value] : change.labels) {
        if (value.empty()) {
          object["metadata"]["labels"].erase(key);
        } else {
          object["metadata"]["labels"][key] = value;
        }
      }
    });
  }
}

std::string Jobs::Delete(size_t job, const std::string& pod, bool by_force) {
  const ApiServer::PodName name = NameOf(jobs_[job], pod);
  const bool done = by_force ? server_.Remove(name) : server_.Delete(name);
  return done ? "" : "nothing: there is no such pod now";
}

// --- kubelets ---

// A node that is away ends nothing and starts nothing.
bool Jobs::RunPods() {
  const Time now = clock_.WallNow();
  std::vector<ApiServer::PodName> ended;
  std::vector<ApiServer::PodName> started;
  for (auto& [name, pod] : pods_) {
    if (pod.node && !IsReady(*pod.node)) continue;
    if (pod.ends_at && *pod.ends_at <= now && jobs_[pod.job].ever_ends) {
      ended.push_back(name);
    } else if (pod.runs_at && *pod.runs_at <= now && !pod.going) {
      pod.runs_at.reset();
      pod.running = true;
      started.push_back(name);
    }
  }
  for (const auto& name : ended) server_.Remove(name);
  for (const auto& name : started) {
    server_.Update(name, [&](Json& pod) { SetRunning(pod, now); });
  }
  return !ended.empty() || !started.empty();
}

std::optional<Time> Jobs::next_due() const {
  std::optional<Time> next;
  for (const auto& [name, pod] : pods_) {
    if (pod.node && !IsReady(*pod.node)) continue;
    for (const auto& due : {jobs_[pod.job].ever_ends ? pod.ends_at : std::nullopt,
                            pod.going ? std::nullopt : pod.runs_at}) {
      if (due) next = std::min(next.value_or(*due), *due);
    }
  }
  return next;
}

// --- owners ---

bool Jobs::SyncOwners() {
  bool any = false;
  for (size_t number = 0; number < jobs_.size(); ++number) {
    Job& job = jobs_[number];
    if (job.spec->kind == OwnerKind::kLeaderWorkerSet && SyncGroup(number)) any = true;
    const bool waits = job.spec->kind == OwnerKind::kLeaderWorkerSet &&
                       std::any_of(job.places.begin(), job.places.end(), [](const Place& place) {
                         return !place.name.empty() && place.was_asked;
                       });
    for (size_t ordinal = 0; ordinal < job.places.size() && !waits; ++ordinal) {
      Place& place = job.places[ordinal];
      if (!place.name.empty()) {
        const auto pod = pods_.find(NameOf(job, place.name));
        const bool replaced = IsReplicaSet(job.spec->kind) && pod->second.going;
        if (!replaced) continue;
      }
      if (place.generation > 0 && job.spec->kind == OwnerKind::kPod) continue;
      Json pod = NewJobPod(*job.spec, job.labels, ordinal, ++place.generation);
      place.name = json::TextAt(pod, {"metadata", "name"});
      job_of_.insert_or_assign(place.name, number);
      pods_[NameOf(job, place.name)] = {
          .job = number, .ordinal = ordinal, .generation = place.generation};
      if (job.spec->kind == OwnerKind::kLeaderWorkerSet) place.was_asked = false;
      server_.Create(std::move(pod));
      any = true;
    }
    if (SyncPhase(number)) any = true;
  }
  return any;
}

// RestartPolicy RecreateGroupOnPodRestart: with one pod of the group go all (sigs.k8s.io/lws
// pkg/controllers/pod_controller.go).
bool Jobs::SyncGroup(size_t number) {
  Job& job = jobs_[number];
  bool broken = false;
  std::vector<std::string> others;
  for (const Place& place : job.places) {
    if (place.generation == 0) continue;
    const auto pod = place.name.empty() ? pods_.end() : pods_.find(NameOf(job, place.name));
    if (pod == pods_.end() || pod->second.going || pod->second.exited) broken = true;
    if (pod != pods_.end() && !pod->second.going) others.push_back(place.name);
  }
  if (!broken || others.empty()) return false;
  // A whole new group is no broken one.
  if (std::all_of(job.places.begin(), job.places.end(),
                  [](const Place& place) { return place.name.empty(); })) {
    return false;
  }
  telling_(EventKind::kDeleted, number, job.spec->name,
           Join(others, ", ") + " by LeaderWorkerSet, which makes the whole group again");
  for (const std::string& pod : others) server_.Delete(NameOf(job, pod));
  return true;
}

// As Volcano sets it: a job that ran and lost some of its pods is Unknown.
bool Jobs::SyncPhase(size_t number) {
  Job& job = jobs_[number];
  const auto running = std::ssize(Running(number));
  std::string phase = "Pending";
  if (running >= MinMember(*job.spec)) {
    phase = "Running";
    job.ran = true;
  } else if (job.ran && std::any_of(pods_.begin(), pods_.end(), [&](const auto& each) {
               return each.second.job == number && each.second.node;
             })) {
    phase = "Unknown";
  }
  if (phase == job.phase) return false;
  job.phase = std::move(phase);
  PutGroup(number);
  return true;
}

// --- the scheduler ---

// The lowest chips of a node that it may use; nothing: the node is out of the question.
std::optional<std::vector<int64_t>> Jobs::Room(size_t number, const Job& job) const {
  const Node& node = nodes_[number];
  const faults::NodeFaults& faults = node.faults;
  if (!IsReady(number) || node.cordoned || IsIsolated(number)) return std::nullopt;
  if (faults.machine.status != faults::NodeStatus::kHealthy) return std::nullopt;
  if (faults.switches.status == faults::NodeStatus::kUnhealthy) return std::nullopt;
  std::vector<int64_t> chips;
  for (size_t i = 0; i < node.used.size(); ++i) {
    if (std::ssize(chips) == job.spec->npus_per_pod) break;
    const std::string name = ChipName(static_cast<int64_t>(i));
    if (node.used[i] || faults.devices.unhealthy.contains(name) ||
        faults.devices.network_unhealthy.contains(name) || faults.devices.IsSubHealthy(name)) {
      continue;
    }
    chips.push_back(static_cast<int64_t>(i));
  }
  if (std::ssize(chips) < job.spec->npus_per_pod) return std::nullopt;
  return chips;
}

bool Jobs::Schedule() {
  bool any = false;
  for (size_t number = 0; number < jobs_.size(); ++number) {
    if (PlaceJob(number)) any = true;
  }
  return any;
}

// As many as find room, once there are minMember with those that have a node.
bool Jobs::PlaceJob(size_t number) {
  Job& job = jobs_[number];
  const Time now = clock_.WallNow();
  int64_t placed = 0;
  std::vector<ApiServer::PodName> waiting;
  for (const Place& place : job.places) {
    if (place.name.empty()) continue;
    const Pod& pod = pods_.at(NameOf(job, place.name));
    if (pod.going) continue;
    if (pod.node) {
      ++placed;
    } else {
      waiting.push_back(NameOf(job, place.name));
    }
  }
  std::vector<std::pair<size_t, std::vector<int64_t>>> found;
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (size_t node = 0; node < nodes_.size(); ++node) {
      auto chips = Room(node, job);
      if (!chips) continue;
      for (const int64_t chip : *chips) nodes_[node].used[static_cast<size_t>(chip)] = true;
      found.emplace_back(node, *std::move(chips));
      break;
    }
    if (found.size() == i) break;
  }
  if (found.empty() || placed + std::ssize(found) < MinMember(*job.spec)) {
    for (const auto& [node, chips] : found) {
      for (const int64_t chip : chips) nodes_[node].used[static_cast<size_t>(chip)] = false;
    }
    return false;
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < found.size(); ++i) {
    auto& [node, chips] = found[i];
    Pod& pod = pods_.at(waiting[i]);
    pod.node = node;
    pod.chips = chips;
    pod.runs_at = now + job.spec->start_time.value_or(options_.start_time);
    std::vector<std::string> names;
    for (const int64_t chip : chips) names.push_back(ChipName(chip));
    const std::string& node_name = scenario_.nodes[node].name;
    server_.Update(waiting[i], [&](Json& object) {
      SetPlaced(object, node_name, now);
      if (names.empty()) return;
      object["metadata"]["annotations"][std::string(schemas::kAscendReal)] = Join(names, ",");
    });
    texts.push_back(waiting[i].name + " on " + node_name);
  }
  telling_(EventKind::kPlaced, number, job.spec->name, Join(texts, ", "));
  return true;
}

// --- what there is ---

std::vector<std::string> Jobs::Running(size_t job) const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods_) {
    if (pod.job == job && pod.running && !pod.going) names.push_back(name.name);
  }
  return names;
}

std::vector<std::string> Jobs::Untouched(size_t job) const {
  std::vector<std::string> names;
  for (const Place& place : jobs_[job].places) {
    if (!place.name.empty() && place.generation == 1 && !place.was_asked) {
      names.push_back(place.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, Span> Jobs::Spans() const {
  std::map<std::string, Span> spans;
  for (const auto& [name, pod] : pods_) {
    Span span{.service = jobs_[pod.job].spec->name, .instance = name.name};
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

}  // namespace mindgate::simulation
