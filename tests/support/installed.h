#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "kube/fake_api_server.h"

namespace mindgate::testing {

// An installation whose watcher has this mindgate.yaml, with other keys beside it.
inline void PutWatcher(kube::testing::FakeApiServer& server, const std::string& config,
                       nlohmann::json data = nlohmann::json::object()) {
  data["mindgate.yaml"] = config;
  server.Put(kube::resources::kValidatingWebhooks,
             {{"metadata",
               {{"name", "mindgate"},
                {"labels", {{"app.kubernetes.io/name", "mindgate"}}},
                {"annotations", {{"meta.helm.sh/release-namespace", "mindgate-system"}}}}}});
  server.Put(
      kube::resources::kPods,
      {{"metadata",
        {{"namespace", "mindgate-system"},
         {"name", "watcher"},
         {"labels",
          {{"app.kubernetes.io/name", "mindgate"}, {"app.kubernetes.io/component", "watcher"}}}}},
       {"spec", {{"volumes", {{{"name", "config"}, {"configMap", {{"name", "mindgate"}}}}}}}}});
  server.Put(kube::resources::kConfigMaps,
             {{"metadata", {{"namespace", "mindgate-system"}, {"name", "mindgate"}}},
              {"data", std::move(data)}});
}

}  // namespace mindgate::testing
