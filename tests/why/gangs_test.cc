#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "why/chat.h"
#include "why/reasons.h"

namespace mindgate::why {
namespace {

using testing::Chat;
using ::testing::ElementsAre;
using testing::Event;
using testing::IdsOf;

// A gang of three of which two pods exist, by minMember or by K.
Facts TwoOfThree(bool by_k) {
  Facts facts = Chat();
  facts.groups[0].min_member = by_k ? 1 : 3;
  if (by_k) facts.groups[0].k = 3;
  return facts;
}

std::string GangFixOf(const Facts& facts) {
  const std::vector<Reason> reasons = WhyIsIt(facts).reasons;
  return reasons.front().id + ": " + reasons.front().fix;
}

// A quota may stop the third one: lowering what the gang needs would start it incomplete.
TEST(Gangs, WaitForPodsWhereTheWorkloadDoesNotShowHowManyThereWillBe) {
  for (const bool by_k : {false, true}) {
    for (const char* kind : {"PodGroup", "InferenceService", "StormService", "RayCluster"}) {
      Facts facts = TwoOfThree(by_k);
      facts.kind = kind;
      facts.wanted.reset();
      EXPECT_THAT(IdsOf(facts), ElementsAre("gang-pods-missing")) << kind;
    }
    Facts pod = TwoOfThree(by_k);
    pod.kind = "Pod";
    pod.wanted = 1;
    EXPECT_THAT(IdsOf(pod), ElementsAre("gang-pods-missing"));
    Facts more = TwoOfThree(by_k);
    more.wanted = 3;
    EXPECT_THAT(IdsOf(more), ElementsAre("gang-pods-missing"));
    EXPECT_THAT(IdsOf(TwoOfThree(by_k)),
                ElementsAre(by_k ? "k-too-large" : "min-member-too-large"));
  }
}

TEST(Gangs, TheFixOfMissingPodsIsWhereTheyComeFrom) {
  Facts facts = TwoOfThree(false);
  facts.kind = "PodGroup";
  facts.wanted.reset();
  EXPECT_EQ(GangFixOf(facts),
            "gang-pods-missing: create the pods that are missing, or what makes them");
  facts.owners = {"ReplicaSet/chat-7d", "Deployment/chat"};
  EXPECT_EQ(GangFixOf(facts),
            "gang-pods-missing: find out why Deployment/chat creates no more pods: its Events, or "
            "those of what it makes, have the reason");
}

TEST(Gangs, WhatRefusesTheirPodsComesFirst) {
  for (const bool by_k : {false, true}) {
    Facts facts = TwoOfThree(by_k);
    facts.kind = "PodGroup";
    facts.wanted.reset();
    facts.events = {Event("ReplicaSet/chat-7d", "FailedCreate",
                          "exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2")};
    EXPECT_THAT(IdsOf(facts), ElementsAre("quota-refuses-pods", "gang-pods-missing"));
    facts.groups[0].pods = 3;
    EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-found")) << "the Event stays for an hour";
  }
}

TEST(Gangs, APodThatAStatefulSetMakesInOrderWaitsForItself) {
  for (const bool by_k : {false, true}) {
    Facts facts = TwoOfThree(by_k);
    facts.kind = "StatefulSet";
    facts.makes_in_order = true;
    facts.wanted = 4;
    facts.pods.resize(1);
    facts.groups[0].pods = 1;
    const std::string id = by_k ? "k-too-large" : "min-member-too-large";
    EXPECT_EQ(GangFixOf(facts),
              id + ": create the StatefulSet again with spec.podManagementPolicy: Parallel");
    EXPECT_THAT(IdsOf(facts), ElementsAre(id));
    facts.wanted = 2;
    EXPECT_EQ(GangFixOf(facts),
              id + ": create the StatefulSet again with spec.podManagementPolicy: Parallel, and " +
                  (by_k ? "set the annotation huawei.com/schedule_minAvailable to \"2\" or less"
                        : "set minMember (minAvailable of a job, "
                          "scheduling.volcano.sh/group-min-member of pods) to 2 or less"));
    facts.makes_in_order = false;
    EXPECT_THAT(IdsOf(facts), ElementsAre("gang-pods-missing"));
  }
}

}  // namespace
}  // namespace mindgate::why
