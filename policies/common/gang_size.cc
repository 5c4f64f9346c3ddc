#include "policies/common/gang_size.h"

#include <algorithm>

#include "base/text.h"
#include "policies/places.h"
#include "schemas/job_attributes.h"

namespace mindgate::policies::common {
namespace {

constexpr int64_t kMaxPods = 2147483647;
// Whose PodGroups pg-controller makes, and takes the annotation from (volcano:
// pkg/controllers/podgroup/pg_controller_handler.go, getAnnotationsFromUpperRes).
constexpr schemas::KindSet kMembersCount =
    schemas::kReplicaSets | schemas::kStatefulSets |
    schemas::KindSet{schemas::Kind::kJob, schemas::Kind::kDaemonSet};

}  // namespace

using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

std::optional<int64_t> ParseK(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  const auto k = ParseGoInt(*text);
  return k && *k >= 1 && *k <= kMaxPods ? k : std::nullopt;
}

std::string KIs(int64_t k) {
  return std::string(schemas::kMinAvailable) + " is " + std::to_string(k);
}

std::string SeenK::Path() const {
  return of_group != nullptr ? of_group->path.Child(schemas::kMinAvailable)
                             : AnnotationPath(*view, *pod, schemas::kMinAvailable);
}

std::optional<SeenK> SeenBy(const RuleContext& context, const PodTemplateView& pod) {
  const WorkloadView& view = context.view;
  const schemas::Place* of_group = nullptr;
  if (pod.pod_group) {
    const auto& annotations = view.pod_groups[*pod.pod_group].annotations;
    if (annotations && annotations->Find(schemas::kMinAvailable) != nullptr)
      of_group = &*annotations;
  }
  const auto k = ParseK(of_group != nullptr ? of_group->Text(schemas::kMinAvailable)
                                            : pod.Annotation(schemas::kMinAvailable));
  if (!k || !IsGang(context, pod)) return std::nullopt;
  return SeenK{*k, &view, &pod, of_group};
}

std::optional<SeenGang> GangOf(const RuleContext& context, const PodTemplateView& pod) {
  const auto k = SeenBy(context, pod);
  const std::string_view text = context.view.Annotation(schemas::kGroupMinMember).value_or("");
  const auto members = text.empty() ? std::nullopt : ParseK(text);
  const bool counts = members && *members >= (k ? k->k : 2) &&
                      kMembersCount.Has(context.view.kind) &&
                      !context.config.versions.IsBefore(schemas::Component::kVolcano, {1, 12}) &&
                      IsGang(context, pod);
  if (counts) {
    return SeenGang{*members, context.view.annotations.path.Child(schemas::kGroupMinMember),
                    std::string(schemas::kGroupMinMember) + " is " + std::to_string(*members),
                    true};
  }
  if (!k) return std::nullopt;
  return SeenGang{k->k, k->Path(), KIs(k->k), false};
}

bool IsGang(const RuleContext& context, const PodTemplateView& pod) {
  if (pod.router || !pod.pod_group) return false;
  // Where injection replaces the default scheduler, its name is gone by now.
  if (pod.SchedulerName() == schemas::kDefaultScheduler || !IsPlacedByVolcano(context, pod)) {
    return false;
  }
  if (context.view.LacksRuntime()) return true;
  const auto& templates = context.view.templates;
  const auto& members = context.view.pod_groups[*pod.pod_group].templates;
  return std::any_of(members.begin(), members.end(),
                     [&](size_t index) { return templates[index].RequestsNpus(); });
}

const PodGroupView& GroupOf(const WorkloadView& view, const PodTemplateView& pod) {
  return view.pod_groups[*pod.pod_group];
}

}  // namespace mindgate::policies::common
