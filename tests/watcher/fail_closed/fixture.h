#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/running_clock.h"
#include "watcher/frame/webhook_configurations.h"

namespace mindgate::watcher::fail_closed {

// An API server with a configuration as the chart registers it: two webhooks are to fail closed,
// one is not.
struct OpenRegistration {
  mindgate::testing::RunningClock clock;
  kube::testing::FakeApiServer server;
  log::Logger logger{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  WebhookConfigurations webhooks{{"mindgate"}, {"mindgate"}};

  OpenRegistration() {
    server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "mindgate-system"}}}});
    Put("Ignore", "pods.example,jobs.example");
  }

  // The webhooks have this failurePolicy, and those that `fail_closed` lists are to have Fail.
  void Put(const std::string& policy, const std::string& fail_closed) {
    json::Json metadata = {{"name", "mindgate"}};
    if (!fail_closed.empty()) {
      metadata["annotations"] = {{"mindgate.io/fail-closed", fail_closed}};
    }
    json::Json entries = json::Json::array();
    for (const char* name : {"pods.example", "jobs.example", "services.example"}) {
      entries.push_back({{"name", name}, {"failurePolicy", policy}, {"sideEffects", "None"}});
    }
    server.Put(kube::resources::kValidatingWebhooks,
               {{"metadata", std::move(metadata)}, {"webhooks", std::move(entries)}});
  }

  static kube::testing::When Probe() { return {.method = "POST", .target_part = "/configmaps?"}; }
  // As the API server answers for a webhook that denies.
  void WebhookAnswers() {
    server.AnswerNext(1, Probe(),
                      kube::testing::StatusAnswer(
                          403, "Forbidden",
                          "admission webhook \"probe.validate.mindgate.io\" denied the request: "
                          "mindgate answers"));
  }
};

}  // namespace mindgate::watcher::fail_closed
