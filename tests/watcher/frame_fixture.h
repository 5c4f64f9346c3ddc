#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/log.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/running_clock.h"
#include "watcher/frame/leader_client.h"

// A fake API server and a client of it, for what the controllers share.
namespace mindgate::watcher {

struct FrameTest : ::testing::Test {
  mindgate::testing::RunningClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};
  kube::RealSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, LeaderClient::kOptions};
  log::Logger logger{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};

  json::Json Put(const std::string& name, const std::string& label = "") {
    json::Json pod = {{"metadata", {{"namespace", "ns"}, {"name", name}}},
                      {"spec", {{"nodeName", "n"}}},
                      {"status", {{"phase", "Running"}}}};
    if (!label.empty()) pod["metadata"]["labels"] = {{"wanted", label}};
    return server.Put(kube::resources::kPods, pod);
  }
};

}  // namespace mindgate::watcher
