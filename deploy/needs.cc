#include "deploy/needs.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "json/decode.h"
#include "json/value.h"
#include "schemas/children.h"
#include "schemas/workload.h"

namespace mindgate::deploy {
namespace {

// The role that the template was written for: the nearest part of the configuration above it.
std::string RoleOf(const RenderedObject& object, std::string_view path) {
  const Origin* nearest = object.NearestOrigin(path);
  return nearest == nullptr ? object.Name()
                            : nearest->written.substr(nearest->written.rfind('/') + 1);
}

StringMap SelectorOf(const schemas::PodTemplateView& pod) {
  StringMap selector;
  if (pod.node_selector.value == nullptr) return selector;
  for (const json::Member& member : pod.node_selector.value->members()) {
    selector[std::string(member.key)] = json::AsString(&member.value).value_or("");
  }
  return selector;
}

// Pods that need the same of the same nodes are one entry.
void Add(RoleNeeds need, std::vector<RoleNeeds>& needs) {
  const auto same = std::ranges::find_if(needs, [&](const RoleNeeds& each) {
    return each.role == need.role && each.npu_resource == need.npu_resource &&
           each.npus_per_pod == need.npus_per_pod && each.node_selector == need.node_selector;
  });
  if (same == needs.end()) {
    needs.push_back(std::move(need));
  } else {
    same->pods += need.pods;
  }
}

void AddNeedsOf(const RenderedObject& object, std::vector<RoleNeeds>& needs) {
  const json::Document document(object.object);
  const auto view = schemas::BuildView(document.root());
  if (!view) return;
  const auto add = [&](size_t i, int64_t groups) {
    const schemas::PodTemplateView& pod = view->templates[i];
    for (const schemas::MinResource& npus : schemas::NpusOf(pod)) {
      if (npus.amount.value_or(0) < 1) continue;
      Add({RoleOf(object, pod.path), std::string(npus.resource), groups * pod.pods.value_or(1),
           *npus.amount, SelectorOf(pod)},
          needs);
    }
  };
  const schemas::Children children = schemas::ChildrenOf(*view);
  for (const schemas::ChildPodGroup& group : children.pod_groups) {
    for (const size_t i : group.group->templates) add(i, group.count.value_or(1));
  }
  for (const size_t i : children.ungrouped) add(i, 1);
}

}  // namespace

std::vector<RoleNeeds> NeedsOf(const std::vector<RenderedObject>& objects) {
  std::vector<RoleNeeds> needs;
  for (const RenderedObject& each : objects) AddNeedsOf(each, needs);
  // As a request passes them: decode comes after prefill, a decoder after the engine.
  std::ranges::stable_sort(needs, {},
                           [](const RoleNeeds& each) { return each.role.starts_with("decode"); });
  return needs;
}

}  // namespace mindgate::deploy
