#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "doctor/context.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

// AscendJobs under a scaling rule whose pods the watcher does not see. It finds instances by the
// labels of pods, and ascend-operator copies none from a job to its pods (mind-cluster:
// component/ascend-operator/pkg/controllers/v1, labels.go): mindgate does when the job is admitted.
// Where no pod has them, the PodGroup stands for the instance.
namespace mindgate::doctor {
namespace {

constexpr std::string_view kScaledJobsCheck = "scaled-jobs";
constexpr size_t kMaxJobsNamed = 3;
constexpr size_t kMaxScaledJobs = 10'000;  // more are not looked at

const kube::Resource kAscendJobs{"mindxdl.gitee.com", "v1", "ascendjobs", "AscendJob", true};

constexpr std::array<std::string_view, 3> kScalingLabels = {schemas::kScalingRule, schemas::kJobId,
                                                            schemas::kGroupName};

using JobName = std::pair<std::string, std::string>;  // namespace and name
using Keys = std::set<std::string_view>;              // of kScalingLabels

struct ScaledJobs {
  std::map<JobName, Keys> jobs{};  // and which of the labels each has
  std::set<JobName> unseen{};
  bool all = true;  // false: there are more than are looked at

  // A pod of the job, or what one will be made from, has these labels.
  void Meet(const JobName& job, const json::Value* labels) {
    const auto found = jobs.find(job);
    if (found == jobs.end()) return;
    const bool has_all = std::ranges::all_of(found->second, [labels](std::string_view key) {
      return !json::FindString(labels, key).value_or("").empty();
    });
    if (!has_all) unseen.insert(job);
  }
};

bool HasEnded(const json::Value& job) {
  return schemas::ConditionStatus(job, "Succeeded") == "True" ||
         schemas::ConditionStatus(job, "Failed") == "True";
}

void AddJob(const json::Value& object, ScaledJobs& found) {
  if (HasEnded(object)) return;
  if (found.jobs.size() == kMaxScaledJobs) {
    found.all = false;
    return;
  }
  const JobName name = {json::TextAt(object, {"metadata", "namespace"}),
                        json::TextAt(object, {"metadata", "name"})};
  Keys& keys = found.jobs[name];
  const json::Value* labels = json::FindPath(object, {"metadata", "labels"});
  for (std::string_view key : kScalingLabels) {
    if (!json::FindString(labels, key).value_or("").empty()) keys.insert(key);
  }
  const json::Value* replicas = json::FindPath(object, {"spec", "replicaSpecs"});
  if (!json::IsObject(replicas)) return;
  for (const auto& [type, replica] : replicas->members()) {
    found.Meet(name, json::FindPath(replica, {"template", "metadata", "labels"}));
  }
}

void AddPod(const json::Value& pod, ScaledJobs& found) {
  const json::Value* owners = json::FindPath(pod, {"metadata", "ownerReferences"});
  if (!json::IsArray(owners)) return;
  for (const json::Value& owner : *owners) {
    if (json::FindString(&owner, "kind") != "AscendJob") continue;
    found.Meet({json::TextAt(pod, {"metadata", "namespace"}),
                std::string(json::FindString(&owner, "name").value_or(""))},
               json::FindPath(pod, {"metadata", "labels"}));
  }
}

std::string Named(const std::set<JobName>& jobs) {
  std::string names;
  size_t count = 0;
  for (const auto& [ns, name] : jobs) {
    if (++count > kMaxJobsNamed) break;
    names += (names.empty() ? "" : ", ") + ns + "/" + name;
  }
  if (jobs.size() == 1) return "AscendJob " + names;
  return std::to_string(jobs.size()) + " AscendJobs (" + names +
         (jobs.size() > kMaxJobsNamed
              ? " and " + std::to_string(jobs.size() - kMaxJobsNamed) + " more)"
              : ")");
}

}  // namespace

void CheckScaledJobs(Context& context) {
  ScaledJobs found;
  const json::Projection job_fields =
      kube::WithIdentity({{"metadata", "labels"},
                          {"spec", "replicaSpecs", "*", "template", "metadata", "labels"},
                          {"status", "conditions"}});
  const auto jobs = context.client.ListAll(
      kAscendJobs, "", {.label_selector = std::string(schemas::kScalingRule)}, &job_fields,
      {.started = [&] { found = {}; }, .item = [&](const json::Value& job) { AddJob(job, found); }},
      context.stop);
  if (!jobs && jobs.error().reason == kube::Reason::kNotFound) {
    return context.report.Ok(kScaledJobsCheck, "the cluster has no AscendJobs");
  }
  if (!jobs) return SkipFor(context, kScaledJobsCheck, "AscendJobs", jobs.error());
  if (!found.jobs.empty()) {
    const json::Projection pod_fields =
        kube::WithIdentity({{"metadata", "labels"}, {"metadata", "ownerReferences"}});
    const auto pods = context.client.ListAll(
        kube::resources::kPods, "",
        {.label_selector = "training.kubeflow.org/job-name",
         .field_selector = "status.phase!=Succeeded,status.phase!=Failed"},
        &pod_fields,
        {.started = [] {}, .item = [&](const json::Value& pod) { AddPod(pod, found); }},
        context.stop);
    if (!pods) return SkipFor(context, kScaledJobsCheck, "Pods of AscendJobs", pods.error());
  }
  const std::string rest =
      found.all ? "" : "; only " + std::to_string(kMaxScaledJobs) + " AscendJobs were checked";
  if (found.unseen.empty()) {
    return context.report.Ok(
        kScaledJobsCheck, "every AscendJob under a scaling rule has its labels on its pods" + rest);
  }
  context.report.Warn(
      kScaledJobsCheck,
      Named(found.unseen) +
          " under a scaling rule: pods or their template lack the labels mind-cluster/"
          "scaling-rule, jobID or mind-cluster/group-name of the job, which was admitted without "
          "mindgate. Their pods have no gate, so nothing holds them back, and the watcher counts a "
          "job only by the phase of its PodGroup where no pod has the labels" +
          rest,
      "apply the jobs again, so that mindgate writes the labels into their templates; add them to "
      "the pods that run: `kubectl -n NAMESPACE label pods -l training.kubeflow.org/job-name=JOB "
      "mind-cluster/scaling-rule=... jobID=... mind-cluster/group-name=...`");
}

}  // namespace mindgate::doctor
