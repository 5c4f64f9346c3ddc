#include "deploy/needs.h"

#include <utility>

#include "json/value.h"

namespace mindgate::deploy {
namespace {

std::vector<RoleNeeds> NeedsOfService(const OmeService& service) {
  std::vector<RoleNeeds> needs;
  const auto add = [&](const char* role, const OmeComponent& component) {
    needs.push_back({role, service.npu_resource, component.min_replicas * component.pod_num,
                     component.npu_num, component.pods.node_selector});
  };
  add("engine", service.engine);
  if (service.decoder) add("decoder", *service.decoder);
  return needs;
}

std::vector<RoleNeeds> NeedsOfService(const StormService& service) {
  std::vector<RoleNeeds> needs;
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    needs.push_back({name, service.npu_resource, role->replicas * role->pod_group_size,
                     role->npu_num, role->pods.node_selector});
  }
  return needs;
}

std::vector<RoleNeeds> NeedsOfService(const MindieService& service) {
  std::vector<RoleNeeds> needs;
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    needs.push_back({name, service.npu_resource, role->instances * role->pod_num,
                     service.NpusOf(*role), role->pods.node_selector});
  }
  return needs;
}

// The selector of the first job of a MindIE role: that of the hardware, with the user's over it.
void TakeSelectorOfJob(const std::string& job, const std::vector<RenderedObject>& objects,
                       StringMap& selector) {
  for (const RenderedObject& each : objects) {
    if (each.Kind() != "AscendJob" || each.Name() != job) continue;
    const json::Json* replicas = json::FindPath(each.object, {"spec", "replicaSpecs"});
    if (!json::IsObject(replicas) || replicas->empty()) continue;
    const json::Json* written =
        json::FindPath(*replicas->begin(), {"template", "spec", "nodeSelector"});
    if (!json::IsObject(written)) continue;
    for (const auto& [key, value] : written->items()) {
      selector[key] = std::string(json::AsString(&value).value_or(""));
    }
  }
}

}  // namespace

std::vector<RoleNeeds> NeedsOf(const Application& application,
                               const std::vector<RenderedObject>& objects) {
  auto needs =
      std::visit([](const auto& service) { return NeedsOfService(service); }, application.service);
  if (application.framework() == Framework::kMindie) {
    for (RoleNeeds& each : needs) {
      TakeSelectorOfJob(application.name + (each.role == "prefill" ? "-p0" : "-d0"), objects,
                        each.node_selector);
    }
  }
  std::erase_if(needs, [](const RoleNeeds& each) { return each.npus_per_pod == 0; });
  return needs;
}

}  // namespace mindgate::deploy
