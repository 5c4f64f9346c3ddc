#include "watcher/scaling/pod.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Value;

// Kinds whose pods start and end together.
constexpr std::array<std::string_view, 3> kGangs = {"AscendJob", "Job", "PodSet"};

constexpr std::string_view kVolcanoGroup = "batch.volcano.sh";

// Nothing: the instance has no owner of its own.
std::optional<kube::ObjectReference> ReadInstance(const Value* labels, const Value* metadata,
                                                  const std::string& ns, PodState& pod) {
  if (auto owner = GangOwnerOf(metadata, ns)) {
    pod.instance = std::move(owner->instance);
    return std::move(owner->regarding);
  }
  const auto indexed = [&](std::string_view kind, const std::string& of, std::string_view index) {
    const std::string at = json::TextAt(labels, {index});
    if (of.empty() || at.empty()) return false;
    pod.instance = std::string(kind) + "/" + of + "-" + at;
    return true;
  };
  if (indexed("LeaderWorkerSet", json::TextAt(labels, {schemas::kLwsName}), schemas::kLwsGroup)) {
    return std::nullopt;
  }
  // The set's own name is that of the role, which other InferServices have too.
  const std::string service = json::TextAt(labels, {schemas::kInferServiceName});
  std::string set = json::TextAt(labels, {schemas::kInstanceSetName});
  if (!service.empty() && !set.empty()) set.insert(0, service + "-");
  if (!indexed("InstanceSet", set, schemas::kInstanceSetIndex)) pod.instance = "Pod/" + pod.name;
  return std::nullopt;
}

// Deployments and LeaderWorkerSets can make pods of a new template before those of the old one go
// (maxSurge); StatefulSets and the rest replace them one by one.
void ReadRevision(const Value* labels, const Value* metadata, PodOrigin& origin) {
  if (const std::string set = json::TextAt(labels, {schemas::kLwsName}); !set.empty()) {
    origin.workload = "LeaderWorkerSet/" + set;
    origin.revision = json::TextAt(labels, {schemas::kLwsRevision});
    return;
  }
  const Value* owner = schemas::ControllerOf(metadata);
  const std::string hash = json::TextAt(labels, {schemas::kTemplateHash});
  if (owner == nullptr || hash.empty() || json::TextAt(owner, {"kind"}) != "ReplicaSet") return;
  const std::string set = json::TextAt(owner, {"name"});
  if (!set.ends_with("-" + hash)) return;
  origin.workload = "Deployment/" + set.substr(0, set.size() - hash.size() - 1);
  origin.revision = hash;
}

// More than two billion is as much as two billion: no cluster has them.
int32_t Bounded(int64_t count) {
  return static_cast<int32_t>(std::clamp<int64_t>(count, INT32_MIN + 1, INT32_MAX));
}

int32_t NpusOf(const Value& object) {
  const Value* containers = json::FindPath(object, {"spec", "containers"});
  if (!json::IsArray(containers)) return 0;
  int64_t npus = 0;
  for (const Value& container : *containers) {
    const Value* resources = json::Find(container, "resources");
    // A request that is missing is the limit (k8s.io/kubernetes pkg/apis/core/v1/defaults.go), and
    // for devices both are equal.
    const Value* limits = json::Find(resources, "limits");
    if (!json::IsObject(limits)) continue;
    for (const auto& [name, value] : limits->members()) {
      if (!IsCountedNpu(name)) continue;
      npus += schemas::WholeQuantity(&value).value_or(0);
    }
  }
  return Bounded(npus);
}

void ReadConditions(const Value* status, PodState& pod) {
  const Value* conditions = json::Find(status, "conditions");
  if (!json::IsArray(conditions)) return;
  for (const Value& condition : *conditions) {
    const std::string type = json::TextAt(&condition, {"type"});
    const std::string value = json::TextAt(&condition, {"status"});
    if (type == "Ready") {
      pod.ready = value == "True";
    } else if (type == "PodScheduled" && value == "False" &&
               json::TextAt(&condition, {"reason"}) == "Unschedulable") {
      pod.unschedulable =
          ParseTimestamp(json::TextAt(&condition, {"lastTransitionTime"})).value_or(pod.created);
    }
  }
}

}  // namespace

std::optional<GangOwner> GangOwnerOf(const Value* metadata, const std::string& ns) {
  const Value* owner = schemas::ControllerOf(metadata);
  if (owner == nullptr) return std::nullopt;
  const std::string kind = json::TextAt(owner, {"kind"});
  if (std::find(kGangs.begin(), kGangs.end(), kind) == kGangs.end()) return std::nullopt;
  GangOwner gang;
  gang.regarding = {json::TextAt(owner, {"apiVersion"}), kind, ns, json::TextAt(owner, {"name"}),
                    json::TextAt(owner, {"uid"})};
  // A batch Job and a vcjob of one name are two.
  const std::string& version = gang.regarding.api_version;
  const std::string group = version.substr(0, version.find('/'));
  gang.instance = kind + (group == kVolcanoGroup ? "." + group : "") + "/" + gang.regarding.name;
  return gang;
}

bool IsCountedNpu(std::string_view resource) {
  const auto kind = schemas::ClassifyResource(resource);
  return kind == schemas::NpuResource::kWholeCard || kind == schemas::NpuResource::kStaticVnpu ||
         kind == schemas::NpuResource::kDynamicVnpu;
}

std::vector<json::Projection::Path> PodFields() {
  return {{"metadata", "labels"},
          {"metadata", "creationTimestamp"},
          {"metadata", "deletionTimestamp"},
          {"metadata", "ownerReferences", "*", "apiVersion"},
          {"metadata", "ownerReferences", "*", "kind"},
          {"metadata", "ownerReferences", "*", "name"},
          {"metadata", "ownerReferences", "*", "uid"},
          {"metadata", "ownerReferences", "*", "controller"},
          {"spec", "schedulingGates"},
          {"spec", "nodeName"},
          {"spec", "containers", "*", "resources", "limits"},
          {"metadata", "annotations", std::string(schemas::kLwsSize)},
          {"status", "phase"},
          {"status", "conditions", "*", "type"},
          {"status", "conditions", "*", "status"},
          {"status", "conditions", "*", "reason"},
          {"status", "conditions", "*", "lastTransitionTime"}};
}

kube::ObjectReference PodState::regarding() const {
  return owner == nullptr ? kube::ObjectReference{"v1", "Pod", ServiceKeyOf(*this).ns, name, uid}
                          : *owner;
}

std::optional<PodState> PodOf(const Value& object) { return PodReader().Read(object); }

std::optional<PodState> PodReader::Read(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  const Value* labels = json::Find(metadata, "labels");
  PodOrigin origin;
  origin.service = {json::TextAt(metadata, {"namespace"}),
                    json::TextAt(labels, {schemas::kScalingRule}),
                    json::TextAt(labels, {schemas::kJobId})};
  if (json::Find(labels, schemas::kScalingRule) == nullptr || origin.service.job_id.empty()) {
    return std::nullopt;
  }
  const Value* status = json::Find(object, "status");
  const std::string phase = json::TextAt(status, {"phase"});
  if (phase == "Succeeded" || phase == "Failed") return std::nullopt;
  origin.group = json::TextAt(labels, {schemas::kGroupName});
  ReadRevision(labels, metadata, origin);
  PodState pod;
  pod.name = json::TextAt(metadata, {"name"});
  pod.uid = json::TextAt(metadata, {"uid"});
  pod.created = ParseTimestamp(json::TextAt(metadata, {"creationTimestamp"})).value_or(Time{});
  pod.deleted = json::Find(metadata, "deletionTimestamp") != nullptr;
  pod.running = phase == "Running";
  std::string node = json::TextAt(object, {"spec", "nodeName"});
  if (!node.empty()) pod.node = nodes_.Get(std::move(node));
  pod.npus = NpusOf(object);
  pod.size = Bounded(std::max<int64_t>(
      0, ParseGoInt(json::TextAt(json::Find(metadata, "annotations"), {schemas::kLwsSize}))
             .value_or(0)));
  // An object of the API server has no room for two billion gates.
  if (const auto place =
          schemas::IndexOfScalingGate(json::FindPath(object, {"spec", "schedulingGates"}))) {
    pod.gate = static_cast<int32_t>(*place);
  }
  ReadConditions(status, pod);
  auto owner = ReadInstance(labels, metadata, origin.service.ns, pod);
  if (owner) pod.owner = owners_.Get(*std::move(owner));
  pod.origin = origins_.Get(std::move(origin));
  return pod;
}

json::Json GateRemoval(const Gate& gate) {
  const std::string path = "/spec/schedulingGates/" + std::to_string(gate.place);
  return {{{"op", "test"}, {"path", "/metadata/uid"}, {"value", gate.uid}},
          {{"op", "test"}, {"path", path + "/name"}, {"value", schemas::kScalingGate}},
          {{"op", "remove"}, {"path", path}}};
}

namespace {

// Others may remove theirs from before ours meanwhile.
constexpr int kMaxOpenings = 3;

}  // namespace

kube::Answer<bool> OpenGate(Gate gate, const GateCalls& calls) {
  static const json::Projection fields = kube::WithIdentity({{"spec", "schedulingGates"}});
  for (int tries = 1;; ++tries) {
    const auto patched = calls.patch(GateRemoval(gate));
    if (patched) return true;
    const kube::Reason reason = patched.error().reason;
    if (reason == kube::Reason::kNotFound) return false;
    if (reason != kube::Reason::kInvalid && reason != kube::Reason::kConflict) {
      return tl::make_unexpected(patched.error());
    }
    const auto now = calls.read(fields);
    if (!now && now.error().reason == kube::Reason::kNotFound) return false;
    if (!now) return tl::make_unexpected(now.error());
    if (json::TextAt(now->root(), {"metadata", "uid"}) != gate.uid) return false;
    const auto place =
        schemas::IndexOfScalingGate(json::FindPath(now->root(), {"spec", "schedulingGates"}));
    if (!place) return false;
    const bool moved = std::exchange(gate.place, *place) != *place;
    if (!moved || tries == kMaxOpenings) return tl::make_unexpected(patched.error());
  }
}

namespace {

int64_t NpusIn(const Value* resources) {
  int64_t npus = 0;
  if (!json::IsObject(resources)) return npus;
  for (const auto& [name, value] : resources->members()) {
    if (!IsCountedNpu(name)) continue;
    if (__builtin_add_overflow(npus, schemas::WholeQuantity(&value).value_or(0), &npus)) return 0;
  }
  return npus;
}

std::optional<PodGroupPhase> PhaseNamed(std::string_view phase) {
  if (phase == "Pending") return PodGroupPhase::kPending;
  if (phase == "Inqueue") return PodGroupPhase::kInqueue;
  if (phase == "Unknown") return PodGroupPhase::kUnknown;
  if (phase == "Running") return PodGroupPhase::kRunning;
  return std::nullopt;
}

}  // namespace

std::vector<json::Projection::Path> PodGroupFields() {
  return {{"metadata", "labels"},
          {"metadata", "creationTimestamp"},
          {"metadata", "ownerReferences"},
          {"metadata", "deletionTimestamp"},
          {"spec", "minMember"},
          {"spec", "minResources"},
          {"status", "phase"}};
}

std::optional<PodGroupState> PodGroupOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  const Value* labels = json::Find(metadata, "labels");
  const auto phase = PhaseNamed(json::TextAt(json::Find(object, "status"), {"phase"}));
  if (!phase) return std::nullopt;
  if (json::Find(metadata, "deletionTimestamp") != nullptr) return std::nullopt;
  PodGroupState state;
  state.service = {json::TextAt(metadata, {"namespace"}),
                   json::TextAt(labels, {schemas::kScalingRule}),
                   json::TextAt(labels, {schemas::kJobId})};
  if (state.service.rule.empty() || state.service.job_id.empty()) return std::nullopt;
  auto owner = GangOwnerOf(metadata, state.service.ns);
  if (!owner) return std::nullopt;
  state.instance = std::move(owner->instance);
  state.regarding = std::move(owner->regarding);
  state.group = json::TextAt(labels, {schemas::kGroupName});
  state.name = json::TextAt(metadata, {"name"});
  state.uid = json::TextAt(metadata, {"uid"});
  state.created = ParseTimestamp(json::TextAt(metadata, {"creationTimestamp"})).value_or(Time{});
  state.phase = *phase;
  const Value* spec = json::Find(object, "spec");
  state.pods = std::max<int64_t>(0, json::AsInt(json::Find(spec, "minMember")).value_or(0));
  state.npus_of_group = std::max<int64_t>(0, NpusIn(json::Find(spec, "minResources")));
  return state;
}

}  // namespace mindgate::watcher::scaling
