#include "policies/site/policy.h"

#include "policies/site/evaluating.h"

namespace mindgate::policies::site {
namespace {

using testing::Asked;
using testing::EvaluateBySite;
using testing::PolicyText;
using Texts = std::vector<std::string>;

constexpr std::string_view kFalse = "  validations: [{expression: 'false', message: never}]";

std::string Binding(const std::string& name, const std::string& rest) {
  return "---\napiVersion: admissionregistration.k8s.io/v1\nkind: "
         "ValidatingAdmissionPolicyBinding\nmetadata: {name: " +
         name + "}\nspec: {policyName: p, " + rest + "}\n";
}

// What the actions of the bindings, the configuration and exceptions make of it.
TEST(ModeOfPolicies, Table) {
  const auto configured = [](schemas::Mode mode) {
    Asked asked;
    asked.config.rules["policy/p"] = mode;
    return asked;
  };
  Asked of_namespace;
  of_namespace.config.namespaces.push_back(
      {.name = "team-*", .rules = {{"policy/p", schemas::Mode::kOff}}});
  Asked excepted;
  excepted.config.exceptions.push_back({.rules = {"policy/p"},
                                        .ns = "team-a",
                                        .kind = "",
                                        .name = "",
                                        .owner = "ann",
                                        .reason = "moves",
                                        .expires = *ParseTime("2099-01-01")});
  Asked capped;
  capped.config.max_mode = schemas::Mode::kWarn;
  const std::string deny = PolicyText(kFalse);
  const std::string warn = PolicyText(kFalse, "  validationActions: [Warn, Audit]");
  // The milder binding is of all objects, the strict one of those with a label that it lacks.
  const std::string two = PolicyText(kFalse, "  validationActions: [Audit]") + "\n" +
                          Binding("c",
                                  "validationActions: [Deny], matchResources: {objectSelector: "
                                  "{matchLabels: {app: other}}}");
  struct Case {
    std::string name;
    std::string policy;
    Texts want;
    Asked asked = {};
  };
  const std::vector<Case> cases = {
      {"Deny", deny, {"enforce : never"}},
      {"Warn and Audit", warn, {"warn : never"}},
      {"Audit", PolicyText(kFalse, "  validationActions: [Audit]"), {"audit : never"}},
      {"the configuration is milder", deny, {"warn : never"}, configured(schemas::Mode::kWarn)},
      {"the configuration is stricter",
       warn,
       {"enforce : never"},
       configured(schemas::Mode::kEnforce)},
      {"off", deny, {}, configured(schemas::Mode::kOff)},
      {"off in its namespace", deny, {}, of_namespace},
      {"excepted", deny, {}, excepted},
      {"maxMode", deny, {"warn : never"}, capped},
      {"the binding that applies is milder than another one", two, {"audit : never"}},
      {"and stays so whatever the configuration says",
       two,
       {"audit : never"},
       configured(schemas::Mode::kEnforce)},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(EvaluateBySite({c.policy}, c.asked).findings, c.want) << c.name;
  }
}

TEST(BindingOfPolicies, OneWithoutABindingIsNotInForce) {
  std::string text = PolicyText(kFalse);
  text = text.substr(0, text.find("---"));
  const auto evaluated = EvaluateBySite({text});
  EXPECT_EQ(evaluated.findings, Texts());
  EXPECT_EQ(evaluated.traces, Texts());
}

// Of two bindings, the one that selects namespaces by labels is left out while these are not known.
TEST(BindingOfPolicies, OneThatNeedsTheNamespaceIsSkippedAlone) {
  const std::string selected =
      PolicyText(kFalse, "  matchResources: {namespaceSelector: {matchLabels: {tier: gold}}}");
  const std::string warns = Binding("c", "validationActions: [Warn]");
  Asked unknown;
  unknown.knows_namespace_labels = false;
  const auto both = EvaluateBySite({selected + "\n" + warns}, unknown);
  EXPECT_EQ(both.findings, Texts{"warn : never"});
  EXPECT_EQ(both.skipped, Texts{"policy/p"});
  const auto alone = EvaluateBySite({selected}, unknown);
  EXPECT_EQ(alone.findings, Texts());
  EXPECT_EQ(
      alone.traces,
      Texts{"policy/p skipped (needs the labels of the namespace, which are not known here)"});
  EXPECT_EQ(EvaluateBySite({selected}).skipped, Texts());
}

TEST(ParametersOfPolicies, Table) {
  const std::string spec =
      "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
      "  validations: [{expression: 'object.spec.replicas <= int(params.data.most)', "
      "messageExpression: \"'at most ' + params.data.most\"}]";
  const std::string limits =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: "
      "team-a, labels: {use: limits}}, data: {most: \"2\"}}";
  const std::string elsewhere =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, "
      "namespace: site}, data: {most: \"1\"}}";
  const std::string by_name = "  paramRef: {name: limits, parameterNotFoundAction: Deny}";
  Asked known;
  known.others = {limits, elsewhere};
  Asked incomplete;
  incomplete.complete = false;
  struct Case {
    std::string name;
    std::string policy;
    Texts findings;
    std::string trace;
    Asked asked = {};
  };
  const std::vector<Case> cases = {
      {"of the object's namespace",
       PolicyText(spec, by_name),
       {"enforce : at most 2"},
       "policy/p violated",
       known},
      {"of the namespace that is named",
       PolicyText(spec,
                  "  paramRef: {name: limits, namespace: site, parameterNotFoundAction: Deny}"),
       {"enforce : at most 1"},
       "policy/p violated",
       known},
      {"by its labels",
       PolicyText(
           spec,
           "  paramRef: {selector: {matchLabels: {use: limits}}, parameterNotFoundAction: Deny}"),
       {"enforce : at most 2"},
       "policy/p violated",
       known},
      {"beside the policy",
       PolicyText(spec, by_name) + "\n---\n" + limits,
       {"enforce : at most 2"},
       "policy/p violated",
       incomplete},
      {"there is none",
       PolicyText(spec, by_name),
       {"error : there is no ConfigMap \"limits\", which binding b names"},
       "policy/p error"},
      {"there may be none",
       PolicyText(spec, "  paramRef: {name: limits, parameterNotFoundAction: Allow}"),
       {},
       "policy/p not applicable (its bindings or matchConditions do not match)"},
      {"nothing is known of it",
       PolicyText(spec, by_name),
       {},
       "policy/p skipped (needs ConfigMap \"limits\", which is not known here)",
       incomplete},
  };
  for (const Case& c : cases) {
    const auto evaluated = EvaluateBySite({c.policy}, c.asked);
    EXPECT_EQ(evaluated.findings, c.findings) << c.name;
    EXPECT_EQ(evaluated.traces, Texts{c.trace}) << c.name;
  }
}

TEST(DescriptionOfPolicies, ComesFromAnnotationsElseFromMessages) {
  std::string text = PolicyText(kFalse);
  const auto plain = testing::SetOf({text});
  const Rule& rule = *plain->Find("policy/p");
  EXPECT_EQ(rule.summary, "never");
  EXPECT_EQ(rule.why, "the site demands it; the policy gives no other reason");
  EXPECT_EQ(
      rule.fix,
      "change what the message names, or ask who wrote the policy; `mindgate explain policy/p "
      "--policies FILE` shows what it demands");
  EXPECT_EQ(rule.source, "a.yaml:1, which demands `false`");
  EXPECT_EQ(TitleOf(rule), "policy/p");
  const std::string before = "{name: p}";
  text.replace(
      text.find(before), before.size(),
      "{name: p, annotations: {mindgate.io/summary: S, mindgate.io/why: W, mindgate.io/fix: F}}");
  const auto annotated = testing::SetOf({text});
  EXPECT_EQ(annotated->Find("policy/p")->summary, "S");
  EXPECT_EQ(annotated->Find("policy/p")->why, "W");
  EXPECT_EQ(annotated->Find("policy/p")->fix, "F");
}

TEST(UsesWorkload, IsTrueOfAnExpressionThatReadsIt) {
  const auto uses = [](std::string_view expression) {
    return testing::SetOf({testing::Demanding(expression)})->policies()[0]->uses_workload();
  };
  EXPECT_TRUE(uses("workload.templates.size() > 0"));
  EXPECT_FALSE(uses("object.metadata.name != 'workload'"));
  EXPECT_FALSE(uses("object.spec.replicas > 1"));
}

}  // namespace
}  // namespace mindgate::policies::site
