#include "watcher/scaling/pod.h"

#include <algorithm>
#include <array>

#include "schemas/names.h"
#include "schemas/scheduling_gates.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Value;

// LeaderWorkerSet (pkg/webhooks/pod_webhook.go) and infer-operator
// (component/infer-operator/pkg/common) tell the pods of one instance by these labels.
constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";
constexpr std::string_view kLwsGroup = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view kInferService = "infer.huawei.com/inferservice-name";
constexpr std::string_view kInstanceSet = "infer.huawei.com/instanceset-name";
constexpr std::string_view kInstanceIndex = "infer.huawei.com/instanceset-index";

// Kinds whose pods start and end together.
constexpr std::array<std::string_view, 3> kGangs = {"AscendJob", "Job", "PodSet"};

std::string Text(const Value* object, std::string_view key) {
  return std::string(json::FindString(object, key).value_or(""));
}

const Value* ControllerOf(const Value* metadata) {
  const Value* owners = json::Find(metadata, "ownerReferences");
  if (!json::IsArray(owners)) return nullptr;
  const auto found = std::find_if(owners->begin(), owners->end(), [](const Value& owner) {
    return json::AsBool(json::Find(owner, "controller")).value_or(false);
  });
  return found == owners->end() ? nullptr : &*found;
}

void ReadInstance(const Value* labels, const Value* metadata, PodState& pod) {
  pod.regarding = {"v1", "Pod", pod.service.ns, pod.name, pod.uid};
  const Value* owner = ControllerOf(metadata);
  if (owner != nullptr) {
    const std::string kind = Text(owner, "kind");
    if (std::find(kGangs.begin(), kGangs.end(), kind) != kGangs.end()) {
      pod.regarding = {Text(owner, "apiVersion"), kind, pod.service.ns, Text(owner, "name"),
                       Text(owner, "uid")};
      pod.instance = kind + "/" + pod.regarding.name;
      return;
    }
  }
  const auto indexed = [&](std::string_view kind, const std::string& of, std::string_view index) {
    const std::string at = Text(labels, index);
    if (of.empty() || at.empty()) return false;
    pod.instance = std::string(kind) + "/" + of + "-" + at;
    return true;
  };
  if (indexed("LeaderWorkerSet", Text(labels, kLwsName), kLwsGroup)) return;
  // The set's own name is that of the role, which other InferServices have too.
  const std::string service = Text(labels, kInferService);
  std::string set = Text(labels, kInstanceSet);
  if (!service.empty() && !set.empty()) set.insert(0, service + "-");
  if (indexed("InstanceSet", set, kInstanceIndex)) return;
  pod.instance = "Pod/" + pod.name;
}

void ReadConditions(const Value* status, PodState& pod) {
  const Value* conditions = json::Find(status, "conditions");
  if (!json::IsArray(conditions)) return;
  for (const Value& condition : *conditions) {
    const std::string type = Text(&condition, "type");
    const std::string value = Text(&condition, "status");
    if (type == "Ready") {
      pod.ready = value == "True";
    } else if (type == "PodScheduled" && value == "False" &&
               Text(&condition, "reason") == "Unschedulable") {
      pod.unschedulable =
          ParseTimestamp(Text(&condition, "lastTransitionTime")).value_or(pod.created);
    }
  }
}

}  // namespace

std::vector<json::Projection::Path> PodFields() {
  return {{"metadata", "labels"},
          {"metadata", "creationTimestamp"},
          {"metadata", "deletionTimestamp"},
          {"metadata", "ownerReferences"},
          {"spec", "schedulingGates"},
          {"spec", "nodeName"},
          {"status", "phase"},
          {"status", "conditions"}};
}

std::optional<PodState> PodOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  const Value* labels = json::Find(metadata, "labels");
  PodState pod;
  pod.service = {Text(metadata, "namespace"), Text(labels, schemas::kScalingRule),
                 Text(labels, schemas::kJobId)};
  if (json::Find(labels, schemas::kScalingRule) == nullptr || pod.service.job_id.empty()) {
    return std::nullopt;
  }
  pod.group = Text(labels, schemas::kGroupName);
  pod.name = Text(metadata, "name");
  pod.uid = Text(metadata, "uid");
  pod.created = ParseTimestamp(Text(metadata, "creationTimestamp")).value_or(Time{});
  pod.terminating = json::Find(metadata, "deletionTimestamp") != nullptr;
  const Value* status = json::Find(object, "status");
  const std::string phase = Text(status, "phase");
  pod.running = phase == "Running";
  pod.ended = phase == "Succeeded" || phase == "Failed";
  pod.placed = json::FindPath(object, {"spec", "nodeName"}) != nullptr;
  pod.gate = schemas::PlaceOfScalingGate(json::FindPath(object, {"spec", "schedulingGates"}));
  ReadConditions(status, pod);
  ReadInstance(labels, metadata, pod);
  return pod;
}

}  // namespace mindgate::watcher::scaling
