#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "watcher/rescheduling/plugin.h"
#include "watcher/rescheduling_direct.h"

// What MindCluster's plugin restarted, compared with what mindgate found: on an API server.
namespace mindgate::watcher::rescheduling {
namespace {

using schemas::ReschedulingMode;
using std::chrono::seconds;
namespace resources = kube::resources;

// Job "train" of four pods, one on each node; mindgate observes.
struct Observing : Direct {
  Observing() {
    settings.mode = ReschedulingMode::kObserve;
    cluster.PutJob("train", kPodLabels);
  }
  // The plugin writes down that it restarted the job because of these.
  void Record(const std::vector<std::string>& pods) {
    Json tasks = Json::array();
    for (const std::string& pod : pods) tasks.push_back({{"PodName", pod}});
    const auto now = cluster.clock.WallNow().time_since_epoch().count();
    const Json jobs = {
        {"serving/train",
         {{"RescheduleRecords", {{{"RescheduleTimeStamp", now}, {"ReasonOfTask", tasks}}}}}}};
    cluster.server.Put(
        resources::kConfigMaps,
        {{"metadata", {{"namespace", "mindx-dl"}, {"name", "job-reschedule-reason"}}},
         {"data", {{"recent-reschedule-records", jobs.dump()}}}});
  }
  // The node of train-3 breaks, and is whole again a second later.
  void Break(const std::vector<std::string>& recorded) {
    Reconcile("train", {"n3"});
    cluster.clock.Advance(seconds(1));
    if (!recorded.empty()) Record(recorded);
  }
  std::vector<std::string> Reported() const {
    std::vector<std::string> reasons;
    for (const DecisionRecord& record : decisions.records) {
      if (record.kind == DecisionKind::kPluginDiffers) reasons.push_back(record.reason);
    }
    return reasons;
  }
  size_t Reads() const { return cluster.server.Count({.target_part = "job-reschedule-reason"}); }
};

TEST(PluginCanary, ReportsOncePodsThatThePluginAloneCalledFaulty) {
  Observing job;
  job.Break({"train-2", "train-3"});
  EXPECT_EQ(job.Reconcile("train", {}).requeue_after, seconds(5));
  EXPECT_EQ(job.Reads(), 0U) << "it may not be over yet";
  job.cluster.clock.Advance(seconds(5));
  job.Reconcile("train", {});
  const std::vector<std::string> expected = {
      "Volcano's plugin restarted this job, and it called train-2 faulty, and mindgate did not; "
      "its "
      "version may decide by other rules than mindgate"};
  EXPECT_EQ(job.Reported(), expected);
  EXPECT_EQ(job.reconciler->counts().plugin_differs, 1U);
  job.cluster.clock.Advance(seconds(60));
  job.Reconcile("train", {});
  EXPECT_EQ(job.Reported(), expected);
  EXPECT_EQ(job.Reads(), 1U);
}

TEST(PluginCanary, IsSilentWhereBothAgreeOrThePluginDidNothing) {
  for (const std::vector<std::string>& recorded :
       {std::vector<std::string>{"train-3"}, std::vector<std::string>()}) {
    Observing job;
    job.Break(recorded);
    job.Reconcile("train", {});
    job.cluster.clock.Advance(seconds(5));
    job.Reconcile("train", {});
    EXPECT_EQ(job.Reported(), std::vector<std::string>());
    EXPECT_EQ(job.Reads(), 1U);
  }
}

TEST(PluginCanary, WaitsWhileAnotherPodIsFaulty) {
  Observing job;
  job.Break({"train-3"});
  job.Reconcile("train", {});
  job.cluster.clock.Advance(seconds(4));
  job.Reconcile("train", {"n1"});
  job.cluster.clock.Advance(seconds(4));
  EXPECT_EQ(job.Reconcile("train", {}).requeue_after, seconds(5));
  job.Record({"train-0", "train-3"});
  job.cluster.clock.Advance(seconds(5));
  job.Reconcile("train", {});
  ASSERT_EQ(job.Reported().size(), 1U);
  EXPECT_NE(job.Reported()[0].find("train-0"), std::string::npos);
  EXPECT_EQ(job.Reported()[0].find("train-1"), std::string::npos)
      << "the plugin does not examine a job again that it is restarting: " << job.Reported()[0];
}

TEST(PluginCanary, DoesNotCompareWhatMindgateRestarted) {
  Observing job;
  job.settings.mode = ReschedulingMode::kTakeover;
  job.Break({"train-2"});
  job.cluster.clock.Advance(seconds(200));
  job.cluster.PutNode("n3", false);
  job.Reconcile("train", {"n3"});
  EXPECT_GT(job.Deletes(), 0U) << job.decisions.last();
  for (int i = 0; i < 2; ++i) {
    job.Reconcile("train", {});
    job.cluster.clock.Advance(seconds(6));
  }
  EXPECT_EQ(job.Reported(), std::vector<std::string>());
}

// The right may be missing with an older chart.
TEST(PluginCanary, ReportsWhenTheRecordsCannotBeRead) {
  Observing job;
  job.Break({"train-2"});
  job.Reconcile("train", {});
  job.cluster.clock.Advance(seconds(5));
  job.cluster.server.AnswerNext(1, {.method = "GET", .target_part = "job-reschedule-reason"},
                                kube::testing::StatusAnswer(403, "Forbidden", "no"));
  job.Reconcile("train", {});
  EXPECT_EQ(job.Reported(), std::vector<std::string>());
  EXPECT_EQ(job.Reads(), 1U);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
