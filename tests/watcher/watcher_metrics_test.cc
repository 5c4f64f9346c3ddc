#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/metric_contract.h"
#include "watcher/scaling_cluster.h"
#include "watcher/watcher.h"

namespace mindgate::watcher {
namespace {

using ::mindgate::testing::Eventually;
using ::testing::HasSubstr;

// The whole watcher, and one service, of which half runs.
struct WatcherMetrics : ::testing::Test {
  scaling::Cluster cluster;
  scaling::Replica replica{cluster};  // for its clients
  Leadership leadership{replica.client, replica.sleeper,  cluster.clock,
                        replica.logger, {.elect = false}, 1};
  Snapshot<schemas::Config> config;
  std::unique_ptr<Watcher> watcher;
  std::stop_source stop;
  std::jthread thread;

  void SetUp() override {
    auto enforced = std::make_shared<schemas::Config>();
    enforced->elastic_scaling.mode = schemas::EnforcementMode::kEnforce;
    config.Set(enforced);
    watcher = std::make_unique<Watcher>(
        replica.client, replica.writer, replica.sleeper, cluster.clock, replica.logger, leadership,
        config, Watcher::Options{.build = {"1.2.3", "0123456789ab", "aarch64"}});
    leadership.Start([] {});
    cluster.PutRule(scaling::kTwoShapes);
    cluster.Submit("p0", "g0");
    cluster.Submit("d0", "g1");
    thread = std::jthread([this] { watcher->Run(stop.get_token()); });
    ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, {"p0", "d0"}));
  }
  void TearDown() override {
    stop.request_stop();
    thread.join();
  }
  std::string Get(const std::string& path) const {
    for (const auto& route : watcher->Routes()) {
      if (route.path == path) return route.handler({}).body;
    }
    return "not found";
  }
  bool Has(const std::string& line) const {
    return Get("/metrics").find("\n" + line + "\n") != std::string::npos;
  }
};

TEST_F(WatcherMetrics, ReportWhatRunsOfEachService) {
  const std::string service = R"(service_namespace="ns",rule="rule",job_id="s")";
  const std::string shape = "mindgate_scaling_shape{" + service + "} ";
  ASSERT_TRUE(Eventually([&] { return Has(shape + "0"); })) << Get("/metrics");
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  // The second shape of the rule runs whole: one instance of each group.
  ASSERT_TRUE(Eventually([&] { return Has(shape + "2"); })) << Get("/metrics");
  EXPECT_THAT(Get("/metrics"),
              HasSubstr("mindgate_build_info{version=\"1.2.3\",commit=\"0123456789ab\","
                        "architecture=\"aarch64\"} 1\n"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("mindgate_watcher_leading 1\n"));
}

TEST_F(WatcherMetrics, EverySeriesHasTheLabelsThatAlertsAndDashboardsName) {
  ASSERT_TRUE(Eventually([&] {
    return Get("/metrics").find("mindgate_scaling_instances{") != std::string::npos &&
           Get("/metrics").find("decision=\"granted\"") != std::string::npos;
  }));
  mindgate::testing::ExpectGolden("tests/watcher/metrics.want",
                                  mindgate::testing::MetricContract(Get("/metrics")));
}

TEST_F(WatcherMetrics, TheProbePortReportsDecisions) {
  ASSERT_TRUE(Eventually([&] { return Get("/readyz") == "ok: leading\n"; })) << Get("/readyz");
  ASSERT_TRUE(Eventually(
      [&] { return Get("/decisions").find("\"instance\": \"Pod/p0\"") != std::string::npos; }));
  EXPECT_THAT(Get("/decisions"), HasSubstr("\"controller\": \"scaling\""));
  EXPECT_THAT(Get("/decisions"), HasSubstr("\"decision\": \"granted\""));
}

}  // namespace
}  // namespace mindgate::watcher
