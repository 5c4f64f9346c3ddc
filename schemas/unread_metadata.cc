#include "json/pointer.h"
#include "schemas/workload.h"

namespace mindgate::schemas {
namespace {

using json::Value;

UnreadMetadata DirectlyIn(const WorkloadView& view, std::string_view path) {
  const Value* holder = json::Resolve(*view.object, path);
  return {{{path, "/labels"}, json::Find(holder, "labels")},
          {{path, "/annotations"}, json::Find(holder, "annotations")}};
}

UnreadMetadata MetadataOf(const WorkloadView& view, std::string_view path) {
  const Value* metadata = json::Find(json::Resolve(*view.object, path), "metadata");
  return {{{path, "/metadata/labels"}, json::Find(metadata, "labels")},
          {{path, "/metadata/annotations"}, json::Find(metadata, "annotations")}};
}

}  // namespace

std::vector<UnreadMetadata> UnreadMetadataOf(const WorkloadView& view) {
  const UnreadMetadata metadata = {view.labels, view.annotations};
  std::vector<UnreadMetadata> found;
  const auto& paths = view.info().unread_metadata;
  if (!paths.front().empty()) found.reserve(paths.size());
  for (const std::string_view path : paths) {
    if (!path.empty()) found.push_back(path == "/metadata" ? metadata : DirectlyIn(view, path));
  }
  for (size_t i = 0; i < view.templates.size(); ++i) {
    const PodTemplateView& pod = view.templates[i];
    // OME prunes labels of a leader or worker; only the component's count.
    if (kOmeKinds.Has(view.kind) && pod.name.find('.') != std::string::npos) {
      found.push_back(DirectlyIn(view, pod.path));
      found.back().pod_template = i;
    }
    // infer-operator gives a role's metadata to the workload, and only with a gang to a PodGroup.
    if (kInferOperatorKinds.Has(view.kind) && pod.pod_group &&
        view.pod_groups[*pod.pod_group].owner != PodGroupOwner::kInstance) {
      const std::string_view role =
          pod.path.substr(0, pod.path.size() - std::string_view("/spec/template").size());
      found.push_back(view.kind == Kind::kInstanceSet ? metadata : MetadataOf(view, role));
      found.back().pod_template = i;
    }
  }
  return found;
}

}  // namespace mindgate::schemas
