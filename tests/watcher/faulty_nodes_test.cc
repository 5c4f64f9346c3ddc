#include "watcher/rescheduling/faulty_nodes.h"

#include <gtest/gtest.h>

namespace mindgate::watcher::rescheduling {
namespace {

TEST(FaultyNodes, CountThoseThatTakePodsAway) {
  struct Case {
    FaultyNodes::Seen seen;
    bool faulty;
    bool vanished;
  };
  const Case cases[] = {
      {{.exists = true, .ready = true}, false, false},
      {{.exists = true, .ready = true, .has_pods = true}, false, false},
      {{.exists = true, .ready = false}, true, false},
      {{.exists = true, .ready = true, .reported = true}, true, false},
      {{.has_pods = true}, true, true},
      {{.reported = true, .has_pods = true}, true, true},
      // Removed from the cluster, and its reports are left.
      {{.reported = true}, false, false},
      {{}, false, false},
  };
  FaultyNodes::Seen now;
  FaultyNodes nodes([&](const std::string&) { return now; });
  // From each to each: what was counted before leaves nothing behind.
  for (const Case& before : cases) {
    for (const Case& after : cases) {
      now = before.seen;
      nodes.Changed("n");
      now = after.seen;
      nodes.Changed("n");
      EXPECT_EQ(nodes.counts().faulty, after.faulty ? 1U : 0U);
      EXPECT_EQ(nodes.counts().vanished, after.vanished ? 1U : 0U);
    }
  }
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
