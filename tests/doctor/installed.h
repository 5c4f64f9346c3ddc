#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "doctor/doctor.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::doctor::testing {

// What the chart makes of release "prod" with nameOverride "gate", as far as doctor reads it. Its
// objects lack the usual name.
struct InstalledFixture : ::testing::Test {
  using Json = nlohmann::json;
  using Texts = std::vector<std::string>;

  mindgate::testing::FakeClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  Options options{.ns = "ops",
                  .name = "prod-gate",
                  .lease = "prod-gate-watcher",
                  .known = {.rules = {{"scaling-rule-readable", "MG035", ""}},
                            .mutators = {{"scheduler-name", "", ""}, {"visible-devices", "", ""}}}};

  InstalledFixture() { PutNamespace(Json::object()); }

  static Json Metadata(const std::string& name, const std::string& component) {
    Json labels = {{"app.kubernetes.io/name", "gate"}, {"app.kubernetes.io/instance", "prod"}};
    if (!component.empty()) labels["app.kubernetes.io/component"] = component;
    return {{"namespace", "ops"}, {"name", name}, {"labels", labels}};
  }
  void PutNamespace(Json labels) {
    labels["kubernetes.io/metadata.name"] = "default";
    server.Put(kube::resources::kNamespaces,
               {{"metadata", {{"name", "default"}, {"labels", labels}}}});
  }
  void PutWebhooks(bool mutating, const Json& annotations = Json::object()) {
    Json metadata = Metadata("prod-gate", "");
    metadata.erase("namespace");
    metadata["annotations"] = annotations;
    const std::string hook = mutating ? "mutate" : "validate";
    server.Put(
        mutating ? kube::resources::kMutatingWebhooks : kube::resources::kValidatingWebhooks,
        {{"metadata", metadata},
         {"webhooks",
          {{{"name", "pods." + hook + ".mindgate.io"},
            {"failurePolicy", "Fail"},
            {"timeoutSeconds", 3},
            {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", "default"}}}}},
            {"clientConfig", {{"service", {{"namespace", "ops"}, {"name", "webhook"}}}}}}}}});
  }
  void PutConfig(const std::string& config) {
    server.Put(kube::resources::kConfigMaps,
               {{"metadata", Metadata("settings", "")}, {"data", {{"mindgate.yaml", config}}}});
  }
  void PutPod(Json metadata, const Json& ports = Json::array()) {
    server.Put(kube::resources::kPods,
               {{"metadata", std::move(metadata)},
                {"spec",
                 {{"containers", {{{"name", "main"}, {"ports", ports}}}},
                  {"volumes", {{{"name", "config"}, {"configMap", {{"name", "settings"}}}}}}}}});
  }
  // The webhook's Service and a Pod with this configuration, and both webhook configurations.
  void PutWebhook(const std::string& config, const Json& ports = Json::array()) {
    PutWebhooks(true);
    PutWebhooks(false);
    PutConfig(config);
    server.Put(kube::resources::kServices,
               {{"metadata", Metadata("webhook", "webhook")},
                {"spec", {{"selector", {{"app.kubernetes.io/component", "webhook"}}}}}});
    PutPod(Metadata("webhook-0", "webhook"), ports);
  }
  void PutLease(std::chrono::seconds ago = std::chrono::seconds(0)) {
    server.Put(
        kube::resources::kLeases,
        {{"metadata", Metadata("prod-gate-watcher", "watcher")},
         {"spec",
          {{"holderIdentity", "watcher-0_1"}, {"renewTime", FormatTime(clock.WallNow() - ago)}}}});
  }

  // "message" of each finding of a check with a status.
  Texts Of(const std::string& check, Status status) {
    Texts texts;
    const Report report = Diagnose(client, options, clock.WallNow());
    for (const Finding& finding : report.findings()) {
      if (finding.check == check && finding.status == status) texts.push_back(finding.message);
      const bool wrong = finding.status == Status::kFailed || finding.status == Status::kWarning;
      EXPECT_TRUE(!wrong || !finding.fix.empty()) << finding.message;
    }
    return texts;
  }
};

}  // namespace mindgate::doctor::testing
