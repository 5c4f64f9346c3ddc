#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/installed.h"

namespace mindgate::doctor {
namespace {

// webhook.mutate.enabled and webhook.validate.enabled of the chart leave a configuration out.
struct LeftOut : testing::InstalledFixture {};

TEST_F(LeftOut, IsNotMissed) {
  PutWebhooks(false, {{"mindgate.io/left-out", "mutate"}});
  EXPECT_EQ(Of("registration", Status::kFailed), Texts());
  EXPECT_EQ(Of("registration", Status::kOk),
            (Texts{"nothing is injected, as webhook.mutate.enabled of the chart is false",
                   "ValidatingWebhookConfiguration prod-gate has 1 webhooks"}));
}

TEST_F(LeftOut, MayBeEither) {
  PutWebhooks(true, {{"mindgate.io/left-out", "validate"}});
  EXPECT_EQ(Of("registration", Status::kFailed), Texts());
  EXPECT_EQ(Of("registration", Status::kOk),
            (Texts{"MutatingWebhookConfiguration prod-gate has 1 webhooks",
                   "nothing is validated, as webhook.validate.enabled of the chart is false"}));
}

TEST_F(LeftOut, AndWhatIsMissedWithoutThat) {
  PutWebhooks(false);
  EXPECT_EQ(Of("registration", Status::kFailed),
            Texts{"there is no MutatingWebhookConfiguration prod-gate: nothing is injected"});
}

// The phase is on the one that is there.
TEST_F(LeftOut, TheRolloutPhaseIsReadAllTheSame) {
  PutWebhooks(true, {{"mindgate.io/left-out", "validate"}, {"mindgate.io/rollout-phase", "warn"}});
  EXPECT_EQ(Of("registration", Status::kOk).front(),
            "the rollout phase is warn: what rules would deny is admitted with a warning");
}

}  // namespace
}  // namespace mindgate::doctor
