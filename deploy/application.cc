#include "deploy/application.h"

#include <algorithm>

namespace mindgate::deploy {
namespace {

std::string Last(int64_t count) { return std::to_string(count - 1); }

// The pods of a Deployment have random ends, and are cut to fit. Those of a LeaderWorkerSet are
// named after it, the group and the place in the group (lws: pkg/webhooks/pod_webhook.go).
void AddComponent(const std::string& app, const char* name, const OmeComponent& component,
                  std::vector<DerivedName>& names) {
  const std::string base = app + "-" + name;
  if (component.pod_num == 1) {
    names.push_back({base, "Service"});
    return;
  }
  names.push_back({base + "-" + Last(component.Max()) + "-" + Last(component.pod_num), "pod"});
}

std::vector<DerivedName> NamesOf(const std::string& app, const OmeService& service) {
  std::vector<DerivedName> names;
  AddComponent(app, "engine", service.engine, names);
  if (service.decoder) {
    AddComponent(app, "decoder", *service.decoder, names);
    names.push_back({app + "-mf-store", "Service"});
  }
  if (service.router) names.push_back({app + "-router", "Service"});
  return names;
}

std::vector<DerivedName> NamesOf(const std::string& app, const StormService& service) {
  std::vector<DerivedName> names;
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    std::string longest = app + "-" + name + "-" + Last(role->replicas);
    if (role->pod_group_size > 1) {
      longest += "-" + (service.distributed_dp ? Last(role->pod_group_size) : std::string("0"));
    }
    names.push_back({std::move(longest), "Service"});
  }
  if (service.routing) names.push_back({app + "-router", "Service"});
  return names;
}

// Pods are named after the job, the replica type and a number (mind-cluster: ascend-operator).
std::vector<DerivedName> NamesOf(const std::string& app, const MindieService& service) {
  std::vector<DerivedName> names = {{app + "-coordinator-master-0", "pod"}};
  for (const auto& [letter, role] :
       {std::pair("-p", &service.prefill), std::pair("-d", &service.decode)}) {
    const std::string job = app + letter + Last(role->instances);
    names.push_back({job + (role->pod_num > 1 ? "-worker-" + Last(role->pod_num - 1)
                                              : std::string("-master-0")),
                     "pod"});
  }
  return names;
}

}  // namespace

std::string_view FrameworkName(Framework framework) {
  switch (framework) {
    case Framework::kOme:
      return "ome";
    case Framework::kAibrix:
      return "aibrix";
    case Framework::kMindie:
      return "mindie";
  }
  return "";
}

std::optional<Framework> FrameworkNamed(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFrameworks), std::end(kFrameworks),
                                   [name](Framework each) { return FrameworkName(each) == name; });
  if (found == std::end(kFrameworks)) return std::nullopt;
  return *found;
}

std::string_view BlockOf(Framework framework) {
  switch (framework) {
    case Framework::kOme:
      return "inference_service";
    case Framework::kAibrix:
      return "storm_service";
    case Framework::kMindie:
      return "mindie_service";
  }
  return "";
}

std::vector<DerivedName> DerivedNames(const Application& application) {
  return std::visit([&](const auto& service) { return NamesOf(application.name, service); },
                    application.service);
}

}  // namespace mindgate::deploy
