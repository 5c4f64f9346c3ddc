#include "watcher/rescheduling/survey.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "json/projection.h"
#include "json/text_at.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "watcher/faults/device_report.h"
#include "watcher/faults/reports.h"
#include "watcher/frame/nodes.h"

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

JobMetadata::Map MapOf(const Value* object) {
  JobMetadata::Map map;
  if (!json::IsObject(object)) return map;
  for (const auto& [key, value] : object->members()) {
    if (const auto text = json::AsString(&value)) map.emplace(key, *text);
  }
  return map;
}

// Labels and annotations of PodGroups and pods that decide about faults.
std::vector<json::Projection::Path> MetadataFields() {
  std::vector<json::Projection::Path> fields;
  for (const std::string_view label :
       {schemas::kFaultScheduling, schemas::kPodRescheduling, schemas::kFaultRetryTimes,
        schemas::kProcessRecover, schemas::kSubHealthyStrategy, schemas::kApp,
        schemas::kOmeInferenceService, schemas::kFaultType, schemas::kReplicaType}) {
    fields.push_back({"metadata", "labels", std::string(label)});
  }
  for (const std::string_view annotation :
       {schemas::kRecoverPolicyPath, schemas::kProcessRecoverStrategy, schemas::kAscendReal,
        schemas::kRankIndex, schemas::kNeedVolcanoOpe, schemas::kPodGroupAnnotation}) {
    fields.push_back({"metadata", "annotations", std::string(annotation)});
  }
  return fields;
}

kube::Answer<void> ReadReports(kube::Client& client, std::string_view ns, std::string_view selector,
                               Survey& survey, const std::stop_token& stop) {
  std::vector<faults::Report> reports;
  const json::Projection fields = faults::ReportFields();
  const auto listed = client.ListAll(kube::resources::kConfigMaps, ns,
                                     {.label_selector = std::string(selector)}, &fields,
                                     {.started = [&] { reports.clear(); },
                                      .item =
                                          [&](const Value& config_map) {
                                            auto report = faults::ReadReport(config_map);
                                            if (report) reports.push_back(*std::move(report));
                                          }},
                                     stop);
  if (!listed) return tl::make_unexpected(listed.error());
  survey.reports += reports.size();
  for (faults::Report& report : reports) {
    faults::Merge(report, survey.nodes);
    std::move(report.problems.begin(), report.problems.end(), std::back_inserter(survey.problems));
  }
  return {};
}

kube::Answer<void> ReadNodes(kube::Client& client, Survey& survey, const std::stop_token& stop) {
  const json::Projection fields = kube::WithIdentity({{"status", "conditions"}});
  const auto listed = client.ListAll(
      kube::resources::kNodes, "", {}, &fields,
      {.started = [&] { survey.not_ready.clear(); },
       .item =
           [&](const Value& node) {
             if (!IsReady(node))
               survey.not_ready.insert(json::TextAt(json::Find(node, "metadata"), {"name"}));
           }},
      stop);
  if (!listed) return tl::make_unexpected(listed.error());
  return {};
}

// Whether a container ended with an error the last time, or the pod as a whole.
bool HasFailed(const Value& pod) {
  const Value* status = json::Find(pod, "status");
  if (json::FindString(status, "phase") == "Failed") return true;
  const Value* containers = json::Find(status, "containerStatuses");
  if (!json::IsArray(containers)) return false;
  return std::any_of(containers->begin(), containers->end(), [](const Value& container) {
    const Value* code = json::FindPath(container, {"lastState", "terminated", "exitCode"});
    return json::AsInt(code).value_or(0) != 0;
  });
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
  task.failed = HasFailed(pod);
  task.fault_type = json::TextAt(labels, {schemas::kFaultType});
  task.rank = json::TextAt(annotations, {schemas::kRankIndex});
  task.is_worker = json::TextAt(labels, {schemas::kReplicaType}) == "worker";
  task.may_be_switched = json::TextAt(annotations, {schemas::kNeedVolcanoOpe}) == "delete";
  return task;
}

kube::Answer<void> ReadPods(kube::Client& client, Survey& survey, Groups& groups,
                            const std::stop_token& stop) {
  auto paths = MetadataFields();
  paths.push_back({"spec", "nodeName"});
  paths.push_back({"status", "phase"});
  paths.push_back({"status", "containerStatuses"});
  const json::Projection fields = kube::WithIdentity(paths);
  const auto on_faulty_node = [&](const Task& task) {
    return survey.nodes.contains(task.node) || survey.not_ready.contains(task.node);
  };
  const auto listed = client.ListAll(
      kube::resources::kPods, "", {.field_selector = "status.phase!=Succeeded"}, &fields,
      {.started =
           [&] {
             survey.pods.clear();
             groups.clear();
           },
       .item =
           [&](const Value& pod) {
             const Value* metadata = json::Find(pod, "metadata");
             Task task = TaskOf(pod);
             std::string ns = json::TextAt(metadata, {"namespace"});
             const Value* annotations = json::Find(metadata, "annotations");
             std::string group = json::TextAt(annotations, {schemas::kPodGroupAnnotation});
             if (on_faulty_node(task)) survey.pods.push_back({ns, group, task});
             if (group.empty()) return;
             groups[{std::move(ns), std::move(group)}].push_back(
                 {std::move(task), MapOf(json::Find(metadata, "labels")), MapOf(annotations)});
           }},
      stop);
  if (!listed) return tl::make_unexpected(listed.error());
  std::sort(survey.pods.begin(), survey.pods.end(), [](const SurveyedPod& a, const SurveyedPod& b) {
    return std::tie(a.ns, a.task.pod) < std::tie(b.ns, b.task.pod);
  });
  return {};
}

using GroupMetadata = std::map<GroupKey, JobMetadata>;

kube::Answer<GroupMetadata> ReadPodGroups(kube::Client& client, const Groups& groups,
                                          const std::stop_token& stop) {
  GroupMetadata found;
  const json::Projection fields = kube::WithIdentity(MetadataFields());
  const auto listed =
      client.ListAll(kube::resources::kPodGroups, "", {}, &fields,
                     {.started = [&] { found.clear(); },
                      .item =
                          [&](const Value& object) {
                            const Value* metadata = json::Find(object, "metadata");
                            const GroupKey key(json::TextAt(metadata, {"namespace"}),
                                               json::TextAt(metadata, {"name"}));
                            if (!groups.contains(key)) return;
                            JobMetadata& of_group = found[key];
                            of_group.AddLabels(MapOf(json::Find(metadata, "labels")));
                            of_group.AddAnnotations(MapOf(json::Find(metadata, "annotations")));
                          }},
                     stop);
  // Without Volcano nobody reschedules.
  if (!listed && listed.error().reason != kube::Reason::kNotFound) {
    return tl::make_unexpected(listed.error());
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
    SurveyedJob job{key.first, key.second, {}, {}};
    for (PodOfGroup& pod : pods) {
      of_group->second.AddLabels(pod.labels);
      of_group->second.AddAnnotations(pod.annotations);
      job.tasks.push_back(std::move(pod.task));
    }
    const FaultPolicy policy = of_group->second.Policy();
    std::vector<FaultType> types;
    for (const Task& task : job.tasks) {
      types.push_back(Classify(task, policy, {survey.nodes, survey.not_ready}));
    }
    job.response = Respond(job.tasks, types, policy);
    if (job.response.reason != FaultType::kHealthy) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

kube::Answer<Survey> TakeSurvey(kube::Client& client, const std::stop_token& stop) {
  Survey survey;
  auto read =
      ReadReports(client, faults::kClusterNamespace, faults::kClusterSelector, survey, stop);
  if (!read) return tl::make_unexpected(read.error());
  survey.by_clusterd = survey.reports > 0;
  if (!survey.by_clusterd) {
    read = ReadReports(client, faults::kDeviceNamespace, faults::kNodeSelector, survey, stop);
    if (read) {
      read = ReadReports(client, faults::kNodeNamespace, faults::kNodeSelector, survey, stop);
    }
    if (!read) return tl::make_unexpected(read.error());
  }
  std::erase_if(survey.nodes, [](const auto& node) { return node.second.IsClean(); });
  read = ReadNodes(client, survey, stop);
  Groups groups;
  if (read) read = ReadPods(client, survey, groups, stop);
  if (!read) return tl::make_unexpected(read.error());
  auto metadata = ReadPodGroups(client, groups, stop);
  if (!metadata) return tl::make_unexpected(metadata.error());
  survey.jobs = JobsOf(std::move(groups), *std::move(metadata), survey);
  return survey;
}

}  // namespace mindgate::watcher::rescheduling
