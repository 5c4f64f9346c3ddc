#include "policies/site/site_policies.h"

#include "policies/site/evaluating.h"

namespace mindgate::policies {
namespace {

using testing::PolicyText;

std::string FaultsOf(const std::string& text, bool found_in_folder = false) {
  const std::vector<SitePolicies::Text> texts = {{"p.yaml", text, found_in_folder}};
  const auto set = SitePolicies::Make(texts);
  return set ? RenderFaults((*set)->warnings(), texts) : RenderFaults(set.error(), texts);
}

// Of every fault its place, what is wrong, and what to write.
TEST(SitePolicies, Faults) {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"sound", PolicyText("  validations: [{expression: 'true'}]"), ""},
      {"an unknown name, in a literal block, at its place",
       PolicyText("  validations:\n  - expression: |\n      object.spec.replicas > 1 &&\n        "
                  "objct.spec.replicas < 3"),
       R"(p.yaml:11:9: undeclared reference to 'objct'
        objct.spec.replicas < 3
        ^
hint: did you mean object?
)"},
      {"in a folded block",
       PolicyText("  validations:\n  - expression: >-\n      object.spec.replicas > 1 &&\n      "
                  "objct.spec.replicas < 3"),
       R"(p.yaml:11:7: undeclared reference to 'objct'
      objct.spec.replicas < 3
      ^
hint: did you mean object?
)"},
      {"in quotes, and all faults at once",
       PolicyText("  validations: [{expression: \"objct == 1\"}, {expression: 'size(1) > '}]"),
       R"(p.yaml:8:31: undeclared reference to 'objct'
  validations: [{expression: "objct == 1"}, {expression: 'size(1) > '}]
                              ^
hint: did you mean object?
p.yaml:8:68: the expression ends too early: a value must stand here
  validations: [{expression: "objct == 1"}, {expression: 'size(1) > '}]
                                                                   ^
)"},
      {"the authorizer",
       PolicyText(
           "  validations:\n  - expression: authorizer.group('apps').check('get').allowed()"),
       R"(p.yaml:9:17: there is no authorizer here: no API server is asked while a policy is decided
  - expression: authorizer.group('apps').check('get').allowed()
                ^
hint: leave checks of permissions to RBAC or to a ValidatingAdmissionPolicy
)"},
      {"a value that is not a bool", PolicyText("  validations: [{expression: '1 + 1'}]"),
       R"(p.yaml:8:30: the expression must give a bool, not int
  validations: [{expression: '1 + 1'}]
                             ^
)"},
      {"a value whose type is not certain",
       PolicyText("  validations: [{expression: object.spec.paused, messageExpression: "
                  "object.metadata.name}]\n  auditAnnotations: [{key: a, valueExpression: "
                  "object.spec.a}]"),
       R"(p.yaml:8:30: warning: that the expression gives a bool only shows when it is evaluated: an API server refuses the policy, and `mindgate export vap` leaves it out
  validations: [{expression: object.spec.paused, messageExpression: object.metadata.name}]
                             ^
hint: write bool(...) around it, or == true behind it
p.yaml:8:69: warning: that the expression gives a string only shows when it is evaluated: an API server refuses the policy, and `mindgate export vap` leaves it out
  validations: [{expression: object.spec.paused, messageExpression: object.metadata.name}]
                                                                    ^
hint: write string(...) around it
p.yaml:9:48: warning: that the expression gives a string only shows when it is evaluated: an API server refuses the policy, and `mindgate export vap` leaves it out
  auditAnnotations: [{key: a, valueExpression: object.spec.a}]
                                               ^
hint: write string(...) around it
)"},
      {"values whose type is certain",
       PolicyText("  variables: [{name: dry, expression: request.dryRun}, {name: who, expression: "
                  "request.userInfo.username}]\n  validations: [{expression: bool(object.spec.a), "
                  "messageExpression: string(object.metadata.name)}, {expression: "
                  "object.spec.paused == true, messageExpression: variables.who}, {expression: "
                  "variables.dry}, {expression: \"namespaceObject.metadata.labels['a'] == 'b'\"}]\n"
                  "  auditAnnotations: [{key: a, valueExpression: request.requestKind.kind}, {key: "
                  "b, valueExpression: 'null'}]"),
       ""},
      {"a value that only mindgate knows",
       PolicyText("  validations: [{expression: 'workload.templates.size() > 0'}, {expression: "
                  "object.spec.paused}]"),
       ""},
      {"null is no message",
       PolicyText("  validations: [{expression: 'true', messageExpression: 'null'}]"),
       R"(p.yaml:8:57: the expression must give a string, not null_type
  validations: [{expression: 'true', messageExpression: 'null'}]
                                                        ^
)"},
      {"a variable that is used before it is there",
       PolicyText("  variables: [{name: a, expression: variables.b}, {name: b, expression: "
                  "'1'}]\n  validations: [{expression: 'variables.a == 1'}]"),
       R"(p.yaml:8:37: undeclared reference to 'variables'
  variables: [{name: a, expression: variables.b}, {name: b, expression: '1'}]
                                    ^
hint: declare it under variables, above what reads it; matchConditions read none
)"},
      {"a variable in a condition",
       PolicyText("  variables: [{name: a, expression: '1'}]\n  matchConditions: [{name: c, "
                  "expression: 'variables.a == 1'}]\n  validations: [{expression: 'true'}]"),
       R"(p.yaml:9:44: undeclared reference to 'variables'
  matchConditions: [{name: c, expression: 'variables.a == 1'}]
                                           ^
hint: declare it under variables, above what reads it; matchConditions read none
)"},
      {"params without paramKind", PolicyText("  validations: [{expression: 'params.a == 1'}]"),
       R"(p.yaml:8:31: undeclared reference to 'params'
  validations: [{expression: 'params.a == 1'}]
                              ^
hint: give the policy a paramKind
)"},
      {"an unknown key", PolicyText("  validation: [{expression: 'true'}]"),
       R"(p.yaml:4:1: the policy checks nothing
spec:
^
hint: write validations, auditAnnotations or both
p.yaml:8:3: unknown key "validation"
  validation: [{expression: 'true'}]
  ^
hint: did you mean "validations"?
)"},
      {"Deny and Warn",
       PolicyText("  validations: [{expression: 'true'}]", "  validationActions: [Deny, Warn]"),
       R"(p.yaml:15:3: Deny and Warn exclude each other: what is denied needs no warning
  validationActions: [Deny, Warn]
  ^
hint: keep one of them
)"},
      {"a binding without a policy",
       PolicyText("  validations: [{expression: 'true'}]", "") +
           "---\napiVersion: admissionregistration.k8s.io/v1\nkind: "
           "ValidatingAdmissionPolicyBinding\nmetadata: {name: c}\nspec: {policyName: pp, "
           "validationActions: [Deny]}\n",
       R"(p.yaml:20:20: warning: the binding has no effect: there is no policy "pp" here
spec: {policyName: pp, validationActions: [Deny]}
                   ^
hint: did you mean "p"?
)"},
      {"a misspelled kind",
       "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissonPolicy\nmetadata: "
       "{name: p}\n",
       R"(p.yaml:2:7: "ValidatingAdmissonPolicy" is not a kind of admissionregistration.k8s.io/v1: the object has no effect
kind: ValidatingAdmissonPolicy
      ^
hint: did you mean "ValidatingAdmissionPolicy"?
)"},
      {"a kind that is far from all",
       "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyList\n",
       R"(p.yaml:2:7: "ValidatingAdmissionPolicyList" is not a kind of admissionregistration.k8s.io/v1: the object has no effect
kind: ValidatingAdmissionPolicyList
      ^
hint: write ValidatingAdmissionPolicy or ValidatingAdmissionPolicyBinding, one object each
)"},
      {"another group", "apiVersion: admission.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n",
       R"(p.yaml:1:13: there is no ValidatingAdmissionPolicyBinding in "admission.k8s.io/v1": the object has no effect
apiVersion: admission.k8s.io/v1
            ^
hint: write apiVersion: admissionregistration.k8s.io/v1
)"},
      {"what only a cluster evaluates",
       "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\n",
       R"(p.yaml:2:7: warning: MutatingAdmissionPolicy has no effect here: mindgate evaluates ValidatingAdmissionPolicies alone
kind: MutatingAdmissionPolicy
      ^
hint: apply it to the cluster
)"},
      {"what is not an object", "cases: []", R"(p.yaml:1:1: this is not an object of Kubernetes
cases: []
^
hint: a file of policies has ValidatingAdmissionPolicies, their bindings and parameters
)"},
  };
  for (const Case& c : cases) EXPECT_EQ(FaultsOf(c.text), c.want) << c.name;
}

// The documents as the items of a List.
std::string ListOf(const std::string& documents) {
  std::string list = "apiVersion: v1\nkind: List\nitems:\n-\n";
  for (size_t begin = 0; begin < documents.size();) {
    const size_t end = std::min(documents.find('\n', begin), documents.size());
    const std::string line = documents.substr(begin, end - begin);
    list += line == "---" ? "-\n" : "  " + line + "\n";
    begin = end + 1;
  }
  return list;
}

// As `kubectl get -o yaml` prints them.
TEST(SitePolicies, InAList) {
  const std::string sound = PolicyText(
      "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: 'false'}]",
      "  paramRef: {name: limits, parameterNotFoundAction: Deny}");
  const auto set = SitePolicies::Make(
      {{"p.yaml",
        ListOf(sound + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits}\n"),
        false}});
  ASSERT_TRUE(set);
  EXPECT_TRUE((*set)->warnings().empty());
  ASSERT_NE((*set)->Find("policy/p"), nullptr);
  EXPECT_EQ((*set)->Find("policy/p")->source, "p.yaml:5, which demands `false`");
  const auto& policy = *(*set)->policies()[0];
  ASSERT_EQ(policy.bindings().size(), 1u);
  EXPECT_EQ(policy.ParamsOf(policy.bindings()[0]).size(), 1u);

  EXPECT_EQ(FaultsOf(ListOf(PolicyText("  validations:\n  - expression: |\n      true &&\n        "
                                       "objct.spec.replicas < 3"))),
            R"(p.yaml:15:11: undeclared reference to 'objct'
          objct.spec.replicas < 3
          ^
hint: did you mean object?
)");
  EXPECT_EQ(FaultsOf("apiVersion: v1\nkind: List\nitems: []\n"), "");
  EXPECT_EQ(FaultsOf("apiVersion: v1\nkind: List\nitems: {}\n"),
            R"(p.yaml:3:1: the items of a List must be a list
items: {}
^
hint: write items: [...]
)");
  EXPECT_EQ(
      FaultsOf("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: []}\n"),
      R"(p.yaml:4:1: a List inside of a List is not read
- {apiVersion: v1, kind: List, items: []}
^
hint: put its items into the outer List
)");
}

TEST(SitePolicies, OfAFolderOtherFilesAreLeftOut) { EXPECT_EQ(FaultsOf("cases: []", true), ""); }

TEST(SitePolicies, APolicyIsThereOnce) {
  const std::string text = PolicyText("  validations: [{expression: 'true'}]");
  const std::vector<SitePolicies::Text> texts = {{"a.yaml", text}, {"b.yaml", text}};
  const auto set = SitePolicies::Make(texts);
  ASSERT_FALSE(set);
  EXPECT_EQ(RenderFaults(set.error(), texts),
            R"(b.yaml:3:18: policy "p" is also in a.yaml:3
metadata: {name: p}
                 ^
hint: rename one of them, or remove it
)");
}

TEST(SitePolicies, AreBounded) {
  std::string text;
  for (size_t i = 0; i <= SitePolicies::kMostPolicies; ++i) {
    text +=
        "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
        "metadata: {name: p" +
        std::to_string(i) +
        "}\nspec:\n  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], "
        "operations: ['*'], resources: ['*']}]}\n  validations: [{expression: 'true'}]\n";
  }
  EXPECT_NE(FaultsOf(text).find("there are more than 256 policies"), std::string::npos);
  const std::vector<SitePolicies::Text> texts = {
      {"large.yaml", "# " + std::string(SitePolicies::kMostBytes, 'x') + "\n"}};
  const auto set = SitePolicies::Make(texts);
  ASSERT_FALSE(set);
  EXPECT_EQ(RenderFaults(set.error(), texts),
            "large.yaml: the policies have more than 4 MiB in all\nhint: remove some of them\n");
}

}  // namespace
}  // namespace mindgate::policies
