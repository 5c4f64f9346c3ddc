#include <algorithm>
#include <array>

#include "base/text.h"
#include "mutators/families.h"
#include "schemas/names.h"

// Where a fault may be limited to the faulty pod.
namespace mindgate::mutators {
namespace {

using json::Value;
using schemas::KindSet;
using schemas::PodGroupOwner;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// Kinds of Kubernetes itself and of mindgate.yaml, and pods whose controller we do not handle.
constexpr KindSet kPlainKinds =
    schemas::kPlainSets | schemas::kBatchJobs | schemas::kPods | KindSet{schemas::Kind::kSite};

// "rank-table", "global_ranktable".
bool NamesRankTable(std::string_view text) {
  std::string word;
  for (char c : ToLower(text.substr(0, 256))) {
    if (c != '-' && c != '_' && c != '.') word += c;
  }
  return word.find("ranktable") != std::string::npos;
}

// A volume with the addresses of all ranks: the job's ConfigMap rings-config-*, or a shared file.
bool HoldsRankTable(const Value& volume) {
  const auto map = json::FindString(json::Find(volume, "configMap"), "name");
  const auto path = json::FindString(json::Find(volume, "hostPath"), "path");
  return (map && map->starts_with(schemas::kRankTablePrefix)) || (path && NamesRankTable(*path)) ||
         NamesRankTable(json::FindString(volume, "name").value_or(""));
}

bool SharesRankTable(const WorkloadView& view, const PodTemplateView& pod) {
  if (pod.Label(schemas::kDeployName) || view.Label(schemas::kDeployName)) return true;
  const Value* volumes = pod.pod_spec.Find("volumes");
  return json::IsArray(volumes) && std::any_of(volumes->begin(), volumes->end(), HoldsRankTable);
}

}  // namespace

bool IsPlain(const WorkloadView& view) { return kPlainKinds.Has(view.kind); }

bool HasIndependentPods(const WorkloadView& view, const PodGroupView& group) {
  if (schemas::kOmeKinds.Has(view.kind)) {
    // The plugin assumes the pod limit for OME anyway; the documents ask for the label in both
    // shapes.
    return !view.templates[group.templates.front()].router;
  }
  if (group.owner == PodGroupOwner::kRoleSet) return true;
  if (group.owner == PodGroupOwner::kSiteGang) return false;
  // The leaders of a LeaderWorkerSet share one PodGroup unless gang scheduling is configured in its
  // controller, and it recreates the group of a deleted pod by itself.
  if (!IsPlain(view) && !schemas::kLeaderWorkerSets.Has(view.kind)) return false;
  return std::none_of(group.templates.begin(), group.templates.end(),
                      [&](size_t index) { return SharesRankTable(view, view.templates[index]); });
}

}  // namespace mindgate::mutators
