#include "what_if/survey.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "faults/fault_store.h"
#include "faults/node_faults.h"
#include "json/value.h"
#include "schemas/names.h"
#include "watcher/frame/informers.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling/plugin.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {
namespace {

using json::Value;
using watcher::rescheduling::AsksForNpus;
using watcher::rescheduling::Classify;
using watcher::rescheduling::FaultType;
using watcher::rescheduling::HasFailedContainer;
using watcher::rescheduling::IsBound;
using watcher::rescheduling::JobMetadata;
using watcher::rescheduling::LastRestarts;
using watcher::rescheduling::PluginRestart;
using watcher::rescheduling::Respond;
using watcher::rescheduling::RetriesLeft;
using watcher::rescheduling::Task;

// A PodGroup, by namespace and name.
using GroupKey = std::pair<std::string, std::string>;

JobMetadata::Map FaultLabelsOf(const Value* metadata) {
  return JobMetadata::Choose(json::Find(metadata, "labels"), kFaultLabels);
}
JobMetadata::Map FaultAnnotationsOf(const Value* metadata) {
  return JobMetadata::Choose(json::Find(metadata, "annotations"), kFaultAnnotations);
}

Task TaskOf(const Value& pod) {
  const Value* metadata = json::Find(pod, "metadata");
  const Value* labels = json::Find(metadata, "labels");
  const Value* annotations = json::Find(metadata, "annotations");
  Task task;
  task.pod = json::TextAt(metadata, {"name"});
  task.node = json::TextAt(json::Find(pod, "spec"), {"nodeName"});
  task.chips = faults::PhysicalChips(json::TextAt(annotations, {schemas::kAscendReal}));
  task.ended = json::TextAt(pod, {"status", "phase"}) == "Failed";
  task.failed = task.ended || HasFailedContainer(pod);
  task.fault_type = json::TextAt(labels, {schemas::kFaultType});
  task.rank = json::TextAt(annotations, {schemas::kRankIndex});
  task.is_worker = json::TextAt(labels, {schemas::kReplicaType}) == "worker";
  task.may_be_switched = json::TextAt(annotations, {schemas::kNeedVolcanoOpe}) == "delete";
  return task;
}

std::string PodGroupNameOf(const Value& pod) {
  return json::TextAt(pod, {"metadata", "annotations", schemas::kPodGroupAnnotation});
}

bool HasChips(const Value& pod) {
  return !faults::PhysicalChips(
              json::TextAt(pod, {"metadata", "annotations", schemas::kAscendReal}))
              .empty();
}

// A PodGroup and its pods, while they are read.
struct ReadJob {
  JobMetadata metadata{};
  bool asks_for_npus = false;
  int64_t min_member = 1;
  std::vector<std::pair<std::string, const Value*>> pods{};  // by name
};

// As the plugin counts them: pods that it needs, and whether fewer have a node.
bool IsIncomplete(const ReadJob& job) {
  const int64_t needs = job.metadata.MinAvailable(job.min_member);
  const auto placed = std::count_if(job.pods.begin(), job.pods.end(), [](const auto& pod) {
    return !json::TextAt(pod.second, {"spec", "nodeName"}).empty();
  });
  return placed < std::max<int64_t>(1, needs);
}

template <typename T>
std::optional<T> FindJob(const std::map<std::string, T, std::less<>>& of_jobs,
                         const GroupKey& key) {
  const auto found = of_jobs.find(key.first + "/" + key.second);
  return found == of_jobs.end() ? std::nullopt : std::optional(found->second);
}

// Where each serial number is, but for those that several nodes have.
std::map<std::string, std::string> NodesBySerial(const ClusterSnapshot& snapshot) {
  std::map<std::string, std::string> nodes;
  for (const Value* node : snapshot.nodes) {
    const std::string serial = watcher::SerialNumberOf(*node);
    if (serial.empty()) continue;
    const auto [place, is_new] = nodes.emplace(serial, json::TextAt(node, {"metadata", "name"}));
    if (!is_new) place->second.clear();
  }
  return nodes;
}

// As the watcher does with faultSource: auto. What the snapshot was taken of decides the rest.
void ReadReports(const ClusterSnapshot& snapshot, SurveyedFaults& found) {
  const auto nodes = NodesBySerial(snapshot);
  std::map<std::string, std::string> serials;
  for (const auto& [serial, node] : nodes) serials.emplace(node, serial);
  const auto in = [](const auto& map) {
    return [&map](const std::string& key) {
      const auto entry = map.find(key);
      return entry == map.end() ? std::string() : entry->second;
    };
  };
  faults::FaultStore reported({.node_of = in(nodes), .serial_of = in(serials)});
  std::map<faults::Writer, size_t> count;
  for (const Value* config_map : snapshot.fault_reports) {
    const faults::Writer writer = faults::WriterOf(*config_map);
    auto needed = faults::Summarize(*config_map, writer);
    if (!needed) continue;
    ++count[writer];
    const Value* metadata = json::Find(config_map, "metadata");
    reported.Put(writer,
                 json::TextAt(metadata, {"namespace"}) + "/" + json::TextAt(metadata, {"name"}),
                 &*needed);
    std::move(needed->problems.begin(), needed->problems.end(), std::back_inserter(found.problems));
  }
  const auto counting = reported.ChooseSources(faults::Source::kAuto, snapshot.taken);
  found.by_clusterd = counting.clusterd && count[faults::Writer::kClusterD] > 0;
  found.clusterd_is_gone = !counting.clusterd && reported.ClusterdIsActive();
  found.reports = counting.clusterd
                      ? count[faults::Writer::kClusterD]
                      : count[faults::Writer::kNodes] + count[faults::Writer::kPublic];
  for (const std::string& node : reported.nodes()) {
    faults::NodeFaults merged = reported.Merged(node, counting);
    if (!merged.IsClean()) found.nodes.emplace(node, std::move(merged));
  }
}

}  // namespace

SurveyedFaults FaultsIn(const ClusterSnapshot& snapshot) {
  SurveyedFaults found;
  std::set<std::string, std::less<>> nodes;
  for (const Value* node : snapshot.nodes) {
    std::string name = json::TextAt(node, {"metadata", "name"});
    if (!watcher::IsReady(*node)) found.not_ready.insert(name);
    nodes.insert(std::move(name));
  }
  ReadReports(snapshot, found);
  // A pod is lost with its node also when the node's object is gone. What a tenant writes
  // into spec.nodeName does not make a node.
  for (const Value* pod : snapshot.pods) {
    std::string node = json::TextAt(pod, {"spec", "nodeName"});
    if (!node.empty() && !nodes.contains(node) && IsBound(*pod)) found.gone.insert(std::move(node));
  }
  found.not_ready.insert(found.gone.begin(), found.gone.end());
  if (!snapshot.plugin_notes_unread.empty()) {
    found.problems.push_back(
        "what MindCluster's plugin noted of its restarts cannot be read, so that each job counts "
        "as one that it examines at once: " +
        snapshot.plugin_notes_unread);
  }
  return found;
}

std::shared_ptr<const faults::FaultTable> CodesIn(const ClusterSnapshot& snapshot,
                                                  std::vector<std::string>& problems) {
  if (!snapshot.fault_config.empty()) {
    return std::make_shared<const faults::FaultTable>(
        faults::FaultTable::OfCluster(*snapshot.fault_config.front(), problems));
  }
  const faults::FaultTable& shipped = faults::FaultTable::Shipped();
  if (!snapshot.fault_config_unread.empty()) {
    problems.push_back("ConfigMap " + std::string(faults::kConfigNamespace) + "/" +
                       std::string(faults::kConfigName) +
                       ", which may set other levels of fault codes, cannot be read: " +
                       snapshot.fault_config_unread + "; the levels are those that MindCluster " +
                       std::string(shipped.release()) + " ships");
  }
  return {std::shared_ptr<const void>(), &shipped};
}

Jobs::Jobs(const ClusterSnapshot& snapshot)
    : taken_(snapshot.taken), nodes_(snapshot.nodes.size()), watcher_(snapshot.watcher) {
  std::map<GroupKey, ReadJob> read;
  for (const Value* object : snapshot.pod_groups) {
    const Value* metadata = json::Find(object, "metadata");
    ReadJob& job = read[{json::TextAt(metadata, {"namespace"}), json::TextAt(metadata, {"name"})}];
    job.metadata.AddLabels(FaultLabelsOf(metadata));
    job.metadata.AddAnnotations(FaultAnnotationsOf(metadata));
    job.asks_for_npus = AsksForNpus(*object);
    job.min_member = json::AsInt(json::FindPath(*object, {"spec", "minMember"})).value_or(1);
  }
  for (const Value* pod : snapshot.pods) {
    const Value* metadata = json::Find(pod, "metadata");
    const auto job = read.find({json::TextAt(metadata, {"namespace"}), PodGroupNameOf(*pod)});
    // The scheduler knows no other job.
    if (job != read.end()) job->second.pods.emplace_back(json::TextAt(metadata, {"name"}), pod);
  }
  std::map<std::string, PluginRestart, std::less<>> restarts;
  std::map<std::string, int64_t, std::less<>> retries;
  for (const Value* map : snapshot.plugin_records) restarts.merge(LastRestarts(*map));
  for (const Value* map : snapshot.plugin_retries) retries.merge(RetriesLeft(*map));
  for (auto& [key, job] : read) {
    if (job.pods.empty()) continue;
    std::stable_sort(job.pods.begin(), job.pods.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Job& kept = jobs_[key];
    bool any_has_chips = false;
    for (const auto& [name, pod] : job.pods) {
      const Value* metadata = json::Find(pod, "metadata");
      job.metadata.AddLabels(FaultLabelsOf(metadata));
      job.metadata.AddPodAnnotations(FaultAnnotationsOf(metadata));
      any_has_chips = any_has_chips || HasChips(*pod);
      kept.pods.push_back(pod);
    }
    kept.policy = job.metadata.Policy(job.asks_for_npus || any_has_chips);
    kept.memory = {FindJob(restarts, key), IsIncomplete(job), FindJob(retries, key)};
  }
}

// As the watcher counts them (watcher/rescheduling/nodes.h).
bool Jobs::TooManyFaults(const SurveyedFaults& faults) const {
  size_t faulty = faults.not_ready.size();
  for (const auto& [node, found] : faults.nodes) {
    if (found.TakesPods() && !faults.not_ready.contains(node)) ++faulty;
  }
  const size_t all = nodes_ + faults.gone.size();
  return watcher::rescheduling::FaultyNodes::TooMany(faulty, all, watcher_.max_faulty_nodes);
}

Consequences Jobs::Of(const SurveyedFaults& faults, std::span<const Value* const> pods) const {
  Consequences found;
  std::set<GroupKey> concerned;
  for (const Value* pod : pods) {
    std::string ns = json::TextAt(pod, {"metadata", "namespace"});
    std::string group = PodGroupNameOf(*pod);
    const std::string node = json::TextAt(pod, {"spec", "nodeName"});
    if (faults.nodes.contains(node) || faults.not_ready.contains(node)) {
      found.pods.push_back({ns, group, TaskOf(*pod)});
    }
    if (!group.empty()) concerned.emplace(std::move(ns), std::move(group));
  }
  std::sort(found.pods.begin(), found.pods.end(), [](const SurveyedPod& a, const SurveyedPod& b) {
    return std::tie(a.ns, a.task.pod) < std::tie(b.ns, b.task.pod);
  });
  std::optional<bool> too_many;  // counted when it matters
  for (const GroupKey& key : concerned) {
    const auto known = jobs_.find(key);
    if (known == jobs_.end()) continue;
    SurveyedJob job{key.first, key.second, {}, {}, known->second.policy, {}};
    for (const Value* pod : known->second.pods) {
      job.tasks.push_back(TaskOf(*pod));
      job.types.push_back(Classify(job.tasks.back(), job.policy, {faults.nodes, faults.not_ready}));
    }
    const PluginMemory& memory = known->second.memory;
    job.response = Respond(job.tasks, job.types, job.policy, memory.retries_left);
    if (job.response.reason == FaultType::kHealthy) continue;
    if (!too_many) too_many = TooManyFaults(faults);
    job.due = DueOf(job.response, job.policy, memory, watcher_, *too_many, taken_);
    job.plugin_restarted = memory.restarted;
    found.jobs.push_back(std::move(job));
  }
  return found;
}

Survey SurveyOf(const ClusterSnapshot& snapshot, SurveyedFaults faults) {
  Survey survey;
  static_cast<Consequences&>(survey) = Jobs(snapshot).Of(faults, snapshot.pods);
  static_cast<SurveyedFaults&>(survey) = std::move(faults);
  return survey;
}

}  // namespace mindgate::what_if
