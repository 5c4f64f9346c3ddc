#include "watcher/scaling/pod_group.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "json/value.h"
#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Value;

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
