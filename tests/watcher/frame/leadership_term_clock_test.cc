#include <gtest/gtest.h>

#include <chrono>

#include "support/fake_clock.h"
#include "watcher/frame/leadership.h"
#include "watcher/rescheduling_direct.h"

// Deadlines of one leader do not follow its wall clock.
namespace mindgate::watcher {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A fake clock of which somebody sets the wall time.
class SetClock final : public Clock {
 public:
  explicit SetClock(const Clock& clock) : clock_(clock) {}
  Instant Now() const override { return clock_.Now(); }
  Time WallNow() const override { return clock_.WallNow() + ahead; }
  seconds ahead{0};

 private:
  const Clock& clock_;
};

Term TermOf(int64_t since) {
  return {Time(seconds(since)), [] { return true; }, {}};
}

TEST(TermClock, RunsWithTheSteadyClockWithinATerm) {
  mindgate::testing::FakeClock fake;
  SetClock clock(fake);
  TermClock term_clock(clock);
  const Time begin = clock.WallNow();
  EXPECT_EQ(term_clock.Now(TermOf(1)), begin);
  for (const seconds ahead : {seconds(1200), seconds(-3600)}) {
    clock.ahead = ahead;
    fake.Advance(std::chrono::milliseconds(1500));
  }
  EXPECT_EQ(term_clock.Now(TermOf(1)), begin + seconds(3));
  // The next term begins with the wall time that is right by then.
  EXPECT_EQ(term_clock.Now(TermOf(2)), begin + seconds(3 - 3600));
}

// A pod that saves its checkpoint keeps its time, whoever sets the clock.
TEST(ReschedulingClock, ASetWallClockNeitherForcesAPodNorSparesIt) {
  for (const seconds ahead : {seconds(1200), seconds(-3600)}) {
    rescheduling::Direct direct;
    SetClock clock(direct.cluster.clock);
    direct.settings.mode = schemas::ReschedulingMode::kEnforce;
    rescheduling::Reconciler reconciler(direct.writer, clock, direct.logger, direct.decisions,
                                        direct.gate,
                                        {.settings = [&] { return direct.settings; },
                                         .grace_over_time = [] { return minutes(15); }});
    const auto look = [&] {
      rescheduling::Reconciler::Inputs inputs{
          .job = direct.JobNow("train"),
          .faults = std::make_shared<const faults::FaultsByNode>(),
          .not_ready = {"n3"}};
      reconciler.Reconcile({rescheduling::kNs, "train"}, inputs, TermOf(1));
      const auto pod = direct.cluster.Pod("train-3");
      if (pod.is_null()) return "gone";
      return pod["metadata"].contains("deletionTimestamp") ? "ends" : "runs";
    };
    direct.cluster.PutJob("train", {{"fault-scheduling", "grace"}, {"pod-rescheduling", "on"}});
    direct.cluster.PutNode("n3", false);
    ASSERT_STREQ(look(), "ends");
    clock.ahead = ahead;
    direct.cluster.clock.Advance(minutes(14));
    EXPECT_STREQ(look(), "ends") << ahead.count();
    direct.cluster.clock.Advance(minutes(2));
    EXPECT_STREQ(look(), "gone") << ahead.count();
  }
}

}  // namespace
}  // namespace mindgate::watcher
