#include "watcher/rescheduling/nodes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/fake_clock.h"

namespace mindgate::watcher::rescheduling {
namespace {

using std::chrono::seconds;

const std::vector<JobKey> kJobs = {{"ns", "train"}};

TEST(FaultyNodes, CountThoseThatTakePodsAway) {
  struct Case {
    FaultyNodes::Seen seen;
    bool faulty;
    bool vanished;
  };
  const Case cases[] = {
      {{.exists = true, .ready = true}, false, false},
      {{.exists = true, .ready = true, .jobs = kJobs}, false, false},
      {{.exists = true, .ready = false}, true, false},
      {{.exists = true, .ready = true, .reported = true}, true, false},
      {{.jobs = kJobs}, true, true},
      {{.reported = true, .jobs = kJobs}, true, true},
      // Removed from the cluster, and its reports are left.
      {{.reported = true}, false, false},
      {{}, false, false},
  };
  const mindgate::testing::FakeClock clock;
  FaultyNodes::Seen now;
  FaultyNodes nodes(clock, {.see = [&](const std::string&) { return now; }});
  // From each to each: what was counted before leaves nothing behind.
  for (const Case& before : cases) {
    for (const Case& after : cases) {
      now = before.seen;
      nodes.Changed({"n"});
      now = after.seen;
      nodes.Changed({"n"});
      EXPECT_EQ(nodes.counts().faulty, after.faulty ? 1U : 0U);
      EXPECT_EQ(nodes.counts().vanished, after.vanished ? 1U : 0U);
    }
  }
}

struct Counting {
  explicit Counting(seconds settle = seconds(0))
      : nodes(clock, {.see = [this](const std::string& node) { return seen[node]; },
                      .settle = [settle] { return settle; }}) {}

  void Break(const std::vector<std::string>& names, const std::string& report = "") {
    for (const std::string& name : names) seen[name] = {.exists = true};
    nodes.Changed(names, report);
  }
  void Heal(const std::string& name) {
    seen[name] = {.exists = true, .ready = true};
    nodes.Changed({name});
  }
  // Until when nothing begins, in seconds from now; 0: it may begin.
  double Settles() const {
    const Refusal refusal = nodes.Brake(1000, 30);
    if (!refusal.refused()) return 0;
    EXPECT_TRUE(refusal.brief) << refusal.why;
    return std::chrono::duration<double>(*refusal.again - clock.Now()).count();
  }

  mindgate::testing::FakeClock clock;
  std::map<std::string, FaultyNodes::Seen> seen;
  FaultyNodes nodes;
};

// Whoever may create pods may name nodes that never were.
TEST(FaultyNodes, NodesThatNobodySawCountNoMoreThanTheJobsThere) {
  Counting counting;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "ghost-" + std::to_string(i);
    counting.seen[name] = {.jobs = {{"tenant", i % 2 == 0 ? "a" : "b"}}};
    counting.nodes.Changed({name});
  }
  EXPECT_EQ(counting.nodes.counts().faulty, 2U);
  EXPECT_EQ(counting.nodes.WhyStopped(10, 30), "");
  // Nodes that were there count one by one.
  for (int i = 0; i < 3; ++i) {
    const std::string name = "lost-" + std::to_string(i);
    counting.seen[name] = {.jobs = kJobs};
    counting.nodes.Left(name);
    counting.nodes.Changed({name});
    EXPECT_TRUE(counting.nodes.HasLeft(name));
  }
  EXPECT_EQ(counting.nodes.counts().faulty, 5U);
  EXPECT_EQ(counting.nodes.counts().vanished, 5U);
  for (auto& [name, seen] : counting.seen) {
    seen = {};
    counting.nodes.Changed({name});
    EXPECT_FALSE(counting.nodes.HasLeft(name)) << "it has no pods any more";
  }
  EXPECT_EQ(counting.nodes.counts().faulty, 0U);
}

TEST(FaultyNodes, NothingBeginsBeforeTheCountHasSettled) {
  Counting counting(seconds(2));
  EXPECT_EQ(counting.Settles(), 0);
  counting.Break({"n1"});
  EXPECT_EQ(counting.Settles(), 2);
  counting.clock.Advance(seconds(1));
  EXPECT_EQ(counting.Settles(), 1);
  counting.Break({"n2"});
  EXPECT_EQ(counting.Settles(), 2) << "the number still grows";
  counting.nodes.Changed({"n1", "n2"});
  EXPECT_EQ(counting.Settles(), 2) << "it does not grow by what is known";
  counting.clock.Advance(seconds(2));
  EXPECT_EQ(counting.Settles(), 0);
  counting.Heal("n1");
  counting.clock.Advance(seconds(20));
  counting.Break({"n1"});
  EXPECT_EQ(counting.Settles(), 0) << "a node that flaps holds nobody back again and again";
  counting.Heal("n1");
  counting.clock.Advance(seconds(61));
  counting.Break({"n1"});
  EXPECT_EQ(counting.Settles(), 2);
}

TEST(FaultyNodes, SettlingEndsAfterTenSeconds) {
  Counting counting(seconds(2));
  for (int second = 0; second < 10; ++second) {
    counting.Break({"n" + std::to_string(second)});
    EXPECT_GT(counting.Settles(), 0) << second;
    counting.clock.Advance(seconds(1));
  }
  counting.Break({"n10"});
  EXPECT_EQ(counting.Settles(), 0);
}

TEST(FaultyNodes, ManyAtOnceHaveACommonCause) {
  Counting counting;
  counting.Break({"n1", "n2", "n3", "n4"}, "ConfigMap mindx-dl/cluster-info-device-0");
  EXPECT_EQ(counting.nodes.WhyStopped(10, 30),
            "4 of 10 nodes are faulty, which is more than maxFaultyNodes (30 %); ConfigMap "
            "mindx-dl/cluster-info-device-0 called 4 of them faulty at once");
  counting.Heal("n1");
  counting.Heal("n2");
  counting.Break({"n5", "n6"}, "ConfigMap mindx-dl/cluster-info-device-1");
  EXPECT_EQ(counting.nodes.WhyStopped(10, 30),
            "4 of 10 nodes are faulty, which is more than maxFaultyNodes (30 %)")
      << "two at once are no burst, and the one before is over";
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
