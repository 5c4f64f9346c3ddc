#include "webhook/review_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/config_files.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using ::testing::HasSubstr;
using testing::ReviewText;
using testing::ServerFixture;

// Denies everything in namespaces with the label tier: gold.
constexpr const char* kOfGold = R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [{expression: "false", message: not here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {tier: gold}}}
)";

struct ReviewHandlerFixture : ::testing::Test {
  ReviewHandlerFixture() {
    schemas::Config loaded;
    loaded.generation = "g";
    EXPECT_TRUE(admission::SetPolicies({{"p.yaml", kOfGold}}, loaded));
    fixture.config.Set(std::make_shared<const schemas::Config>(loaded));
  }
  std::string Ask() { return fixture.Ask(ReviewText(), "/validate?timeout=5s"); }
  size_t SkipsInLog() {
    size_t count = 0;
    for (const std::string& line : fixture.Lines()) {
      count += line.find("policies were skipped") != std::string::npos ? 1 : 0;
    }
    return count;
  }

  ServerFixture fixture;
};

TEST_F(ReviewHandlerFixture, PoliciesKnowTheLabelsOfTheNamespace) {
  std::string asked;
  fixture.namespace_labels = [&](std::string_view ns) {
    asked = ns;
    return schemas::NamespaceLabels{{"tier", "gold"}};
  };
  EXPECT_THAT(Ask(), HasSubstr("policy/p: not here"));
  EXPECT_EQ(asked, "team-a");
  fixture.namespace_labels = [](std::string_view) {
    return schemas::NamespaceLabels{{"tier", "lead"}};
  };
  EXPECT_THAT(Ask(), HasSubstr("\"allowed\":true"));
  EXPECT_EQ(SkipsInLog(), 0);
}

// Never a reason to refuse, and never silent.
TEST_F(ReviewHandlerFixture, PoliciesAreSkippedVisiblyWhileTheLabelsAreNotKnown) {
  EXPECT_THAT(Ask(), HasSubstr("\"allowed\":true"));
  EXPECT_EQ(SkipsInLog(), 1);
  EXPECT_THAT(fixture.Lines().back(),
              HasSubstr("needs the labels of the namespace, which are not known here"));
  EXPECT_THAT(fixture.Probe("/metrics"),
              HasSubstr("mindgate_rule_findings_total{mode=\"skipped\",rule=\"policy/p\"} 1"));
  for (int i = 0; i < 50; ++i) Ask();
  EXPECT_LT(SkipsInLog(), 10);
}

}  // namespace
}  // namespace mindgate::webhook
