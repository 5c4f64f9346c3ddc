#include <algorithm>
#include <memory>
#include <span>

#include "admission/mutators/families.h"
#include "schemas/names.h"
#include "schemas/placement.h"
#include "schemas/workload.h"

namespace mindgate::mutators {

// Requests of NPUs that only limits name. The API server copies limits to requests in Pods alone:
// what a controller keeps as a template stays as it was written. Some controllers read its
// requests: volcano: pkg/controllers/job/job_controller_util.go (CalcPGMinResources), lws:
// pkg/utils/utils.go (CalculatePGMinResources), mind-cluster:
// component/ascend-operator/pkg/controllers/v1/utils.go.

namespace {

using schemas::NpuRequest;

constexpr std::string_view kWhyRequests =
    "controllers count the requests of a template, and nothing copies limits to them before a Pod "
    "is made; of NPUs both must be equal";

}  // namespace

void NpuRequests(const MutationContext& context, Edits& edits) {
  if (schemas::kPods.Has(context.view.kind)) return;  // the API server does it
  for (const schemas::PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !MayEdit(context, pod)) continue;
    for (const schemas::ContainerView& container : pod.containers) {
      for (const NpuRequest& npu : container.npus) {
        if (!npu.IsLimitedOnly()) continue;  // the rest is left to rules
        schemas::FieldView requests;
        requests.path = {container.path, "/resources/requests"};
        edits.Set(requests, npu.resource, *npu.limit, kWhyRequests);
      }
    }
  }
}

namespace {

using json::Value;
using schemas::ContainerView;
using schemas::NpuResource;
using schemas::PodTemplateView;

constexpr std::string_view kSoftSharePolicy = "chip1-softShareDev";
constexpr std::string_view kSoftSharePrefix = "huawei.com/scheduler.softShareDev.";

bool SharesChipsSoftly(const schemas::WorkloadView& view, const PodTemplateView& pod) {
  if (pod.Annotation(schemas::kSchedulePolicy) == kSoftSharePolicy ||
      view.Annotation(schemas::kSchedulePolicy) == kSoftSharePolicy) {
    return true;
  }
  // The plugin takes it from any pod of the group.
  if (pod.pod_group) {
    const auto policy = schemas::ReadGroupAnnotation(view, view.pod_groups[*pod.pod_group],
                                                     schemas::kSchedulePolicy);
    if (policy.entry.Text() == kSoftSharePolicy) return true;
  }
  for (const Value* labels : {pod.labels.value, view.labels.value}) {
    if (labels == nullptr) continue;
    const auto from = labels->MembersFrom(kSoftSharePrefix);
    if (!from.empty() && from.front().key.starts_with(kSoftSharePrefix)) return true;
  }
  return false;
}

// The one whole-card resource that the container requests; the reason why not otherwise.
struct Requested {
  std::string_view resource;
  std::string why_not;
};

Requested WholeCardOf(std::span<const schemas::NpuRequest> npus) {
  Requested requested;
  for (const schemas::NpuRequest& npu : npus) {
    if (npu.count == int64_t{0}) continue;
    switch (npu.kind) {
      case NpuResource::kForeign:
      case NpuResource::kMisspelled:
      case NpuResource::kOther:
        continue;
      case NpuResource::kStaticVnpu:
      case NpuResource::kDynamicVnpu:
        return {{}, "a virtual NPU is mounted by the device plugin; the variable must be absent"};
      case NpuResource::kWholeCard:
        if (!requested.resource.empty()) {
          return {{},
                  "the container requests two NPU products, and the variable can name only one"};
        }
        requested.resource = npu.resource;
    }
  }
  return requested;
}

// The variable that reads the annotation in which the scheduler writes the chips.
Value Variable(std::string_view resource, json::Arena& arena) {
  constexpr std::string_view kBefore = "metadata.annotations['";
  constexpr std::string_view kAfter = "']";
  char* const field = arena.Row<char>(kBefore.size() + resource.size() + kAfter.size());
  char* end = field;
  for (std::string_view part : {kBefore, resource, kAfter}) {
    end = std::copy(part.begin(), part.end(), end);
  }
  const auto object = [&arena](std::initializer_list<json::Member> members) {
    json::Member* const row = arena.Row<json::Member>(members.size());
    std::uninitialized_copy(members.begin(), members.end(), row);
    return Value::OfMembers({row, members.size()});
  };
  const Value path = Value::OfText({field, static_cast<size_t>(end - field)});
  const Value source = object({{"fieldRef", object({{"fieldPath", path}})}});
  return object({{"name", Value::OfText(schemas::kVisibleDevices)}, {"valueFrom", source}});
}

}  // namespace

void VisibleDevices(const MutationContext& context, Edits& edits) {
  for (const PodTemplateView& pod : context.view.templates) {
    const bool foreign_scheduler = !IsScheduledByVolcano(context, pod);
    for (const ContainerView& container : pod.containers) {
      const ContainerView* twin = schemas::RuntimeTwin(pod, container);
      const bool requests = container.RequestsNpus();
      if (!requests && (twin == nullptr || !twin->RequestsNpus())) continue;
      if (container.visible_devices != nullptr) continue;
      if (twin != nullptr && twin->visible_devices != nullptr) {
        edits.Withhold(container.env.path, "the runtime sets the variable for this container");
        continue;
      }
      const Requested requested = WholeCardOf(requests ? container.npus : twin->npus);
      if (requested.resource.empty()) {
        if (!requested.why_not.empty()) edits.Withhold(container.env.path, requested.why_not);
        continue;
      }
      if (foreign_scheduler) {
        edits.Withhold(container.env.path,
                       "only Volcano writes the annotation that the variable reads");
        continue;
      }
      if (SharesChipsSoftly(context.view, pod)) {
        edits.Withhold(container.env.path,
                       "the chips are shared softly; the variable must be absent");
        continue;
      }
      if (!MayEdit(context, pod)) continue;
      edits.Append(container.env, Variable(requested.resource, edits.arena()),
                   "Ascend Docker Runtime mounts the chips that the scheduler wrote to this "
                   "annotation; without it the container sees none");
    }
  }
}

}  // namespace mindgate::mutators
