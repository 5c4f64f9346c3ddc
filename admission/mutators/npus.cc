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

using json::Value;
using schemas::ContainerView;
using schemas::NpuRequest;
using schemas::NpuResource;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::string_view kWhyRequests =
    "controllers count the requests of a template, and nothing copies limits to them before a Pod "
    "is made; of NPUs both must be equal";

// The same container before an update that may change it; null pointer when there is none.
const ContainerView* OldContainer(const MutationContext& context, const PodTemplateView& pod,
                                  const ContainerView& container) {
  if (context.view.info().template_frozen) return nullptr;
  const PodTemplateView* old = OldTemplate(context, pod);
  return old == nullptr ? nullptr : schemas::SameContainer(*old, container);
}

// Whether an update left this request behind: it was equal to its limit, and the limit alone has
// changed or gone. Whoever applies a manifest that names limits only sends back what was injected
// beside them, as it is not part of that manifest. Amounts that differ are of no use to anybody:
// Kubernetes refuses the pods.
bool IsLeftBehind(const NpuRequest& npu, const ContainerView* old) {
  if (old == nullptr || npu.request == nullptr || npu.kind == NpuResource::kOther ||
      npu.kind == NpuResource::kForeign || npu.kind == NpuResource::kMisspelled) {
    return false;
  }
  const auto amount = schemas::WholeQuantity(npu.request);
  const auto limit = schemas::WholeQuantity(npu.limit);
  if (!amount || amount == limit || (npu.limit != nullptr && !limit)) return false;
  return std::any_of(old->npus.begin(), old->npus.end(), [&](const NpuRequest& before) {
    return before.resource == npu.resource && before.request != nullptr &&
           schemas::WholeQuantity(before.request) == amount &&
           schemas::WholeQuantity(before.limit) == amount;
  });
}

// The requests once those that were left behind follow their limits.
Value FollowedRequests(const ContainerView& container, const ContainerView* old,
                       json::Arena& arena) {
  const Value* const requests = json::FindPath(*container.value, {"resources", "requests"});
  const size_t known = requests->members().size();
  json::Member* const row = arena.Row<json::Member>(known + container.npus.size());
  size_t count = 0;
  const auto add = [&](const json::Member& member) { std::construct_at(row + count++, member); };
  for (const json::Member& member : requests->members()) {
    const auto npu = std::find_if(container.npus.begin(), container.npus.end(),
                                  [&member](const NpuRequest& each) {
                                    return each.request != nullptr && each.resource == member.key;
                                  });
    if (npu == container.npus.end() || !IsLeftBehind(*npu, old)) {
      add(member);
    } else if (npu->limit != nullptr) {
      add({member.key, *npu->limit});
    }
  }
  for (const NpuRequest& npu : container.npus) {
    if (npu.IsLimitedOnly()) add({npu.resource, *npu.limit});
  }
  json::SortMembers({row, count});
  return Value::OfMembers({row, count});
}

}  // namespace

void NpuRequests(const MutationContext& context, Edits& edits) {
  if (schemas::kPods.Has(context.view.kind)) return;  // the API server does it
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !MayEdit(context, pod)) continue;
    for (const ContainerView& container : pod.containers) {
      if (container.npus.empty()) continue;
      const ContainerView* old = OldContainer(context, pod, container);
      if (std::any_of(container.npus.begin(), container.npus.end(),
                      [old](const NpuRequest& npu) { return IsLeftBehind(npu, old); })) {
        edits.Replace({container.path, "/resources/requests"},
                      FollowedRequests(container, old, edits.arena()), kWhyRequests);
        continue;
      }
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

constexpr std::string_view kSoftSharePolicy = "chip1-softShareDev";
constexpr std::string_view kSoftSharePrefix = "huawei.com/scheduler.softShareDev.";

bool SharesChipsSoftly(const WorkloadView& view, const PodTemplateView& pod) {
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

// Without those that an update left behind and whose limit is gone; `old`: the container before it.
Requested WholeCardOf(std::span<const NpuRequest> npus, const ContainerView* old = nullptr) {
  Requested requested;
  for (const NpuRequest& npu : npus) {
    if (npu.count == int64_t{0} || (npu.limit == nullptr && IsLeftBehind(npu, old))) continue;
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

constexpr std::string_view kWhyVariable =
    "Ascend Docker Runtime mounts the chips that the scheduler wrote to this annotation; without "
    "it the container sees none";

// The field with the annotation in which the scheduler writes the chips.
Value FieldPath(std::string_view resource, json::Arena& arena) {
  constexpr std::string_view kBefore = "metadata.annotations['";
  constexpr std::string_view kAfter = "']";
  char* const field = arena.Row<char>(kBefore.size() + resource.size() + kAfter.size());
  char* end = field;
  for (std::string_view part : {kBefore, resource, kAfter}) {
    end = std::copy(part.begin(), part.end(), end);
  }
  return Value::OfText({field, static_cast<size_t>(end - field)});
}

// The variable that reads it.
Value Variable(std::string_view resource, json::Arena& arena) {
  const auto object = [&arena](std::initializer_list<json::Member> members) {
    json::Member* const row = arena.Row<json::Member>(members.size());
    std::uninitialized_copy(members.begin(), members.end(), row);
    return Value::OfMembers({row, members.size()});
  };
  const Value source = object({{"fieldRef", object({{"fieldPath", FieldPath(resource, arena)}})}});
  return object({{"name", Value::OfText(schemas::kVisibleDevices)}, {"valueFrom", source}});
}

// A variable that an update left behind, as IsLeftBehind has it: it reads the annotation of the
// resource that the container asked for before. It follows, or goes where it must be absent.
void FollowResource(const MutationContext& context, const PodTemplateView& pod,
                    const ContainerView& container, Edits& edits) {
  const ContainerView* old = OldContainer(context, pod, container);
  if (old == nullptr || old->visible_devices == nullptr || !MayEdit(context, pod) ||
      !(*old->visible_devices == *container.visible_devices)) {
    return;
  }
  json::Arena& arena = edits.arena();
  const auto resource = [](const WorkloadView& view, const PodTemplateView& of,
                           const Requested& requested) {
    return SharesChipsSoftly(view, of) ? std::string_view() : requested.resource;
  };
  const std::string_view before =
      resource(*context.old_view, *OldTemplate(context, pod), WholeCardOf(old->npus));
  const Value* reads =
      json::FindPath(*container.visible_devices, {"valueFrom", "fieldRef", "fieldPath"});
  if (before.empty() || reads == nullptr || !(*reads == FieldPath(before, arena))) return;
  const std::string_view now = resource(context.view, pod, WholeCardOf(container.npus, old));
  if (now == before) return;
  const Value& env = *container.env.value;
  const auto index = static_cast<size_t>(container.visible_devices - env.begin());
  if (!now.empty()) {
    edits.Replace({arena.Text(container.env.path.Child(index)), "/valueFrom/fieldRef/fieldPath"},
                  FieldPath(now, arena), kWhyVariable);
    return;
  }
  Value* const rest = arena.Row<Value>(env.size() - 1);
  std::uninitialized_copy(env.begin() + index + 1, env.end(),
                          std::uninitialized_copy(env.begin(), env.begin() + index, rest));
  edits.Replace(container.env.path, Value::OfItems({rest, env.size() - 1}),
                "the container no longer asks for the NPUs whose annotation the variable read, "
                "and it would hide what the device plugin mounts");
}

}  // namespace

void VisibleDevices(const MutationContext& context, Edits& edits) {
  for (const PodTemplateView& pod : context.view.templates) {
    const bool foreign_scheduler = !IsScheduledByVolcano(context, pod);
    for (const ContainerView& container : pod.containers) {
      const ContainerView* twin = schemas::RuntimeTwin(pod, container);
      const bool requests = container.RequestsNpus();
      if (!requests && (twin == nullptr || !twin->RequestsNpus())) continue;
      if (container.visible_devices != nullptr) {
        FollowResource(context, pod, container, edits);
        continue;
      }
      if (twin != nullptr && twin->visible_devices != nullptr) {
        edits.Withhold(container.env.path, "the runtime sets the variable for this container");
        continue;
      }
      const ContainerView* old = OldContainer(context, pod, container);
      const Requested requested = WholeCardOf(requests ? container.npus : twin->npus, old);
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
      edits.Append(container.env, Variable(requested.resource, edits.arena()), kWhyVariable);
    }
  }
}

}  // namespace mindgate::mutators
