#include "deploy/needs.h"

#include <utility>

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

}  // namespace

std::vector<RoleNeeds> NeedsOf(const Application& application) {
  auto needs =
      std::visit([](const auto& service) { return NeedsOfService(service); }, application.service);
  std::erase_if(needs, [](const RoleNeeds& each) { return each.npus_per_pod == 0; });
  return needs;
}

}  // namespace mindgate::deploy
