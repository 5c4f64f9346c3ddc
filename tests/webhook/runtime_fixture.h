#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "admission/admit.h"
#include "json/decode.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"
#include "webhook/live_inputs.h"

namespace mindgate::webhook::testing {

// A ServingRuntime, or without a namespace a ClusterServingRuntime, that asks for NPUs.
inline json::Json NpuRuntime(const std::string& name, const std::string& ns = "") {
  const json::Json amounts = {{"huawei.com/Ascend910", "8"}};
  json::Json runtime = {{"metadata", {{"name", name}}},
                        {"spec",
                         {{"engineConfig",
                           {{"runner",
                             {{"name", "ome-container"},
                              {"image", "i"},
                              {"resources", {{"limits", amounts}, {"requests", amounts}}}}}}}}}};
  if (!ns.empty()) runtime["metadata"]["namespace"] = ns;
  return runtime;
}

// An InferenceService that names it.
inline json::Json Service(const std::string& runtime, const std::string& kind = "ServingRuntime") {
  return {{"apiVersion", "ome.io/v1beta1"},
          {"kind", "InferenceService"},
          {"metadata", {{"name", "chat"}, {"namespace", "serving"}}},
          {"spec",
           {{"runtime", {{"name", runtime}, {"kind", kind}}},
            {"engine", {{"minReplicas", 1}, {"maxReplicas", 1}}}}}};
}

// An API server for a RuntimeLookup.
struct RuntimeFixture : ::testing::Test {
  mindgate::testing::FakeClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  std::mutex mutex;
  std::vector<std::string> lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [this](std::string_view line) {
                       const std::lock_guard lock(mutex);
                       lines.emplace_back(line);
                     }};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};

  void ServeRuntimes() {
    server.Register({.resource = kube::resources::kServingRuntimes, .custom = true});
    server.Register({.resource = kube::resources::kClusterServingRuntimes, .custom = true});
  }
  std::vector<std::string> Lines() {
    const std::lock_guard lock(mutex);
    return lines;
  }

  static bool Knows(const RuntimeLookup& lookup, const kube::Resource& resource,
                    const std::string& ns, const std::string& name) {
    return lookup.Get()->Find(resource.group, resource.kind, ns, name) != nullptr;
  }

  // How much is injected into it.
  static size_t Changes(const json::Json& object, const schemas::ObjectLookup* objects) {
    const json::Document document(object);
    schemas::AdmissionRequest request;
    request.object = &document.root();
    request.ns = "serving";
    request.objects = objects;
    return admission::Admit(request, schemas::Config(), {}).changes.size();
  }
};

}  // namespace mindgate::webhook::testing
