#include "watcher/rescheduling/pod.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "faults/device_report.h"
#include "json/value.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Value;

constexpr std::array<std::string_view, 10> kLabels = {
    schemas::kFaultScheduling,     schemas::kPodRescheduling,    schemas::kFaultRetryTimes,
    schemas::kProcessRecover,      schemas::kSubHealthyStrategy, schemas::kApp,
    schemas::kOmeInferenceService, schemas::kFaultType,          schemas::kReplicaType,
    schemas::kRescheduling};
constexpr std::array<std::string_view, 8> kAnnotations = {
    schemas::kRecoverPolicyPath, schemas::kProcessRecoverStrategy,
    schemas::kMinAvailable,      schemas::kSchedulePolicy,
    schemas::kRaBlock,           schemas::kAffinityConfig,
    schemas::kRescheduling,      schemas::kPodStatus};
// Of one pod.
constexpr std::array<std::string_view, 5> kOwnAnnotations = {
    schemas::kAscendReal, schemas::kRankIndex, schemas::kSuperPodRank, schemas::kNeedVolcanoOpe,
    schemas::kPodGroupAnnotation};

std::vector<json::Projection::Path> MetadataFields() {
  std::vector<json::Projection::Path> fields;
  for (const std::string_view label : kLabels) {
    fields.push_back({"metadata", "labels", std::string(label)});
  }
  for (const std::string_view annotation : kAnnotations) {
    fields.push_back({"metadata", "annotations", std::string(annotation)});
  }
  return fields;
}

}  // namespace

std::vector<json::Projection::Path> PodFields() {
  auto fields = MetadataFields();
  for (const std::string_view annotation : kOwnAnnotations) {
    fields.push_back({"metadata", "annotations", std::string(annotation)});
  }
  for (const char* key : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    fields.push_back({"metadata", key});
  }
  fields.push_back({"spec", "nodeName"});
  fields.push_back({"spec", "schedulingGates"});
  fields.push_back({"status", "phase"});
  fields.push_back({"status", "conditions", "*", "type"});
  fields.push_back({"status", "conditions", "*", "status"});
  fields.push_back({"status", "containerStatuses", "*", "lastState", "terminated", "exitCode"});
  return fields;
}

std::vector<json::Projection::Path> PodGroupFields() {
  auto fields = MetadataFields();
  fields.push_back({"metadata", "ownerReferences"});
  fields.push_back({"spec", "minMember"});
  fields.push_back({"status", "running"});
  fields.push_back({"spec", "minResources"});
  fields.push_back({"status", "phase"});
  fields.push_back({"status", "succeeded"});
  return fields;
}

Metadata MetadataOf(const Value* metadata) {
  return {JobMetadata::Choose(json::Find(metadata, "labels"), kLabels),
          JobMetadata::Choose(json::Find(metadata, "annotations"), kAnnotations)};
}

bool IsDisabled(const Metadata& metadata) {
  const auto is_off = [](const JobMetadata::Map& map) {
    const auto found = map.find(schemas::kRescheduling);
    return found != map.end() && found->second == "disabled";
  };
  return is_off(metadata.labels) || is_off(metadata.annotations);
}

bool HasFailedContainer(const Value& pod) {
  const Value* containers = json::FindPath(pod, {"status", "containerStatuses"});
  if (!json::IsArray(containers)) return false;
  return std::any_of(containers->begin(), containers->end(), [](const Value& container) {
    const Value* code = json::FindPath(container, {"lastState", "terminated", "exitCode"});
    return json::AsInt(code).value_or(0) != 0;
  });
}

bool IsBound(const Value& pod) { return schemas::ConditionStatus(pod, "PodScheduled") == "True"; }

PodPtr PodReader::Read(const Value& pod) {
  const Value* metadata = json::Find(pod, "metadata");
  const Value* annotations = json::Find(metadata, "annotations");
  std::string group = json::TextAt(annotations, {schemas::kPodGroupAnnotation});
  if (group.empty()) return nullptr;
  auto state = std::make_shared<PodState>();
  state->name = json::TextAt(metadata, {"name"});
  state->uid = json::TextAt(metadata, {"uid"});
  state->job = jobs_.Get({json::TextAt(metadata, {"namespace"}), std::move(group)});
  state->metadata = metadata_.Get(MetadataOf(metadata));
  std::string node = json::TextAt(pod, {"spec", "nodeName"});
  if (!node.empty()) state->node = nodes_.Get(std::move(node));
  state->chips =
      chips_.Get(faults::PhysicalChips(json::TextAt(annotations, {schemas::kAscendReal})));
  const auto number = [&](std::string_view key) {
    const auto value = ParseGoInt(json::TextAt(annotations, {key}));
    return value && *value >= 0 && *value <= INT32_MAX ? static_cast<int32_t>(*value) : -1;
  };
  state->rank = number(schemas::kRankIndex);
  state->super_pod = number(schemas::kSuperPodRank);
  state->switched = json::TextAt(annotations, {schemas::kNeedVolcanoOpe}) == "delete";
  const auto time = [&](std::string_view key) {
    return ParseTimestamp(json::TextAt(metadata, {key}));
  };
  state->created = time("creationTimestamp").value_or(Time{});
  const auto going = time("deletionTimestamp");
  state->going = going.value_or(Time{});
  const auto grace = json::AsInt(json::Find(metadata, "deletionGracePeriodSeconds"));
  state->forced = going && grace.value_or(-1) == 0;
  state->ended = json::TextAt(pod, {"status", "phase"}) == "Failed";
  state->failed = state->ended || HasFailedContainer(pod);
  const Value* gates = json::FindPath(pod, {"spec", "schedulingGates"});
  state->gated = json::IsArray(gates) && gates->begin() != gates->end();
  state->bound = IsBound(pod);
  state->ready = schemas::ConditionStatus(pod, "Ready") == "True";
  return state;
}

Task PodState::ToTask() const {
  const auto text = [](const JobMetadata::Map& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? std::string() : found->second;
  };
  Task task{.pod = name,
            .node = node == nullptr ? std::string() : *node,
            .chips = *chips,
            .failed = failed,
            .ended = ended,
            .fault_type = text(metadata->labels, schemas::kFaultType),
            .rank = rank < 0 ? std::string() : std::to_string(rank),
            .is_worker = text(metadata->labels, schemas::kReplicaType) == "worker",
            .may_be_switched = switched,
            .uid = uid,
            .created = created,
            .forced = forced,
            .gated = gated,
            .bound = bound,
            .ready = ready,
            .pod_status = text(metadata->annotations, schemas::kPodStatus)};
  if (going != Time{}) task.going = going;
  if (super_pod >= 0) task.super_pod = super_pod;
  return task;
}

bool AsksForNpus(const Value& pod_group) {
  const Value* resources = json::FindPath(pod_group, {"spec", "minResources"});
  if (!json::IsObject(resources)) return false;
  for (const auto& [name, quantity] : resources->members()) {
    if (name.starts_with(schemas::kResourcePrefix)) return true;
  }
  return false;
}

PodGroupState PodGroupOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  PodGroupState state;
  state.job = {json::TextAt(metadata, {"namespace"}), json::TextAt(metadata, {"name"})};
  state.uid = json::TextAt(metadata, {"uid"});
  state.metadata = MetadataOf(metadata);
  state.min_member = json::AsInt(json::FindPath(object, {"spec", "minMember"})).value_or(1);
  const std::string phase = json::TextAt(object, {"status", "phase"});
  state.started = phase == "Running" || phase == "Unknown";
  state.asks_for_npus = AsksForNpus(object);
  const auto succeeded = json::AsInt(json::FindPath(object, {"status", "succeeded"}));
  state.succeeded = std::max<int64_t>(0, succeeded.value_or(0));
  if (const Value* owner = schemas::ControllerOf(metadata)) {
    state.owner = std::make_shared<const kube::ObjectReference>(kube::ObjectReference{
        json::TextAt(owner, {"apiVersion"}), json::TextAt(owner, {"kind"}), state.job.ns,
        json::TextAt(owner, {"name"}), json::TextAt(owner, {"uid"})});
  }
  return state;
}

kube::ObjectReference PodGroupState::regarding() const {
  return owner == nullptr ? kube::ObjectReference{"scheduling.volcano.sh/v1beta1", "PodGroup",
                                                  job.ns, job.pod_group, uid}
                          : *owner;
}

}  // namespace mindgate::watcher::rescheduling
