#include "policies/site/objects.h"

#include "policies/site/evaluating.h"
#include "schemas/site_kinds.h"

namespace mindgate::policies::site {
namespace {

using testing::Asked;
using testing::EvaluateBySite;

std::string PolicyAbout(const std::string& constraints) {
  return R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  validations: [{expression: "false", message: it is evaluated}]
  matchConstraints: )" +
         constraints + R"(
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
)";
}

TEST(MatchingOfPolicies, Table) {
  struct Case {
    std::string name;
    std::string constraints;
    bool want;
    Asked asked = {};
  };
  const std::string all =
      "apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']";
  Asked update;
  update.old_object = std::string(testing::kEvaluatedDeployment);
  Asked gold;
  gold.namespace_labels = {{"tier", "gold"}};
  Asked other_version;
  other_version.object = "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: llm}}";
  const std::vector<Case> cases = {
      {"all", "{resourceRules: [{" + all + "}]}", true},
      {"by its resource",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: "
       "[deployments]}]}",
       true},
      {"another resource",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: "
       "[statefulsets]}]}",
       false},
      {"a subresource",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: "
       "[deployments/scale]}]}",
       false},
      {"it and its subresources",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: "
       "[deployments/*]}]}",
       true},
      {"another resource and its subresources",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: "
       "[statefulsets/*]}]}",
       false},
      {"everything and its subresources",
       "{resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: "
       "['*/*']}]}",
       true},
      {"a subresource of everything",
       "{resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: "
       "['*/scale']}]}",
       false},
      {"it is excluded with its subresources",
       "{resourceRules: [{" + all +
           "}], excludeResourceRules: [{apiGroups: [apps], apiVersions: "
           "['*'], operations: ['*'], resources: [deployments/*]}]}",
       false},
      {"another group",
       "{resourceRules: [{apiGroups: [batch], apiVersions: ['*'], operations: ['*'], resources: "
       "['*/*']}]}",
       false},
      {"the second rule",
       "{resourceRules: [{apiGroups: [batch], apiVersions: ['*'], operations: ['*'], resources: "
       "['*']}, {" +
           all + "}]}",
       true},
      {"another operation",
       "{resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [UPDATE], resources: "
       "['*']}]}",
       false},
      {"an update",
       "{resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [UPDATE], resources: "
       "['*']}]}",
       true, update},
      {"by its name", "{resourceRules: [{" + all + ", resourceNames: [llm]}]}", true},
      {"another name", "{resourceRules: [{" + all + ", resourceNames: [other]}]}", false},
      {"in a namespace", "{resourceRules: [{" + all + ", scope: Namespaced}]}", true},
      {"in none", "{resourceRules: [{" + all + ", scope: Cluster}]}", false},
      {"excluded", "{resourceRules: [{" + all + "}], excludeResourceRules: [{" + all + "}]}",
       false},
      {"another one is excluded",
       "{resourceRules: [{" + all + "}], excludeResourceRules: [{" + all +
           ", resourceNames: [other]}]}",
       true},
      {"an equivalent version",
       "{resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: "
       "['*']}]}",
       true, other_version},
      {"exactly that version",
       "{matchPolicy: Exact, resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: "
       "['*'], resources: ['*']}]}",
       false, other_version},
      {"its label", "{resourceRules: [{" + all + "}], objectSelector: {matchLabels: {app: llm}}}",
       true},
      {"not its label",
       "{resourceRules: [{" + all +
           "}], objectSelector: {matchExpressions: [{key: app, operator: NotIn, values: [llm]}]}}",
       false},
      {"a label that it lacks",
       "{resourceRules: [{" + all +
           "}], objectSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}}",
       true},
      {"a label that it must have",
       "{resourceRules: [{" + all +
           "}], objectSelector: {matchExpressions: [{key: x, operator: Exists}]}}",
       false},
      {"the label of its namespace",
       "{resourceRules: [{" + all + "}], namespaceSelector: {matchLabels: {tier: gold}}}", true,
       gold},
      {"a label that its namespace lacks",
       "{resourceRules: [{" + all + "}], namespaceSelector: {matchLabels: {tier: gold}}}", false},
      {"the name of its namespace",
       "{resourceRules: [{" + all +
           "}], namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a}}}",
       true},
  };
  for (const Case& c : cases) {
    const auto evaluated = EvaluateBySite({PolicyAbout(c.constraints)}, c.asked);
    const std::vector<std::string> want =
        c.want ? std::vector<std::string>{"enforce : it is evaluated"} : std::vector<std::string>{};
    EXPECT_EQ(evaluated.findings, want) << c.name;
    if (!c.want) {
      ASSERT_EQ(evaluated.traces.size(), 1u) << c.name;
      EXPECT_TRUE(evaluated.traces[0].starts_with("policy/p not applicable ("))
          << evaluated.traces[0];
    }
  }
}

// Nothing is refused, and nothing passes, because labels of a namespace are not known: it is
// skipped where they decide.
TEST(MatchingOfPolicies, LabelsOfTheNamespaceMayNotBeKnown) {
  const std::string skipped =
      "policy/p skipped (needs the labels of the namespace, which are not known here)";
  const std::string other = "policy/p not applicable (its matchConstraints do not match)";
  const struct {
    std::string selector;
    std::string trace;
  } cases[] = {
      {"namespaceSelector: {}", "policy/p violated"},
      {"namespaceSelector: {matchLabels: {tier: gold}}", skipped},
      {"namespaceSelector: {matchExpressions: [{key: tier, operator: DoesNotExist}]}", skipped},
      {"namespaceSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [a]}]}",
       skipped},
      {"namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a}}",
       "policy/p violated"},
      {"namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a, tier: gold}}",
       skipped},
      {"namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other, tier: gold}}", other},
      {"namespaceSelector: {matchLabels: {tier: gold}}, objectSelector: {matchLabels: {app: x}}",
       other},
  };
  Asked unknown;
  unknown.knows_namespace_labels = false;
  for (const auto& c : cases) {
    const auto evaluated = EvaluateBySite(
        {PolicyAbout("{resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], "
                     "resources: ['*']}], " +
                     c.selector + "}")},
        unknown);
    EXPECT_EQ(evaluated.traces, std::vector<std::string>{c.trace}) << c.selector;
    EXPECT_EQ(evaluated.skipped.empty(), c.trace != skipped) << c.selector;
  }
}

TEST(MatchingOfPolicies, KindsOfTheSiteAreAmongThem) {
  Asked asked;
  asked.object = "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}}";
  asked.config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed("ray"));
  const struct {
    std::string resources;
    bool evaluated;
  } cases[] = {{"\"*\"", true}, {"rayclusters", true}, {"rayjobs, deployments", false}};
  for (const auto& c : cases) {
    const std::string constraints =
        "{resourceRules: [{apiGroups: [\"*\"], apiVersions: [\"*\"], operations: [\"*\"], "
        "resources: [" +
        c.resources + "]}]}";
    const std::vector<std::string> found = {"enforce : it is evaluated"};
    EXPECT_EQ(EvaluateBySite({PolicyAbout(constraints)}, asked).findings,
              c.evaluated ? found : std::vector<std::string>())
        << c.resources;
  }
}

TEST(MatchingOfPolicies, KindsAreThoseOfTheResources) {
  MatchResources resources;
  resources.rules.push_back(
      {{"batch.volcano.sh", "ome.io"}, {"*"}, {"jobs", "inferenceservices"}, {"*"}});
  const schemas::KindSet kinds = KindsOf(resources, {});
  for (const schemas::KindInfo& info : schemas::kKinds) {
    EXPECT_EQ(kinds.Has(info.kind), info.kind == schemas::Kind::kVolcanoJob ||
                                        info.kind == schemas::Kind::kInferenceService)
        << info.name;
  }
}

}  // namespace
}  // namespace mindgate::policies::site
