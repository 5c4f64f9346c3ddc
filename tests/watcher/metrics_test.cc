#include "watcher/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/metric_contract.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher {
namespace {

using ::testing::HasSubstr;

// One service, of which half runs.
struct WatcherMetrics : ::testing::Test {
  scaling::Cluster cluster;
  scaling::Replica watcher{cluster};
  gang_repair::Controller gangs{watcher.client, watcher.sleeper,  cluster.clock,
                                watcher.logger, watcher.recorder, {}};
  Metrics metrics;

  void SetUp() override {
    metrics.SetSources({&watcher.controller, &gangs, [] { return true; }, "1.2.3"});
    cluster.PutRule(scaling::kTwoShapes);
    cluster.Submit("p0", "g0");
    cluster.Submit("d0", "g1");
    watcher.Start();
    ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, {"p0", "d0"}));
  }
  bool Has(const std::string& line) const {
    return metrics.Render().find("\n" + line + "\n") != std::string::npos;
  }
};

TEST_F(WatcherMetrics, SayWhatRunsOfEachService) {
  const std::string service = R"(service_namespace="ns",rule="rule",job_id="s")";
  const std::string shape = "mindgate_scaling_shape{" + service + "} ";
  ASSERT_TRUE(mindgate::testing::Eventually([&] { return Has(shape + "0"); })) << metrics.Render();
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  // The second shape of the rule runs whole: one instance of each group.
  ASSERT_TRUE(mindgate::testing::Eventually([&] { return Has(shape + "2"); })) << metrics.Render();
  EXPECT_THAT(metrics.Render(), HasSubstr("mindgate_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(metrics.Render(), HasSubstr("mindgate_watcher_leading 1\n"));
}

TEST_F(WatcherMetrics, EverySeriesHasTheLabelsThatAlertsAndDashboardsName) {
  ASSERT_TRUE(mindgate::testing::Eventually(
      [&] { return metrics.Render().find("mindgate_scaling_instances{") != std::string::npos; }));
  mindgate::testing::ExpectGolden("tests/watcher/metrics.want",
                                  mindgate::testing::MetricContract(metrics.Render()));
}

}  // namespace
}  // namespace mindgate::watcher
