#include "policies/site/evaluation.h"

#include "policies/site/evaluating.h"

namespace mindgate::policies::site {
namespace {

using testing::Asked;
using testing::Demanding;
using testing::EvaluateBySite;
using testing::PolicyText;
using Texts = std::vector<std::string>;

const std::string kNoKey =
    "no such key: 'none'; ask with has(), or write .? or [?] and orValue() for what may be missing";

struct EvaluationCase {
  std::string name;
  std::string policy;
  Texts findings = {};
  Texts traces = {};
  Asked asked = {};
};

void ExpectEvaluations(const std::vector<EvaluationCase>& cases) {
  for (const EvaluationCase& c : cases) {
    const auto evaluated = EvaluateBySite({c.policy}, c.asked);
    EXPECT_EQ(evaluated.findings, c.findings) << c.name;
    EXPECT_EQ(evaluated.traces, c.traces) << c.name;
  }
}

TEST(EvaluationOfPolicies, Validations) {
  ExpectEvaluations({
      {"holds", Demanding("object.spec.replicas > 2"), {}, {"policy/p passed"}},
      {"does not, without a message",
       Demanding("object.spec.replicas > 3"),
       {"enforce : this does not hold: `object.spec.replicas > 3`"},
       {"policy/p violated"}},
      {"a message",
       PolicyText("  validations: [{expression: 'object.spec.replicas > 3', message: Too few.}]"),
       {"enforce : Too few"},
       {"policy/p violated"}},
      {"a message of its own, which wins",
       PolicyText("  validations: [{expression: 'object.spec.replicas > 3', message: few, "
                  "messageExpression: \"'only ' + string(object.spec.replicas)\"}]"),
       {"enforce : only 3"},
       {"policy/p violated"}},
      {"a messageExpression that fails leaves the message",
       PolicyText("  validations: [{expression: 'object.spec.replicas > 3', message: few, "
                  "messageExpression: 'object.spec.none.text'}]"),
       {"enforce : few"},
       {"policy/p violated"}},
      {"an empty one, too",
       PolicyText("  validations: [{expression: 'object.spec.replicas > 3', message: few, "
                  "messageExpression: \"' '\"}]"),
       {"enforce : few"},
       {"policy/p violated"}},
      {"a message that names a field",
       PolicyText("  validations: [{expression: 'false', message: "
                  "'spec.template.spec.containers[0].image: not from our registry'}]"),
       {"enforce spec.template.spec.containers[0].image: not from our registry"},
       {"policy/p violated"}},
      {"all that does not hold",
       PolicyText("  validations:\n  - {expression: 'false', message: one}\n  - {expression: "
                  "'true', message: two}\n  - {expression: 'false', message: three}"),
       {"enforce : one", "enforce : three"},
       {"policy/p violated"}},
      {"an error is never a pass",
       Demanding("object.spec.none > 1"),
       {"error : `object.spec.none > 1` cannot be evaluated: " + kNoKey + " (a.yaml:10)"},
       {"policy/p error"}},
      {"with failurePolicy Ignore it is skipped, and not passed",
       PolicyText("  failurePolicy: Ignore\n  validations: [{expression: 'object.spec.none > 1'}]"),
       {},
       {"policy/p skipped (`object.spec.none > 1` cannot be evaluated: " + kNoKey +
        " (a.yaml:9); failurePolicy is Ignore)"}},
      {"what is not a bool",
       Demanding("object.spec.replicas"),
       {"error : `object.spec.replicas` cannot be evaluated: it is not a bool (a.yaml:10)"},
       {"policy/p error"}},
  });
}

TEST(EvaluationOfPolicies, Conditions) {
  const std::string validations = "\n  validations: [{expression: 'false', message: evaluated}]";
  ExpectEvaluations({
      {"holds",
       PolicyText("  matchConditions: [{name: a, expression: 'object.spec.replicas == 3'}]" +
                  validations),
       {"enforce : evaluated"},
       {"policy/p violated"}},
      {"does not",
       PolicyText("  matchConditions: [{name: a, expression: 'object.spec.replicas == 4'}]" +
                  validations),
       {},
       {"policy/p not applicable (its bindings or matchConditions do not match)"}},
      {"one that fails is an error",
       PolicyText("  matchConditions: [{name: a, expression: 'object.none == 4'}]" + validations),
       {"error : condition \"a\" cannot be evaluated: " + kNoKey + " (a.yaml:8)"},
       {"policy/p error"}},
      {"one that does not hold decides all the same",
       PolicyText("  matchConditions: [{name: a, expression: 'object.none == 4'}, {name: b, "
                  "expression: 'false'}]" +
                  validations),
       {},
       {"policy/p not applicable (its bindings or matchConditions do not match)"}},
  });
}

TEST(EvaluationOfPolicies, Variables) {
  ExpectEvaluations({
      {"one of another one",
       PolicyText("  variables: [{name: a, expression: 'object.spec.replicas'}, {name: b, "
                  "expression: 'variables.a + 1'}]\n  validations: [{expression: 'variables.b == "
                  "4'}]"),
       {},
       {"policy/p passed"}},
      {"one that nobody reads is not evaluated",
       PolicyText("  variables: [{name: a, expression: 'object.none'}]\n  validations: "
                  "[{expression: 'true'}]"),
       {},
       {"policy/p passed"}},
      {"one that fails, where it is read",
       PolicyText("  variables: [{name: a, expression: 'object.none'}]\n  validations: "
                  "[{expression: 'variables.a == 1'}, {expression: 'true || variables.a'}]"),
       {"error : `variables.a == 1` cannot be evaluated: variables.a: no such key: 'none' "
        "(a.yaml:9)"},
       {"policy/p error"}},
      {"where it is read again, and at the place of that",
       PolicyText("  variables: [{name: a, expression: 'object.none'}]\n  validations:\n"
                  "  - {expression: 'variables.a == 1'}\n"
                  "  - expression: |-\n      true &&\n      variables.a == 2"),
       {"error : `variables.a == 1` cannot be evaluated: variables.a: no such key: 'none' "
        "(a.yaml:10)",
        "error : `true && variables.a == 2` cannot be evaluated: variables.a: no such key: 'none' "
        "(a.yaml:13)"},
       {"policy/p error"}},
  });
}

TEST(EvaluationOfPolicies, Requests) {
  Asked update;
  update.old_object = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: team-a}
spec: {replicas: 2}
)";
  Asked gold;
  gold.namespace_labels = {{"tier", "gold"}};
  Asked unknown_namespace;
  unknown_namespace.knows_namespace_labels = false;
  Asked user;
  user.user_info = "{username: ann, groups: [team-x]}";
  Asked dry_run;
  dry_run.dry_run = true;
  dry_run.options =
      "{kind: CreateOptions, apiVersion: meta.k8s.io/v1, fieldManager: kubectl, dryRun: [All]}";
  ExpectEvaluations({
      {"what is stored",
       Demanding("!request.dryRun && request.options == {'kind': 'CreateOptions', 'apiVersion': "
                 "'meta.k8s.io/v1'}"),
       {},
       {"policy/p passed"}},
      {"what is only tried",
       Demanding("request.dryRun && request.options.fieldManager == 'kubectl'"),
       {},
       {"policy/p passed"},
       dry_run},
      {"an update",
       Demanding("request.options.kind == 'UpdateOptions'"),
       {},
       {"policy/p passed"},
       update},
      {"without an old object", Demanding("oldObject == null"), {}, {"policy/p passed"}},
      {"with one",
       Demanding("object.spec.replicas - oldObject.spec.replicas == 1"),
       {},
       {"policy/p passed"},
       update},
      {"what the request says",
       Demanding("request.operation == 'CREATE' && request.kind.kind == 'Deployment' && "
                 "request.resource.resource == 'deployments' && request.name == 'llm' && "
                 "request.namespace == 'team-a' && request.resource.version == 'v1'"),
       {},
       {"policy/p passed"}},
      {"its namespace",
       Demanding("namespaceObject.metadata.labels.tier == 'gold' && namespaceObject.metadata.name "
                 "== 'team-a'"),
       {},
       {"policy/p passed"},
       gold},
      {"a namespace whose labels are not known",
       Demanding("!has(namespaceObject.metadata.labels.tier)"),
       {},
       {"policy/p skipped (needs the labels of the namespace, which are not known here)"},
       unknown_namespace},
      {"its user", Demanding("'team-x' in request.userInfo.groups"), {}, {"policy/p passed"}, user},
      {"a user who is not known",
       Demanding("'team-x' in request.userInfo.groups"),
       {},
       {"policy/p skipped (needs the user of the request, who is not known here)"}},
      {"a user who is not known, in a variable that two expressions read",
       PolicyText("  variables: [{name: mine, expression: \"'team-x' in "
                  "request.userInfo.groups\"}]\n  validations: [{expression: variables.mine}, "
                  "{expression: '!variables.mine'}]"),
       {},
       {"policy/p skipped (needs the user of the request, who is not known here)"}},
      {"in a condition, which might be false",
       PolicyText("  matchConditions: [{name: a, expression: 'object.none == 4'}, {name: b, "
                  "expression: \"request.userInfo.username == 'ann'\"}, {name: c, expression: "
                  "'true'}]\n  validations: [{expression: 'false'}]"),
       {},
       {"policy/p skipped (needs the user of the request, who is not known here)"}},
      {"in a condition beside one that is false",
       PolicyText("  matchConditions: [{name: b, expression: \"request.userInfo.username == "
                  "'ann'\"}, {name: c, expression: 'false'}]\n  validations: [{expression: "
                  "'false'}]"),
       {},
       {"policy/p not applicable (its bindings or matchConditions do not match)"}},
      {"a user who does not matter",
       Demanding("'team-x' in request.userInfo.groups || object.spec.replicas == 3"),
       {},
       {"policy/p passed"}},
  });
}

TEST(EvaluationOfPolicies, AuditAnnotations) {
  const auto evaluated = EvaluateBySite({PolicyText(
      "  auditAnnotations:\n  - {key: replicas, valueExpression: 'string(object.spec.replicas)'}\n"
      "  - {key: none, valueExpression: 'null'}\n"
      "  - {key: bad, valueExpression: 'object.none'}")});
  EXPECT_EQ(evaluated.annotations, Texts{"p.replicas=3"});
  EXPECT_EQ(
      evaluated.findings,
      Texts{"error : audit annotation \"bad\" cannot be evaluated: " + kNoKey + " (a.yaml:11)"});
}

// Whoever writes it so cannot hold a decision up: what all expressions cost together is bounded.
TEST(EvaluationOfPolicies, CostIsBoundedForAllExpressionsTogether) {
  const std::string loops =
      "lists.range(100).all(a, lists.range(100).all(b, lists.range(100).all(c, a + b + c >= 0)))";
  const auto evaluated =
      EvaluateBySite({PolicyText("  variables: [{name: v, expression: '" + loops +
                                 "'}]\n  validations: [{expression: 'variables.v'}, {expression: "
                                 "'object.spec.replicas > 2'}]")});
  ASSERT_EQ(evaluated.findings.size(), 2u);
  for (const std::string& finding : evaluated.findings) {
    EXPECT_NE(finding.find("the expression takes more steps than it may"), std::string::npos)
        << finding;
  }
}

}  // namespace
}  // namespace mindgate::policies::site
