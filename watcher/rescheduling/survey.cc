#include "watcher/rescheduling/survey.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "json/text_at.h"
#include "schemas/names.h"
#include "watcher/faults/device_report.h"
#include "watcher/faults/reports.h"
#include "watcher/frame/nodes.h"
#include "watcher/rescheduling/pod.h"
#include "watcher/snapshot/fields.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Value;

// A PodGroup, by namespace and name.
using GroupKey = std::pair<std::string, std::string>;

struct PodOfGroup {
  Task task;
  JobMetadata::Map labels;
  JobMetadata::Map annotations;
};

using Groups = std::map<GroupKey, std::vector<PodOfGroup>>;

// Of a map, the entries that decide about faults.
JobMetadata::Map MapOf(const Value* object, std::span<const std::string_view> keys) {
  JobMetadata::Map map;
  for (const std::string_view key : keys) {
    if (const auto text = json::FindString(object, key)) map.emplace(key, *text);
  }
  return map;
}

JobMetadata::Map LabelsOf(const Value* metadata) {
  return MapOf(json::Find(metadata, "labels"), kFaultLabels);
}
JobMetadata::Map AnnotationsOf(const Value* metadata) {
  return MapOf(json::Find(metadata, "annotations"), kFaultAnnotations);
}

Task TaskOf(const Value& pod) {
  const Value* metadata = json::Find(pod, "metadata");
  const Value* labels = json::Find(metadata, "labels");
  const Value* annotations = json::Find(metadata, "annotations");
  Task task;
  task.pod = json::TextAt(metadata, {"name"});
  task.node = json::TextAt(json::Find(pod, "spec"), {"nodeName"});
  for (std::string& chip : faults::NamesIn(json::TextAt(annotations, {schemas::kAscendReal}))) {
    task.chips.insert(std::move(chip));
  }
  task.ended = json::TextAt(pod, {"status", "phase"}) == "Failed";
  task.failed = task.ended || HasFailedContainer(pod);
  task.fault_type = json::TextAt(labels, {schemas::kFaultType});
  task.rank = json::TextAt(annotations, {schemas::kRankIndex});
  task.is_worker = json::TextAt(labels, {schemas::kReplicaType}) == "worker";
  task.may_be_switched = json::TextAt(annotations, {schemas::kNeedVolcanoOpe}) == "delete";
  return task;
}

Groups ReadPods(const ClusterSnapshot& snapshot, Survey& survey) {
  Groups groups;
  for (const Value* pod : snapshot.pods) {
    const Value* metadata = json::Find(pod, "metadata");
    Task task = TaskOf(*pod);
    std::string ns = json::TextAt(metadata, {"namespace"});
    std::string group = json::TextAt(metadata, {"annotations", schemas::kPodGroupAnnotation});
    if (survey.nodes.contains(task.node) || survey.not_ready.contains(task.node)) {
      survey.pods.push_back({ns, group, task});
    }
    if (group.empty()) continue;
    groups[{std::move(ns), std::move(group)}].push_back(
        {std::move(task), LabelsOf(metadata), AnnotationsOf(metadata)});
  }
  std::sort(survey.pods.begin(), survey.pods.end(), [](const SurveyedPod& a, const SurveyedPod& b) {
    return std::tie(a.ns, a.task.pod) < std::tie(b.ns, b.task.pod);
  });
  return groups;
}

using GroupMetadata = std::map<GroupKey, JobMetadata>;

GroupMetadata ReadPodGroups(const ClusterSnapshot& snapshot, const Groups& groups) {
  GroupMetadata found;
  for (const Value* object : snapshot.pod_groups) {
    const Value* metadata = json::Find(object, "metadata");
    const GroupKey key(json::TextAt(metadata, {"namespace"}), json::TextAt(metadata, {"name"}));
    if (!groups.contains(key)) continue;
    JobMetadata& of_group = found[key];
    of_group.AddLabels(LabelsOf(metadata));
    of_group.AddAnnotations(AnnotationsOf(metadata));
  }
  return found;
}

// Those of which a task is faulty.
std::vector<SurveyedJob> JobsOf(Groups groups, GroupMetadata metadata, const Survey& survey) {
  std::vector<SurveyedJob> jobs;
  for (auto& [key, pods] : groups) {
    const auto of_group = metadata.find(key);
    if (of_group == metadata.end()) continue;  // the scheduler knows no such job
    std::sort(pods.begin(), pods.end(),
              [](const PodOfGroup& a, const PodOfGroup& b) { return a.task.pod < b.task.pod; });
    SurveyedJob job{key.first, key.second, {}, {}, {}, {}};
    for (PodOfGroup& pod : pods) {
      of_group->second.AddLabels(pod.labels);
      of_group->second.AddPodAnnotations(pod.annotations);
      job.tasks.push_back(std::move(pod.task));
    }
    job.policy = of_group->second.Policy();
    for (const Task& task : job.tasks) {
      job.types.push_back(Classify(task, job.policy, {survey.nodes, survey.not_ready}));
    }
    job.response = Respond(job.tasks, job.types, job.policy);
    if (job.response.reason != FaultType::kHealthy) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

SurveyedFaults FaultsIn(const ClusterSnapshot& snapshot) {
  SurveyedFaults found;
  for (const Value* config_map : snapshot.fault_reports) {
    auto report = faults::ReadReport(*config_map);
    if (!report) continue;
    ++found.reports;
    const std::string name = json::TextAt(config_map, {"metadata", "name"});
    found.by_clusterd = found.by_clusterd || name.starts_with("cluster-info-");
    faults::Merge(*report, found.nodes);
    std::move(report->problems.begin(), report->problems.end(), std::back_inserter(found.problems));
  }
  std::erase_if(found.nodes, [](const auto& node) { return node.second.IsClean(); });
  std::set<std::string, std::less<>> nodes;
  for (const Value* node : snapshot.nodes) {
    std::string name = json::TextAt(node, {"metadata", "name"});
    if (!IsReady(*node)) found.not_ready.insert(name);
    nodes.insert(std::move(name));
  }
  // A pod is lost with its node also when the node's object is gone (trap 37).
  for (const Value* pod : snapshot.pods) {
    std::string node = json::TextAt(pod, {"spec", "nodeName"});
    if (!node.empty() && !nodes.contains(node)) found.gone.insert(std::move(node));
  }
  found.not_ready.insert(found.gone.begin(), found.gone.end());
  return found;
}

Survey SurveyOf(const ClusterSnapshot& snapshot, SurveyedFaults faults) {
  Survey survey;
  static_cast<SurveyedFaults&>(survey) = std::move(faults);
  Groups groups = ReadPods(snapshot, survey);
  GroupMetadata metadata = ReadPodGroups(snapshot, groups);
  survey.jobs = JobsOf(std::move(groups), std::move(metadata), survey);
  return survey;
}

}  // namespace mindgate::watcher::rescheduling
