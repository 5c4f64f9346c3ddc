#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "why/chat.h"
#include "why/reasons.h"

namespace mindgate::why {
namespace {

using testing::Chat;
using ::testing::ElementsAre;
using testing::Event;
using testing::IdsOf;

// Its phase is Pending because the pod has no node, and not the other way round.
TEST(WhyPods, AClaimThatWaitsForItsPodIsNoReason) {
  Facts facts = Chat();
  facts.pods[0].claims = {"models"};
  facts.pods[0].unscheduled = "0/4 nodes are available";
  facts.claims = {{.name = "models", .phase = "Pending", .storage_class = "local"}};
  EXPECT_THAT(IdsOf(facts), ElementsAre("claim-unbound", "scheduler-message"));
  for (const char* reason : {"WaitForFirstConsumer", "WaitForPodScheduled"}) {
    facts.events = {Event("PersistentVolumeClaim/models", reason, "waiting")};
    EXPECT_THAT(IdsOf(facts), ElementsAre("scheduler-message")) << reason;
    facts.events.push_back(Event("PersistentVolumeClaim/models", "ProvisioningFailed", "no room"));
    EXPECT_THAT(IdsOf(facts), ElementsAre("claim-unbound", "scheduler-message"))
        << "a node was chosen since";
  }
}

}  // namespace
}  // namespace mindgate::why
