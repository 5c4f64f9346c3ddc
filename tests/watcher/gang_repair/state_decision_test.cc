#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/text.h"
#include "watcher/gang_repair/state.h"
#include "watcher/rollout_model.h"

namespace mindgate::watcher::gang_repair {

void PrintTo(const Decision& decision, std::ostream* out) {
  *out << static_cast<int>(decision.act) << " k=" << decision.k << " marker=" << decision.marker
       << " \"" << decision.reason << "\"";
}

namespace {

// A rolling update of four replicas, one by one, whose new ReplicaSet has its first pod.
Deployment UnderWay() {
  return {.ns = "serving",
          .name = "chat",
          .uid = "d",
          .replicas = 4,
          .rolling = schemas::RollingUpdate{1, 0},
          .generation = 2,
          .observed_generation = 2,
          .revision = 2,
          .all = 5,
          .updated = 1,
          .available = 4};
}
Gang FirstPod() {
  return {
      .set = {.name = "chat-2", .uid = "s2", .owner = "d", .revision = 2, .replicas = 1, .k = 4},
      .group = PodGroup{.ns = "serving",
                        .name = "podgroup-s2",
                        .uid = "g2",
                        .owner = "s2",
                        .version = "7",
                        .min_member = 1,
                        .k = {},
                        .marker = {}},
      .pods = 1};
}
// All its pods are there and available.
Deployment Done() {
  Deployment deployment = UnderWay();
  deployment.all = deployment.updated = deployment.available = 4;
  return deployment;
}

constexpr const char* kTooFew =
    ", the gang needs 4, and no more are created until they are available (replicas 4, maxSurge 1, "
    "maxUnavailable 0)";

Decision Lowered(const std::string& k, const std::string& marker, const std::string& exist) {
  return {Act::kLower, k, marker, exist + kTooFew};
}
Decision Restored(const std::string& reason) { return {Act::kRestore, "", "", reason}; }
Decision Nothing(const std::string& reason) { return {Act::kNothing, "", "", reason}; }

struct Case {
  const char* name;
  std::function<void(Deployment&, Gang&)> change;
  Decision want;
};

TEST(GangRepairDecision, FollowsTheRolesOfARoleSet) {
  struct RolesCase {
    const char* name;
    int64_t pods;
    std::optional<std::string> k;
    std::optional<std::string> marker;
    Decision want;
  };
  const auto asked = [](const char* pods) {
    return "its roles ask for " + std::string(pods) + ", and the gang needs 5";
  };
  const RolesCase cases[] = {
      {"complete", 5, {}, {}, Nothing(asked("5 pods"))},
      {"more than complete", 6, {}, {}, Nothing(asked("6 pods"))},
      {"scaled down", 2, {}, {}, {Act::kLower, "2", "2", asked("2 pods")}},
      {"the scheduler copied the templates' K",
       2,
       "5",
       {},
       {Act::kLower, "2", "2", asked("2 pods")}},
      {"it is so already", 2, "2", "2", Nothing(asked("2 pods"))},
      {"further down", 1, "2", "2", {Act::kLower, "1", "2,1", asked("1 pod")}},
      {"up again, not all the way", 4, "1", "2,1", {Act::kLower, "4", "2,1,4", asked("4 pods")}},
      {"all the way", 5, "4", "2,1,4", Restored(asked("5 pods"))},
      {"to nothing: nobody waits", 0, {}, {}, Nothing(asked("0 pods"))},
      {"a person's value",
       2,
       "3",
       {},
       Nothing("huawei.com/schedule_minAvailable \"3\" was written on the PodGroup by hand")},
  };
  for (const RolesCase& c : cases) {
    SCOPED_TRACE(c.name);
    const RoleSet roles = {.ns = "serving", .name = "pd-0", .uid = "r", .pods = c.pods, .k = 5};
    PodGroup group = *FirstPod().group;
    group.k = c.k;
    group.marker = c.marker;
    EXPECT_EQ(Decide(roles, group), c.want);
    // What was written needs no second decision.
    if (c.want.act == Act::kLower) {
      group.k = c.want.k;
      group.marker = c.want.marker;
      EXPECT_EQ(Decide(roles, group).act, Act::kNothing);
    }
  }
  const RoleSet roles = {.pods = 2, .k = 5};
  PodGroup strategy = *FirstPod().group;
  strategy.min_member = 2;
  EXPECT_EQ(Decide(roles, strategy), Nothing("minMember is 2, which applies instead"));
  EXPECT_EQ(Decide(roles, std::nullopt), Nothing("its PodGroup does not exist yet"));
}

TEST(GangRepairDecision, FollowsThePodsOfARollout) {
  const Case cases[] = {
      {"the first pod", [](Deployment&, Gang&) {}, Lowered("1", "1", "1 pod exists")},
      {"the first pod of a block of several", [](Deployment&, Gang& g) { g.set.block = 32; },
       Nothing("with sp-block 32, more chips than one pod has, fewer pods are refused: only "
               "strategy Recreate helps")},
      {"what was lowered there before is given back",
       [](Deployment&, Gang& g) {
         g.set.block = 32;
         g.group->k = g.group->marker = "1";
       },
       Restored("with sp-block 32, more chips than one pod has, fewer pods are refused: only "
                "strategy Recreate helps")},
      {"no pod yet", [](Deployment&, Gang& g) { g.pods = 0; }, Lowered("1", "1", "0 pods exist")},
      {"it is so already", [](Deployment&, Gang& g) { g.group->k = g.group->marker = "1"; },
       Nothing("1 pod exists" + std::string(kTooFew))},
      {"one more",
       [](Deployment&, Gang& g) {
         g.pods = 2;
         g.set.replicas = 2;
         g.group->k = g.group->marker = "1";
       },
       Lowered("2", "1,2", "2 pods exist")},
      {"one less",
       [](Deployment&, Gang& g) {
         g.pods = 2;
         g.set.replicas = 2;
         g.group->k = "3";
         g.group->marker = "1,2,3";
       },
       Lowered("2", "1,3,2", "2 pods exist")},
      {"the scheduler copied the template's K from a pod",
       [](Deployment&, Gang& g) { g.group->k = "4"; }, Lowered("1", "1", "1 pod exists")},
      {"an older copy took both away",
       [](Deployment&, Gang& g) {
         g.group->k.reset();
         g.group->marker.reset();
       },
       Lowered("1", "1", "1 pod exists")},
      {"an older copy of the annotation, the marker stayed",
       [](Deployment&, Gang& g) {
         g.pods = 3;
         g.set.replicas = 3;
         g.group->k = "2";
         g.group->marker = "1,2,3";
       },
       Lowered("3", "1,2,3", "3 pods exist")},
      {"the template's K over ours",
       [](Deployment&, Gang& g) {
         g.group->k = "4";
         g.group->marker = "1";
       },
       Lowered("1", "1", "1 pod exists")},
      {"the annotation alone was removed", [](Deployment&, Gang& g) { g.group->marker = "1"; },
       Lowered("1", "1", "1 pod exists")},
      {"the marker is no marker", [](Deployment&, Gang& g) { g.group->marker = "x,,"; },
       Lowered("1", "1", "1 pod exists")},
      {"as many as the gang needs",
       [](Deployment&, Gang& g) {
         g.pods = 4;
         g.set.replicas = 3;
         g.group->k = g.group->marker = "3";
       },
       Restored("4 pods exist, as many as the gang needs")},
      {"the ReplicaSet makes the rest",
       [](Deployment&, Gang& g) {
         g.pods = 3;
         g.set.replicas = 4;
         g.group->k = g.group->marker = "3";
       },
       Restored("the ReplicaSet makes 4 pods, and the gang needs 4")},
      {"done",
       [](Deployment& d, Gang& g) {
         d = Done();
         g.pods = 2;  // reported later than the Deployment's status
         g.group->k = "3";
         g.group->marker = "1,2,3";
       },
       Restored("the rollout is done")},
      {"done, and the scheduler wrote an older copy of ours back",
       [](Deployment& d, Gang& g) {
         d = Done();
         g.group->k = "1";
         g.group->marker = "1";
       },
       Restored("the rollout is done")},
      {"done, and only the marker is left",
       [](Deployment& d, Gang& g) {
         d = Done();
         g.group->marker = "1";
       },
       Restored("the rollout is done")},
      {"done and given back", [](Deployment& d, Gang&) { d = Done(); },
       Nothing("the rollout is done")},
      {"done, with the template's K as the scheduler copies it",
       [](Deployment& d, Gang& g) {
         d = Done();
         g.group->k = "4";
       },
       Nothing("the rollout is done")},
      {"not all available yet",
       [](Deployment& d, Gang& g) {
         d = Done();
         d.available = 3;
         g.set.replicas = g.pods = 4;
         g.group->k = g.group->marker = "3";
       },
       Restored("the ReplicaSet makes 4 pods, and the gang needs 4")},
      {"fewer replicas than K are never a whole gang",
       [](Deployment& d, Gang& g) {
         d.replicas = d.all = d.updated = 2;
         d.available = 1;
         g.set.replicas = g.pods = 2;
       },
       {Act::kLower, "2", "2",
        "2 pods exist, the gang needs 4, and no more are created until they are available "
        "(replicas 2, "
        "maxSurge 1, maxUnavailable 0)"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Deployment deployment = UnderWay();
    Gang gang = FirstPod();
    c.change(deployment, gang);
    EXPECT_EQ(Decide(deployment, gang), c.want);
  }
}

TEST(GangRepairDecision, LeavesAloneWhatNeedsNoRepair) {
  const Case cases[] = {
      {"no PodGroup", [](Deployment&, Gang& g) { g.group.reset(); },
       Nothing("its PodGroup does not exist yet")},
      {"a change that the deployment controller has not seen",
       [](Deployment& d, Gang&) { d.generation = 3; },
       Nothing("the deployment controller has not seen the newest change yet")},
      {"nor numbered", [](Deployment& d, Gang&) { d.revision.reset(); },
       Nothing("the deployment controller has not seen the newest change yet")},
      {"an older ReplicaSet on its way out", [](Deployment& d, Gang&) { d.revision = 3; },
       Nothing("its pods are being replaced by those of a newer template")},
      {"an older one of ours, on its way out",
       [](Deployment& d, Gang& g) {
         d.revision = 3;
         g.set.replicas = 0;
         g.group->k = g.group->marker = "1";
       },
       Nothing("its pods are being replaced by those of a newer template")},
      {"an older one of ours, gone",
       [](Deployment& d, Gang& g) {
         d.revision = 3;
         g.set.replicas = g.pods = 0;
         g.group->k = g.group->marker = "1";
       },
       Restored("the ReplicaSet has no pods left")},
      {"Recreate", [](Deployment& d, Gang&) { d.rolling.reset(); },
       Nothing("with strategy Recreate all pods are created at once")},
      {"changed to Recreate",
       [](Deployment& d, Gang& g) {
         d.rolling.reset();
         g.group->k = g.group->marker = "1";
       },
       Restored("with strategy Recreate all pods are created at once")},
      {"minMember counts", [](Deployment&, Gang& g) { g.group->min_member = 4; },
       Nothing("minMember is 4, which applies instead")},
      {"no minMember", [](Deployment&, Gang& g) { g.group->min_member = 0; },
       Nothing("minMember is 0, which applies instead")},
      {"a new Deployment, whose pods come one after the other",
       [](Deployment& d, Gang& g) {
         d.all = d.updated = 1;
         d.available = 0;
         g.set.replicas = 4;
       },
       Nothing("the ReplicaSet makes 4 pods, and the gang needs 4")},
      {"a pod that a fault took, long after",
       [](Deployment& d, Gang& g) {
         d = Done();
         d.all = d.updated = d.available = 3;
         g.set.replicas = 4;
         g.pods = 3;
       },
       Nothing("the ReplicaSet makes 4 pods, and the gang needs 4")},
      {"the surge holds a gang",
       [](Deployment& d, Gang&) { d.rolling = schemas::RollingUpdate{4, 0}; },
       Nothing("the rolling update makes 4 pods at once, and the gang needs 4")},
      {"surge and what may be unavailable hold it together",
       [](Deployment& d, Gang&) { d.rolling = schemas::RollingUpdate{2, 2}; },
       Nothing("the rolling update makes 4 pods at once, and the gang needs 4")},
      {"scaled to nothing",
       [](Deployment& d, Gang& g) {
         d.replicas = d.all = d.updated = d.available = 0;
         g.set.replicas = g.pods = 0;
       },
       Nothing("the rollout is done")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Deployment deployment = UnderWay();
    Gang gang = FirstPod();
    c.change(deployment, gang);
    EXPECT_EQ(Decide(deployment, gang), c.want);
  }
}

TEST(GangRepairDecision, NeverTouchesWhatAPersonWrote) {
  struct Hand {
    const char* value;
    const char* marker;  // null: none
  };
  const Hand hands[] = {{"2", nullptr}, {"1", nullptr}, {"3", "1,2"}, {"7", "1"},
                        {"all", "1"},   {"", nullptr},  {" 1", "1"},  {"2", "x"}};
  for (const Hand& hand : hands) {
    for (const bool done : {false, true}) {
      Gang gang = FirstPod();
      gang.group->k = hand.value;
      if (hand.marker != nullptr) gang.group->marker = hand.marker;
      EXPECT_EQ(Decide(done ? Done() : UnderWay(), gang),
                Nothing("huawei.com/schedule_minAvailable " + Quote(hand.value) +
                        " was written on the PodGroup by hand"));
    }
  }
}

TEST(GangRepairDecision, TheMarkerStaysSmall) {
  Deployment deployment = UnderWay();
  deployment.replicas = 1000;
  Gang gang = FirstPod();
  gang.set.k = 1000;
  for (int64_t pods = 1; pods < 100; ++pods) {
    gang.pods = gang.set.replicas = pods;
    const Decision decision = Decide(deployment, gang);
    ASSERT_EQ(decision.act, Act::kLower);
    Apply(decision, *gang.group);
  }
  const auto values = Split(*gang.group->marker, ',');
  EXPECT_EQ(values.size(), 32u);
  EXPECT_EQ(values.front(), "68");
  EXPECT_EQ(values.back(), "99");
}

int64_t Below(int64_t n) { return *rc::gen::inRange<int64_t>(0, 1'000'000) % n; }

// Figures of all sizes, whether or not a cluster could ever show them together.
Deployment AnyDeployment() {
  Deployment deployment = UnderWay();
  deployment.replicas = Below(8);
  deployment.rolling = schemas::RollingUpdate{Below(6), Below(6)};
  if (Below(8) == 0) deployment.rolling.reset();
  deployment.observed_generation = 2 - (Below(8) == 0 ? 1 : 0);
  deployment.revision = 2 + (Below(6) == 0 ? 1 : 0);
  deployment.all = Below(10);
  deployment.updated = Below(8);
  deployment.available = Below(8);
  return deployment;
}
Gang AnyGang() {
  Gang gang = FirstPod();
  gang.set.k = 2 + Below(7);
  gang.set.replicas = Below(8);
  gang.pods = Below(8);
  gang.group->min_member = Below(8) == 0 ? 4 : 1;
  const std::vector<std::optional<std::string>> texts = {std::nullopt, "1", "2", "3", "7", "x"};
  const std::vector<std::optional<std::string>> markers = {std::nullopt, "1", "2", "1,2", "3,1,2"};
  gang.group->k = texts[static_cast<size_t>(Below(6))];
  gang.group->marker = markers[static_cast<size_t>(Below(5))];
  return gang;
}

RC_GTEST_PROP(GangRepairDecisionProperty, StaysBetweenOneAndTheTemplate, ()) {
  const Gang gang = AnyGang();
  const Decision decision = Decide(AnyDeployment(), gang);
  RC_ASSERT(!decision.reason.empty());
  RC_ASSERT((decision.act == Act::kLower) == !decision.k.empty());
  if (decision.act != Act::kLower) return;
  const int64_t k = ParseGoInt(decision.k).value();
  RC_ASSERT(k >= 1);
  RC_ASSERT(k < gang.set.k);
  RC_ASSERT(k == std::max<int64_t>(1, gang.pods));
  RC_ASSERT(decision.marker.ends_with(decision.k));
}

RC_GTEST_PROP(GangRepairDecisionProperty, IsIdempotent, ()) {
  const Deployment deployment = AnyDeployment();
  Gang gang = AnyGang();
  Apply(Decide(deployment, gang), *gang.group);
  RC_ASSERT(Decide(deployment, gang).act == Act::kNothing);
}

RC_GTEST_PROP(GangRepairDecisionProperty, LeavesNothingBehindWhenDone, ()) {
  Deployment deployment = AnyDeployment();
  Gang gang = AnyGang();
  gang.group->k = gang.group->marker = "2";
  deployment.observed_generation = deployment.generation;
  deployment.revision = gang.set.revision;
  deployment.all = deployment.updated = deployment.available = deployment.replicas;
  Apply(Decide(deployment, gang), *gang.group);
  RC_ASSERT(!gang.group->k);
  RC_ASSERT(!gang.group->marker);
}

// Of a rollout: replicas, maxSurge, maxUnavailable and K.
using Shape = std::array<int64_t, 4>;

std::vector<Shape> AllShapes() {
  std::vector<Shape> shapes;
  for (int64_t replicas = 0; replicas <= 6; ++replicas) {
    for (int64_t surge = 0; surge <= 7; ++surge) {
      for (int64_t unavailable = 0; unavailable <= 7; ++unavailable) {
        if (surge == 0 && unavailable == 0) continue;  // the API server refuses it
        for (int64_t k = 2; k <= 8; ++k) shapes.push_back({replicas, surge, unavailable, k});
      }
    }
  }
  return shapes;
}

TEST(GangRepairModel, WithoutRepairRolloutsHangWhereTheUpdateMakesTooFewPods) {
  for (const Shape& shape : AllShapes()) {
    const auto [replicas, surge, unavailable, k] = shape;
    RolloutModel model(replicas, {surge, unavailable}, k);
    model.RunToTheEnd(Repair::kOff);
    const bool too_few =
        replicas > 0 && std::min(replicas, surge + std::min(unavailable, replicas)) < k;
    EXPECT_EQ(model.done(), !too_few) << ::testing::PrintToString(shape);
    EXPECT_EQ(PodsBeforeTheFirstIsAvailable(model.deployment()) < k && replicas > 0, too_few);
  }
}

TEST(GangRepairModel, WithRepairEveryRolloutEnds) {
  for (const Shape& shape : AllShapes()) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    const auto [replicas, surge, unavailable, k] = shape;
    RolloutModel model(replicas, {surge, unavailable}, k);
    model.RunToTheEnd(Repair::kOn);
    EXPECT_TRUE(model.done());
    EXPECT_EQ(model.gang().group->k, std::nullopt) << "the template's K counts again";
    EXPECT_EQ(model.gang().group->marker, std::nullopt);
    const bool needed = replicas > 0 && PodsBeforeTheFirstIsAvailable(model.deployment()) < k;
    EXPECT_EQ(!model.written().empty(), needed) << "only where it is needed";
    for (const int64_t value : model.written()) {
      EXPECT_GE(value, 1);
      EXPECT_LT(value, k);
    }
  }
}

// The scheduler writes the template's K, or nothing, over ours after every step.
TEST(GangRepairModel, WritesOfTheSchedulerDoNotStopIt) {
  for (const Shape& shape : AllShapes()) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    const auto [replicas, surge, unavailable, k] = shape;
    for (const bool absent : {false, true}) {
      RolloutModel model(replicas, {surge, unavailable}, k);
      model.after_each_step = [&](PodGroup& group) {
        group.k = absent ? std::nullopt : std::optional(std::to_string(k));
      };
      model.RunToTheEnd(Repair::kOn);
      EXPECT_TRUE(model.done());
      EXPECT_EQ(model.gang().group->marker, std::nullopt);
    }
  }
}

TEST(GangRepairModel, OneByOneTheValueFollowsThePods) {
  RolloutModel model(4, {1, 0}, 4);
  model.RunToTheEnd(Repair::kOn);
  EXPECT_EQ(model.written(), (std::vector<int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace mindgate::watcher::gang_repair
