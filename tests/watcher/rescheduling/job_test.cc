#include "watcher/rescheduling/job.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

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
