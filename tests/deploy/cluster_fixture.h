#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/apply.h"
#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/plan.h"
#include "deploy/remove.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"
#include "support/fake_clock.h"

namespace mindgate::deploy {

using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using kube::testing::Value;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::With;

// A cluster with everything installed and no controller, so that tests say what controllers do.
struct ClusterTest : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  std::vector<std::string> steps;  // as they were reported

  ClusterTest() {
    mindgate::testing::Install(server);
    // Time passes only while somebody waits.
    sleeper.Then([this] {
      clock.Advance(kPollTime);
      Play();
    });
  }
  ~ClusterTest() override { sleeper.Then(nullptr); }

  // What controllers do in a pause.
  virtual void Play() { mindgate::testing::PlayControllers(server); }

  Configuration Read(std::string_view text) {
    auto read = ReadConfiguration(text);
    if (read) return *std::move(read);
    ADD_FAILURE() << json::Render(read.error(), "app.yaml", text);
    return {};
  }

  Plan PlanOf(std::string_view text, const PlanOptions& options = {}) {
    const Configuration configuration = Read(text);
    return Value(MakePlan(client, configuration.application, Render(configuration.application),
                          options, {}));
  }

  ApplyResult Deploy(std::string_view text, const ApplyOptions& options = {},
                     const PlanOptions& planning = {}) {
    const Configuration configuration = Read(text);
    const Plan plan = PlanOf(text, planning);
    for (const Problem& each : plan.blockers) ADD_FAILURE() << each.what;
    return CarryOut(client, sleeper, clock, configuration.application, plan, options,
                    {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  }

  ApplyResult Delete(const std::string& ns, const std::string& app,
                     const RemoveOptions& options = {}) {
    const RemovalPlan plan = Value(PlanRemoval(client, ns, app, options.keep_store, {}));
    return Remove(client, sleeper, clock, ns, app, plan, options,
                  {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  }

  // Requests that would change something, dry runs left out: "PATCH Service chat-mf-store".
  std::vector<std::string> Writes() {
    std::vector<std::string> writes;
    for (const auto& request : server.Requests()) {
      if (request.method == "GET" || request.target.find("dryRun=All") != std::string::npos ||
          request.body.find(R"("dryRun":["All"])") != std::string::npos) {
        continue;
      }
      const std::string path = request.target.substr(0, request.target.find('?'));
      writes.push_back(request.method + " " + path.substr(path.find("/namespaces/") + 12));
    }
    return writes;
  }

  std::vector<std::string> Titles() {
    std::vector<std::string> titles;
    for (const Json& object : Value(FindObjects(client, "llm", "chat", {})).objects) {
      titles.push_back(TitleOf(object));
    }
    return titles;
  }
};

}  // namespace mindgate::deploy
