#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/ascendjob/ascendjob.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "schemas/names.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Child;
using json::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// What the scheduler plugin, the operator and ClusterD read from the PodGroup, or from the job at
// creation only.
constexpr std::array<std::string_view, 9> kFrozenLabels = {
    schemas::kFaultScheduling,
    schemas::kPodRescheduling,
    schemas::kFaultRetryTimes,
    schemas::kProcessRecover,
    schemas::kSubHealthyStrategy,
    schemas::kScalingRule,
    schemas::kGroupName,
    schemas::kJobId,
    schemas::kApp,
};
constexpr std::array<std::string_view, 9> kFrozenAnnotations = {
    schemas::kMinAvailable,    schemas::kRecoverPolicyPath,
    schemas::kSchedulePolicy,  schemas::kSpBlock,
    schemas::kSpFit,           schemas::kRaBlock,
    schemas::kAffinityConfig,  schemas::kRecoverStrategy,
    "wait-reschedule-timeout",
};
constexpr std::array<std::string_view, 4> kFrozenScheduling = {"minAvailable", "minResources",
                                                               "priorityClass", "queue"};

// What a value was, for a message.
std::string Shown(const Value* value) {
  if (value == nullptr) return "nothing";
  if (const auto text = json::AsString(value)) return Quote(*text);
  const bool scalar = !value->is_object() && !value->is_array();
  return scalar ? json::Dump(*value) : "something else";
}

bool Same(const Value* a, const Value* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// Whether the value stands under a name that injection takes for the key.
bool HasMisspelled(const schemas::FieldView& map, std::string_view key, std::string_view value) {
  if (!json::IsObject(map.value)) return false;
  const schemas::NormalizedKey word(schemas::SplitOf(key).name);
  size_t compared = 0;
  for (const auto& [name, text] : map.value->members()) {
    if (++compared > schemas::kMaxComparedKeys) return false;
    if (name == key) continue;
    const schemas::SplitKey split = schemas::SplitOf(name);
    if (split.name.size() > schemas::NormalizedKey::kMax || json::AsString(&text) != value)
      continue;
    if (schemas::NormalizedKey(split.name).Resembles(word, 3)) return true;
  }
  return false;
}

// A label that injection adds to a job made before mindgate was there; nobody changed anything.
bool IsInjected(const RuleContext& context, std::string_view key, const Value* before,
                const Value* now) {
  if (before != nullptr) return false;
  const auto& profile = context.config.profile(context.view.framework);
  const auto value = json::AsString(now).value_or("");
  const bool recovers =
      value == "grace" && context.view.Annotation(schemas::kRecoverStrategy).has_value();
  const auto& templates = context.view.templates;
  return (key == schemas::kFaultScheduling && (value == profile.fault_scheduling || recovers)) ||
         std::any_of(templates.begin(), templates.end(),
                     [&](const auto& pod) { return pod.Label(key) == value; }) ||
         (key == schemas::kPodRescheduling && value == profile.pod_rescheduling) ||
         (key == schemas::kFaultRetryTimes && value == profile.fault_retry_times) ||
         HasMisspelled(context.view.labels, key, value) ||
         HasMisspelled(context.view.annotations, key, value);
}

void CompareMember(std::string_view what, std::string_view key, const Value* before,
                   const Value* now, std::string path, Findings& findings) {
  if (Same(before, now)) return;
  findings.Violate(std::move(path),
                   std::string(what) + std::string(key) + " changes from " + Shown(before) +
                       " to " + Shown(now) + ", but the PodGroup of the job keeps the old one",
                   "delete the job and create it again with the new value");
}

void CheckNameShadowed(const RuleContext& context, Findings& findings) {
  // On UPDATE the job is there already and nothing in it can be changed to help.
  if (context.request.operation != schemas::Operation::kCreate || context.view.name.empty()) return;
  struct Shadow {
    std::string_view group, kind;
  };
  constexpr std::array<Shadow, 3> kShadows = {
      {{"apps", "Deployment"}, {"apps", "StatefulSet"}, {"batch.volcano.sh", "Job"}}};
  for (const Shadow& shadow : kShadows) {
    const Reference found =
        LookUp(context, findings, shadow.group, shadow.kind, context.ns(), context.view.name);
    if (found.object == nullptr) continue;
    findings.Violate("/metadata/name",
                     "a " + std::string(shadow.kind) + " is named " + Quote(context.view.name) +
                         " too, so the operator never reconciles this AscendJob",
                     "give the AscendJob another name");
  }
}

void CheckFrozenFields(const RuleContext& context, Findings& findings) {
  if (context.request.operation != schemas::Operation::kUpdate) return;
  if (context.old_view == nullptr) {
    findings.Skip("needs the job as it was before the update, which is not known here");
    return;
  }
  const WorkloadView& now = context.view;
  const WorkloadView& before = *context.old_view;
  for (std::string_view key : kFrozenLabels) {
    const Value* old_value = before.labels.Find(key);
    const Value* value = now.labels.Find(key);
    if (IsInjected(context, key, old_value, value)) continue;
    CompareMember("label ", key, old_value, value, now.labels.path.Child(key), findings);
  }
  for (std::string_view key : kFrozenAnnotations) {
    CompareMember("annotation ", key, before.annotations.Find(key), now.annotations.Find(key),
                  now.annotations.path.Child(key), findings);
  }
  const Value* old_scheduling = SchedulingPolicy(before);
  const Value* scheduling = SchedulingPolicy(now);
  for (std::string_view key : kFrozenScheduling) {
    CompareMember("", key, json::Find(old_scheduling, key), json::Find(scheduling, key),
                  Child(kSchedulingPath, key), findings);
  }
  for (const PodTemplateView& pod : now.templates) {
    const Value* old_replicas = json::Find(ReplicaSpecOf(before, pod), "replicas");
    const Value* replicas = json::Find(ReplicaSpecOf(now, pod), "replicas");
    if (json::AsInt(old_replicas).value_or(1) == json::AsInt(replicas).value_or(1)) continue;
    CompareMember("replicas of ", pod.name, old_replicas, replicas,
                  Child(ReplicaSpecPath(pod), "replicas"), findings);
  }
}

constexpr Rule kLifeRules[] = {
    {.id = "MG027",
     .name = "ascendjob-name-shadowed",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary =
         "No Deployment, StatefulSet or Volcano Job in the namespace has the AscendJob's name.",
     .why = "The operator looks for those first, for their rank tables, and never reconciles an "
            "AscendJob of the same name: it gets no PodGroup, no pods and no condition.",
     .fix = "Give the AscendJob another name.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go",
     .check = CheckNameShadowed},
    {.id = "MG028",
     .name = "ascendjob-frozen-fields",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "What the PodGroup copied from a job does not change afterwards.",
     .why = "The operator makes the PodGroup once and never updates it. The scheduler keeps using "
            "the old labels, annotations, queue and gang size, even for a fault, while the job "
            "shows the new ones.",
     .fix = "Delete the job and create it again, or change the PodGroup as well.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go",
     .check = CheckFrozenFields},
};

}  // namespace

Family LifeRules() { return kLifeRules; }

}  // namespace mindgate::policies::ascendjob
