#include "schemas/workload.h"

namespace mindgate::schemas {

const json::Value* FindEnv(const json::Value* env, std::string_view name) {
  if (!json::IsArray(env)) return nullptr;
  for (const json::Value& entry : *env) {
    if (json::FindString(entry, "name") == name) return &entry;
  }
  return nullptr;
}

const ContainerView* RuntimeTwin(const PodTemplateView& pod, const ContainerView& container) {
  if (pod.runtime == nullptr) return nullptr;
  for (const ContainerView& other : pod.runtime->containers) {
    if (other.role != container.role) continue;
    if (container.role == ContainerView::Role::kRunner || other.name == container.name) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace mindgate::schemas
