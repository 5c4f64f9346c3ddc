#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "doctor/context.h"
#include "doctor/installation.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kWatcherCheck = "watcher";

}  // namespace

void CheckWatcher(Context& context) {
  const std::string& ns = context.options.ns;
  const std::string& name = context.options.lease;
  const auto lease = context.client.Get(kube::resources::kLeases, ns, name, context.stop);
  if (!lease) {
    if (lease.error().reason != kube::Reason::kNotFound) {
      return SkipFor(context, kWatcherCheck, "Lease " + ns + "/" + name, lease.error());
    }
    return context.report.Skip(
        kWatcherCheck,
        "there is no Lease " + ns + "/" + name +
            ": no watcher has ever led here. It opens the gates of pods under scaling rules, "
            "repairs gangs, and manages the certificates with certs.mode managed",
        "this is expected with watcher.enabled false; otherwise `helm upgrade` restores the Lease");
  }
  const Leader leader = LeaderOf(*lease, context.now);
  if (leader.released) {
    return context.report.Warn(
        kWatcherCheck,
        "the last leader released Lease " + ns + "/" + name + " at " + leader.renewed +
            ", as in a restart or a rollout: another watcher takes it within a minute",
        "run this again in a minute");
  }
  if (!leader.current) {
    return context.report.Fail(
        kWatcherCheck,
        "no watcher leads: Lease " + ns + "/" + name + " was last renewed at " +
            (leader.renewed.empty() ? "an unknown time" : leader.renewed) +
            ", so pods that wait behind gates stay there, no gang is repaired, and with certs.mode "
            "managed certificates are not renewed and no CA is published",
        "kubectl -n " + ns +
            " get pods -l app.kubernetes.io/component=watcher; see the logs of Deployment " + name);
  }
  context.report.Ok(kWatcherCheck, leader.identity + " is the leader");
}

namespace {

constexpr std::string_view kGatesCheck = "gates";

void Add(const json::Value& pod, NameList& pods) {
  pods.Add(json::TextAt(pod, {"metadata", "namespace"}) + "/" +
           json::TextAt(pod, {"metadata", "name"}));
}

std::string TextOf(const NameList& pods) {
  return pods.Text("pod") + (pods.count() == 1 ? " waits" : " wait") + " behind the gate " +
         std::string(schemas::kScalingGate);
}

// The watcher looks after pods that carry all of these.
bool HasLabels(const json::Value& pod) {
  const json::Value* labels = json::FindPath(pod, {"metadata", "labels"});
  return std::ranges::all_of(
      std::initializer_list{schemas::kScalingRule, schemas::kJobId, schemas::kGroupName},
      [labels](std::string_view key) {
        return !json::FindString(labels, key).value_or("").empty();
      });
}

}  // namespace

void CheckGates(Context& context) {
  NameList waiting;
  NameList unlabelled;
  const json::Projection fields =
      kube::WithIdentity({{"metadata", "labels"}, {"spec", "schedulingGates"}});
  // A pod behind a gate is Pending.
  const auto listed = context.client.ListAll(
      kube::resources::kPods, "", {.field_selector = "status.phase=Pending"}, &fields,
      {.started =
           [&] {
             waiting = {};
             unlabelled = {};
           },
       .item =
           [&](const json::Value& pod) {
             const json::Value* gates = json::FindPath(pod, {"spec", "schedulingGates"});
             if (!schemas::IndexOfScalingGate(gates)) return;
             Add(pod, HasLabels(pod) ? waiting : unlabelled);
           }},
      context.stop);
  if (!listed) return SkipFor(context, kGatesCheck, "Pods that wait", listed.error());
  const std::string release = "`mindgate release-gates -A --all` lets them start";
  if (unlabelled.count() > 0) {
    context.report.Fail(
        kGatesCheck,
        TextOf(unlabelled) +
            " without all of the labels mind-cluster/scaling-rule, jobID and "
            "mind-cluster/group-name, and the watcher ignores a pod that lacks one of them",
        "restore the labels that it was created with; or " + release);
  }
  if (waiting.count() == 0) {
    if (unlabelled.count() == 0) context.report.Ok(kGatesCheck, "no pod waits behind a gate");
  } else if (!context.enforces_scaling) {
    context.report.Skip(kGatesCheck,
                        TextOf(waiting) + ", and it is unknown whether a watcher opens it",
                        "see the checks of configuration and permissions");
  } else if (!*context.enforces_scaling) {
    context.report.Fail(kGatesCheck,
                        TextOf(waiting) + ", and no watcher is in mode enforce: nothing opens it",
                        "set elasticScaling.mode to enforce; or " + release);
  } else {
    context.report.Ok(kGatesCheck, TextOf(waiting) + "; `mindgate status` shows why");
  }
}

namespace {

constexpr std::string_view kTaintsCheck = "taints";

}  // namespace

void CheckTaints(Context& context) {
  NameList tainted;
  const json::Projection fields = kube::WithIdentity({{"spec", "taints"}});
  const auto listed = context.client.ListAll(
      kube::resources::kNodes, "", {}, &fields,
      {.started = [&] { tainted = {}; },
       .item =
           [&](const json::Value& node) {
             if (!schemas::PlaceOfFaultyTaint(json::FindPath(node, {"spec", "taints"}))) return;
             tainted.Add(json::TextAt(node, {"metadata", "name"}));
           }},
      context.stop);
  if (!listed) return SkipFor(context, kTaintsCheck, "Taints of nodes", listed.error());
  const std::string taint(schemas::kFaultyTaint);
  if (tainted.count() == 0) {
    return context.report.Ok(kTaintsCheck, "no node has the taint " + taint);
  }
  const std::string who =
      tainted.Text("node") + (tainted.count() == 1 ? " has" : " have") + " the taint " + taint;
  if (!context.isolates_nodes) {
    return context.report.Skip(kTaintsCheck,
                               who + ", and it is unknown whether a watcher removes it",
                               "see the checks of configuration and permissions");
  }
  if (!*context.isolates_nodes) {
    return context.report.Fail(
        kTaintsCheck,
        who + ", and no watcher isolates nodes: nothing removes it, and new pods go elsewhere",
        "`mindgate release-nodes --all` removes it; or set config.rescheduling.isolateNodes to "
        "true, and config.rescheduling.mode to takeover or enforce");
  }
  context.report.Ok(kTaintsCheck,
                    who + "; the watcher removes it from those that are healthy again");
}

// AscendJobs under a scaling rule whose pods the watcher does not see. It finds instances by the
// labels of pods, and ascend-operator copies none from a job to its pods (mind-cluster:
// component/ascend-operator/pkg/controllers/v1, labels.go): mindgate does when the job is admitted.
// Where no pod has them, the PodGroup stands for the instance.

namespace {

constexpr std::string_view kScaledJobsCheck = "scaled-jobs";
constexpr size_t kMaxJobsNamed = 3;
constexpr size_t kMaxScaledJobs = 10'000;  // more are not read

const kube::Resource kAscendJobs{"mindxdl.gitee.com", "v1", "ascendjobs", "AscendJob", true};

constexpr std::array<std::string_view, 3> kScalingLabels = {schemas::kScalingRule, schemas::kJobId,
                                                            schemas::kGroupName};

using JobName = std::pair<std::string, std::string>;  // namespace and name
using Keys = std::set<std::string_view>;              // of kScalingLabels

struct ScaledJobs {
  std::map<JobName, Keys> jobs{};  // and which of the labels each has
  std::set<JobName> unseen{};
  bool all = true;  // false: there are more than are read

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
