#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "deploy/cluster.h"
#include "json/value.h"
#include "kube/fake_api_server.h"

// What a cluster on which applications are deployed has, and what its controllers do.
namespace mindgate::testing {

inline void Install(kube::testing::FakeApiServer& server) {
  using json::Json;
  namespace ours = deploy::resources;
  namespace all = kube::resources;
  for (const kube::Resource& each :
       {ours::kInferenceServices, ours::kStormServices, ours::kAscendJobs, ours::kBaseModels,
        ours::kClusterBaseModels, all::kServingRuntimes, all::kClusterServingRuntimes,
        all::kPodGroups}) {
    server.Register({.resource = each, .custom = true, .status = true, .generation = true});
  }
  server.Register({.resource = ours::kPriorityClasses});
  server.Register({.resource = ours::kResourceQuotas, .status = true});
  for (const char* ns : {"llm", "mindie"}) {
    server.Put(all::kNamespaces, {{"metadata", {{"name", ns}}}});
  }
  server.Put(ours::kBaseModels, {{"metadata", {{"namespace", "llm"}, {"name", "m1"}}}});
  server.Put(all::kClusterServingRuntimes,
             {{"metadata", {{"name", "rt1"}}},
              {"spec",
               {{"engineConfig", {{"runner", {{"name", "ome-container"}}}}},
                {"decoderConfig", {{"runner", {{"name", "ome-container"}}}}},
                {"routerConfig", {{"runner", {{"name", "sglang-router"}}}}}}}});
  for (const char* name :
       {"common-env", "boot-bash-script", "python-script-get-group-id",
        "python-script-update-server-conf", "mindie-http-client-ctl-config",
        "mindie-ms-controller-config", "mindie-ms-coordinator-config", "mindie-server-config"}) {
    server.Put(all::kConfigMaps, {{"metadata", {{"namespace", "mindie"}, {"name", name}}}});
  }
  for (const char* name : {"npu-0", "npu-1", "npu-2", "npu-3", "npu-4", "npu-5"}) {
    server.Put(all::kNodes,
               {{"metadata", {{"name", name}, {"labels", {{"accelerator", "huawei-Ascend910"}}}}},
                {"status",
                 {{"allocatable", {{"huawei.com/Ascend910", "8"}}},
                  {"conditions", json::Json::array({{{"type", "Ready"}, {"status", "True"}}})}}}});
  }
}

inline json::Json PodOf(const std::string& ns, const std::string& name, const json::Json& labels,
                        bool ready = true) {
  const json::Json container = {{"name", "main"},
                                {"resources", {{"requests", {{"huawei.com/Ascend910", "8"}}}}}};
  const json::Json condition = {{"type", "Ready"}, {"status", ready ? "True" : "False"}};
  return {{"metadata", {{"namespace", ns}, {"name", name}, {"labels", labels}}},
          {"spec", {{"nodeName", "npu-0"}, {"containers", json::Json::array({container})}}},
          {"status",
           {{"phase", ready ? "Running" : "Pending"},
            {"podIP", "10.1.0.1"},
            {"conditions", json::Json::array({condition})}}}};
}

// Makes the stores available.
inline void PlayDeployments(kube::testing::FakeApiServer& server, const std::string& ns,
                            const std::string& app) {
  json::Json store = server.Find(kube::resources::kDeployments, ns, app + "-mf-store");
  if (store.is_null()) return;
  const auto generation =
      json::AsInt(json::FindPath(store, {"metadata", "generation"})).value_or(0);
  const json::Json status = {
      {"observedGeneration", generation}, {"updatedReplicas", 1}, {"availableReplicas", 1}};
  if (store.value("status", json::Json()) == status) return;
  store["status"] = status;
  server.Put(kube::resources::kDeployments, store);
  server.Put(kube::resources::kPods,
             PodOf(ns, app + "-mf-store-0",
                   {{"ome.io/inferenceservice", app}, {"component", "mf-store"}}));
}

// OME: one pod for each component of the InferenceService.
inline void PlayOme(kube::testing::FakeApiServer& server, const std::string& ns,
                    const std::string& app) {
  const json::Json service = server.Find(deploy::resources::kInferenceServices, ns, app);
  if (service.is_null()) return;
  for (const char* component : {"engine", "decoder", "router"}) {
    const json::Json* spec = json::FindPath(service, {"spec", component});
    if (spec == nullptr) continue;
    const auto count = json::AsInt(json::Find(*spec, "minReplicas")).value_or(1);
    for (int64_t i = 0; i < count; ++i) {
      const std::string name = app + "-" + component + "-" + std::to_string(i);
      if (!server.Find(kube::resources::kPods, ns, name).is_null()) continue;
      server.Put(kube::resources::kPods,
                 PodOf(ns, name, {{"ome.io/inferenceservice", app}, {"component", component}}));
    }
  }
}

inline void PlayControllers(kube::testing::FakeApiServer& server) {
  PlayDeployments(server, "llm", "chat");
  PlayOme(server, "llm", "chat");
}

}  // namespace mindgate::testing
