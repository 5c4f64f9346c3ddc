#include "watcher/rescheduling/job.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "kube/reflector.h"

namespace mindgate::watcher::rescheduling {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const JobKey kJob = {"serving", "chat"};

Task Ready(std::string uid) { return {.node = "a", .uid = std::move(uid), .ready = true}; }
Task Going(std::string uid) {
  return {.node = "a", .uid = std::move(uid), .deletion_time = Time{}};
}
Task Placed(std::string uid) { return {.node = "b", .uid = std::move(uid)}; }
Task Pending(std::string uid) { return {.uid = std::move(uid)}; }

// What a watch keeps of an object is what is read of it: a member that a reader gets and its fields
// lack is never there.
TEST(ReschedulingJob, FieldsHoldAllThatIsRead) {
  const std::string group_text = R"({
      "metadata": {"namespace": "serving", "name": "chat", "uid": "g", "resourceVersion": "7",
        "labels": {"fault-scheduling": "force", "other": "x"},
        "annotations": {"huawei.com/pod-status": "healthy", "other": "x"},
        "ownerReferences": [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
          "name": "chat", "uid": "j", "controller": true}]},
      "spec": {"minMember": 4, "minResources": {"huawei.com/Ascend910": "32"}, "queue": "default"},
      "status": {"phase": "Running", "running": 1, "succeeded": 10, "failed": 100, "pending": 1000}})";
  const std::string pod_text = R"({
      "metadata": {"namespace": "serving", "name": "chat-0", "uid": "p", "resourceVersion": "8",
        "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T01:00:00Z",
        "deletionGracePeriodSeconds": 0,
        "labels": {"fault-scheduling": "force", "other": "x"},
        "annotations": {"scheduling.k8s.io/group-name": "chat", "hccl/rankIndex": "3",
          "huawei.com/AscendReal": "Ascend910-0,Ascend910-1", "super-pod-rank": "2",
          "needVolcanoOpe": "delete", "other": "x"}},
      "spec": {"nodeName": "n0", "schedulingGates": [{"name": "g"}]},
      "status": {"phase": "Failed",
        "conditions": [{"type": "PodScheduled", "status": "True"},
                       {"type": "Ready", "status": "True"}],
        "containerStatuses": [{"lastState": {"terminated": {"exitCode": 1}}}]}})";
  json::Decoder decoder;
  const auto read = [&](const auto& decode) {
    const auto group = decode(group_text, PodGroupFields());
    EXPECT_TRUE(group);
    EXPECT_EQ(CountPlaced(**group), 111);
    const PodGroupState state = PodGroupOf(**group);
    const auto pod = decode(pod_text, PodFields());  // the group is gone now
    EXPECT_TRUE(pod);
    return JobOf(state, {PodReader().Read(**pod)});
  };
  const Job whole =
      read([&](const std::string& text, const auto&) { return decoder.Decode(text); });
  const Job kept = read([&](const std::string& text, auto fields) {
    return decoder.Decode(text, kube::WithIdentity(std::move(fields)));
  });
  EXPECT_EQ(kept, whole);
  ASSERT_EQ(whole.tasks.size(), 1U);
  EXPECT_TRUE(whole.tasks[0].ended);
  EXPECT_EQ(whole.succeeded, 10);
}

struct RecoveriesTest : ::testing::Test {
  std::vector<std::pair<std::string, seconds>> seen;
  Recoveries recoveries{[this](RecoveryStep step, std::chrono::nanoseconds took) {
    seen.emplace_back(RecoveryStepName(step), std::chrono::duration_cast<seconds>(took));
  }};

  // The pods of the job at that second; those whose uid is in `faulty` are.
  void See(int second, std::vector<Task> tasks, const std::string& faulty = "",
           bool restarts = false) {
    std::vector<FaultType> types;
    for (const Task& task : tasks) {
      types.push_back(task.uid == faulty ? FaultType::kCardUnhealthy : FaultType::kHealthy);
    }
    Job job;
    job.tasks = std::move(tasks);
    recoveries.See(kJob, job, types, restarts, Time{} + seconds(second));
  }
};

TEST_F(RecoveriesTest, MeasuresEachStep) {
  See(0, {Ready("1"), Ready("2")});
  See(10, {Ready("1"), Ready("2")}, "2");
  EXPECT_THAT(seen, IsEmpty());
  See(12, {Ready("1"), Ready("2")}, "2", true);
  See(13, {Going("1"), Going("2")}, "2", true);
  See(20, {}, "", true);
  See(22, {Pending("3")}, "", true);
  See(25, {Pending("3"), Pending("4")});
  See(31, {Placed("3"), Pending("4")});
  See(38, {Placed("3"), Placed("4")});
  See(90, {Ready("3"), Placed("4")});
  See(100, {Ready("3"), Ready("4")});
  See(110, {Ready("3"), Ready("4")});
  EXPECT_THAT(seen,
              ElementsAre(std::pair("decided", seconds(2)), std::pair("deleted", seconds(8)),
                          std::pair("recreated", seconds(5)), std::pair("placed", seconds(13)),
                          std::pair("running", seconds(62))));
}

TEST_F(RecoveriesTest, WhoeverDeletesThePods) {
  See(0, {Ready("1"), Ready("2")}, "2");
  See(5, {Ready("1"), Going("2")}, "2");
  EXPECT_THAT(seen, ElementsAre(std::pair("decided", seconds(5))));
  // By force, and recreated before the next one was seen.
  See(9, {Ready("1"), Ready("3")});
  EXPECT_THAT(seen, ElementsAre(std::pair("decided", seconds(5)), std::pair("deleted", seconds(4)),
                                std::pair("recreated", seconds(0)), std::pair("placed", seconds(0)),
                                std::pair("running", seconds(0))));
}

TEST_F(RecoveriesTest, AFaultThatGoesAwayIsNotCounted) {
  See(0, {Ready("1")}, "1");
  See(5, {Ready("1")});
  See(100, {Ready("1")}, "1");
  See(101, {Going("1")}, "1");
  EXPECT_THAT(seen, ElementsAre(std::pair("decided", seconds(1))));
}

TEST_F(RecoveriesTest, AnotherFaultOnTheWayGoesWithTheFirst) {
  See(0, {Ready("1"), Ready("2")}, "1");
  See(1, {Going("1"), Ready("2")}, "2");
  See(2, {Ready("2")}, "2");
  EXPECT_THAT(seen, ElementsAre(std::pair("decided", seconds(1))));
  See(7, {Ready("3"), Ready("4")});
  EXPECT_EQ(seen.size(), static_cast<size_t>(kRecoveryStepCount));
}

TEST_F(RecoveriesTest, WhatIsForgottenBeginsAgain) {
  See(0, {Ready("1")}, "1");
  recoveries.Forget(kJob);
  See(5, {Ready("1")}, "1");
  recoveries.Keep([](const JobKey& key) { return key == kJob; });
  See(7, {Going("1")}, "1");
  EXPECT_THAT(seen, ElementsAre(std::pair("decided", seconds(2))));
  recoveries.Keep([](const JobKey&) { return false; });
  See(9, {});
  EXPECT_EQ(seen.size(), 1u);
}

TEST(Recoveries, NobodyNeedListen) {
  Recoveries recoveries(nullptr);
  Job job;
  job.tasks = {Going("1")};
  recoveries.See(kJob, job, {FaultType::kNodeUnhealthy}, true, Time{});
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
