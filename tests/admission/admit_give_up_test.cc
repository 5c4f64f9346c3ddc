#include <gtest/gtest.h>

#include <climits>

#include "admission/admit.h"
#include "support/mutations.h"

// A decision that nobody waits for any more ends at the next rule or mutator, and is neither an
// admission nor a denial.
namespace mindgate::testing {
namespace {

TEST(GiveUp, EndsWhereverTheRequestIsOver) {
  const json::Document object(Workload(schemas::Kind::kDeployment, {NpuContainer()}));
  int asked = 0;
  int over_after = 0;
  schemas::AdmissionRequest request;
  request.object = &object.root();
  request.is_over = [&] { return ++asked > over_after; };
  over_after = INT_MAX;
  EXPECT_EQ(admission::Admit(request, schemas::Config()).outcome, admission::Outcome::kAdmitted);
  const int all = asked;
  EXPECT_GT(all, 40) << "asked for each rule and mutator";
  for (over_after = 0; over_after < all; ++over_after) {
    asked = 0;
    const auto verdict = admission::Admit(request, schemas::Config());
    EXPECT_EQ(verdict.outcome, admission::Outcome::kError) << over_after;
    EXPECT_TRUE(verdict.gave_up) << over_after;
    EXPECT_TRUE(verdict.patch.empty()) << over_after;
    EXPECT_EQ(asked, over_after + 1) << "nothing runs after that";
    ASSERT_EQ(verdict.findings.size(), 1u);
    EXPECT_EQ(verdict.findings[0].message, "the decision took too long and was given up");
  }
}

}  // namespace
}  // namespace mindgate::testing
