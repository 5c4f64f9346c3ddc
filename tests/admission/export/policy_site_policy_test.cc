#include "admission/export/policy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "json/yaml.h"
#include "policies/site/evaluating.h"
#include "support/exported.h"
#include "support/samples.h"

namespace mindgate {
namespace {

using nlohmann::ordered_json;
using schemas::Config;
using schemas::Mode;
using testing::PolicyText;
using SiteLines = std::vector<std::string>;

exported::ExportedSitePolicies ExportAll(const Config& config,
                                         const exported::ExportOptions& options = {}) {
  std::vector<const policies::site::SitePolicy*> all;
  for (const auto& policy : config.policies->policies()) all.push_back(policy.get());
  return exported::SitePoliciesOf(all, config, options);
}

exported::ExportedSitePolicies Export(const std::vector<std::string>& texts, Config config = {},
                                      const exported::ExportOptions& options = {}) {
  config.policies = testing::SetOf(texts, config.kinds);
  return ExportAll(config, options);
}

std::string TextOf(const exported::ExportedSitePolicies& all) {
  std::string text;
  for (const auto& document : all.params) text += "---\n" + json::EncodeYaml(json::Json(document));
  for (const auto& document : all.policies) {
    text += "---\n" + json::EncodeYaml(json::Json(document));
  }
  return text;
}

// "POLICY" of each policy, and "BINDING: ACTIONS of POLICY" of each binding.
SiteLines OutlineOfSite(const exported::ExportedSitePolicies& all) {
  SiteLines lines;
  for (const ordered_json& document : all.policies) {
    std::string line = document["metadata"]["name"];
    if (document["kind"] == "ValidatingAdmissionPolicyBinding") {
      line += ": " + document["spec"]["validationActions"].dump() + " of " +
              document["spec"]["policyName"].get<std::string>();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string BindingText(std::string_view name, std::string_view spec) {
  return "\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: "
         "ValidatingAdmissionPolicyBinding\nmetadata: {name: " +
         std::string(name) + "}\nspec: {policyName: p, " + std::string(spec) + "}\n";
}

// A policy about Deployments with a binding "b".
std::string BoundText(std::string_view actions = "[Deny]") {
  return PolicyText("  validations: [{expression: 'object.spec.replicas < 9'}]",
                    "  validationActions: " + std::string(actions));
}

TEST(ExportedSitePolicies, KeepWhatWasWritten) {
  const std::string policy = R"(
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicy
metadata:
  name: few-replicas
  resourceVersion: "7"
  labels: {app.kubernetes.io/name: team, team: a}
  annotations:
    mindgate.io/summary: Few replicas
    kubectl.kubernetes.io/last-applied-configuration: "{}"
spec:
  failurePolicy: Ignore
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: ["*"], operations: ["*"], resources: ["*"]}
  matchConditions:
  - {name: not-mine, expression: "object.metadata.name != 'mine'"}
  variables:
  - {name: most, expression: int(params.data.most)}
  validations:
  - {expression: object.spec.replicas <= variables.most, reason: Invalid, message: too many}
status: {observedGeneration: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {most: "3"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {most: "3"}
)";
  const std::string binding = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few-replicas-of-a, uid: u}
spec:
  policyName: few-replicas
  paramRef: {name: limits, namespace: policies, parameterNotFoundAction: Allow}
  validationActions: [Audit, Deny]
  matchResources:
    matchPolicy: Exact
    namespaceSelector:
      matchLabels: {team: a}
    resourceRules:
    - {apiGroups: ["*"], apiVersions: [v1], operations: [UPDATE, DELETE], resources: [deployments, nodes]}
)";
  Config config;
  config.max_mode = Mode::kWarn;
  config.exceptions = {{{"policy/few-replicas"}, "prod", "", "", "team", "reason", Time::max()}};
  const auto all = Export(
      {policy, binding}, config,
      {.excluded_namespaces = {"kube-system"},
       .namespace_selector = {{"matchExpressions", {{{"key", "zone"}, {"operator", "Exists"}}}}}});
  EXPECT_EQ(TextOf(all), R"yaml(---
apiVersion: v1
data:
  most: '3'
kind: ConfigMap
metadata:
  name: limits
  namespace: policies
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  annotations:
    mindgate.io/summary: Few replicas
  labels:
    app.kubernetes.io/component: exported-policy
    app.kubernetes.io/name: team
    team: a
  name: few-replicas
spec:
  failurePolicy: Ignore
  matchConditions:
  - expression: object.metadata.name != 'mine'
    name: not-mine
  - expression: '!object.?metadata.?deletionTimestamp.hasValue()'
    name: mindgate.io/not-being-deleted
  - expression: request.operation == 'CREATE' || (object.?metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) || object.?metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({}) || object.?spec != oldObject.?spec || object.?data != oldObject.?data)
    name: mindgate.io/new-or-changed
  - expression: '!object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && (o.apiVersion.contains(''/'') ? o.apiVersion.split(''/'')[0] : '''') + ''/'' + string(o.kind) + '' makes '' + request.kind.group + ''/'' + request.kind.kind in [''apps/Deployment makes apps/ReplicaSet'', ''leaderworkerset.x-k8s.io/LeaderWorkerSet makes apps/StatefulSet'', ''ome.io/InferenceService makes apps/Deployment'', ''mindcluster.huawei.com/InstanceSet makes apps/Deployment'', ''mindcluster.huawei.com/InstanceSet makes apps/StatefulSet'', ''/Pod makes apps/StatefulSet'']) || !(request.userInfo.?username.orValue('''') in [] || [].exists(a, request.userInfo.?username.orValue('''').startsWith(a)))'
    name: mindgate.io/not-made-by-an-admitted-object
  - expression: '!(request.namespace == ''prod'')'
    name: mindgate.io/not-exception-0
  matchConstraints:
    resourceRules:
    - apiGroups:
      - apps
      apiVersions:
      - '*'
      operations:
      - '*'
      resources:
      - '*'
  paramKind:
    apiVersion: v1
    kind: ConfigMap
  validations:
  - expression: object.spec.replicas <= variables.most
    message: too many
    reason: Invalid
  variables:
  - expression: int(params.data.most)
    name: most
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  labels:
    app.kubernetes.io/component: exported-policy
    app.kubernetes.io/name: mindgate
  name: few-replicas-of-a
spec:
  matchResources:
    matchPolicy: Exact
    namespaceSelector:
      matchExpressions:
      - key: zone
        operator: Exists
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values:
        - kube-system
      matchLabels:
        team: a
    resourceRules:
    - apiGroups:
      - apps
      apiVersions:
      - v1
      operations:
      - UPDATE
      resources:
      - deployments
  paramRef:
    name: limits
    namespace: policies
    parameterNotFoundAction: Allow
  policyName: few-replicas
  validationActions:
  - Warn
  - Audit
)yaml");
}

TEST(ExportedSitePolicies, FollowTheModes) {
  struct Row {
    std::string name;
    std::string text;
    Config config;
    SiteLines want;
  };
  const auto with = [](auto change) {
    Config config;
    change(config);
    return config;
  };
  const std::string twice = BoundText() + BindingText("c", "validationActions: [Warn, Audit]");
  const std::vector<Row> rows = {
      {"as its binding", BoundText(), {}, {"p", R"(b: ["Deny"] of p)"}},
      {"of rules",
       BoundText(),
       with([](Config& config) { config.rules["policy/p"] = Mode::kWarn; }),
       {"p", R"(b: ["Warn"] of p)"}},
      {"stronger than its binding",
       BoundText("[Audit]"),
       with([](Config& config) { config.rules["policy/p"] = Mode::kEnforce; }),
       {"p", R"(b: ["Deny","Audit"] of p)"}},
      {"which keeps Audit beside",
       BoundText("[Audit, Deny]"),
       with([](Config& config) { config.rules["policy/p"] = Mode::kWarn; }),
       {"p", R"(b: ["Warn","Audit"] of p)"}},
      {"off", BoundText(), with([](Config& config) { config.rules["policy/p"] = Mode::kOff; }), {}},
      {"maxMode",
       BoundText(),
       with([](Config& config) { config.max_mode = Mode::kAudit; }),
       {"p", R"(b: ["Audit"] of p)"}},
      {"a milder binding stays milder",
       twice,
       with([](Config& config) { config.rules["policy/p"] = Mode::kEnforce; }),
       {"p", R"(b: ["Deny"] of p)", R"(c: ["Warn","Audit"] of p)"}},
      {"and is no stronger than the mode",
       twice,
       with([](Config& config) { config.rules["policy/p"] = Mode::kAudit; }),
       {"p", R"(b: ["Audit"] of p)", R"(c: ["Audit"] of p)"}},
      {"namespaces",
       BoundText(),
       with([](Config& config) {
         config.namespaces = {{.name = "dev*", .rules = {{"policy/p", Mode::kWarn}}},
                              {.name = "lab", .rules = {{"policy/p", Mode::kOff}}}};
       }),
       {"p", R"(b: ["Deny"] of p)", "p-warn", R"(b-warn: ["Warn"] of p-warn)"}},
      {"in one namespace alone",
       BoundText(),
       with([](Config& config) {
         config.rules["policy/p"] = Mode::kOff;
         config.namespaces = {{.name = "prod", .rules = {{"policy/p", Mode::kEnforce}}}};
       }),
       {"p-enforce", R"(b-enforce: ["Deny"] of p-enforce)"}},
      {"whose name another binding has",
       BoundText() + BindingText("b-warn", "validationActions: [Deny]"),
       with([](Config& config) {
         config.namespaces = {{.name = "dev", .rules = {{"policy/p", Mode::kWarn}}}};
       }),
       {"p", R"(b: ["Deny"] of p)", R"(b-warn: ["Deny"] of p)", "p-warn",
        R"(b-warn-warn: ["Warn"] of p-warn)", R"(b-warn-warn-warn: ["Warn"] of p-warn)"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(OutlineOfSite(Export({row.text}, row.config)), row.want) << row.name;
  }
}

// A policy about everything evaluates what mindgate evaluates.
TEST(ExportedSitePolicies, AreAboutWhatMindgateEvaluates) {
  constexpr std::string_view kRules =
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
      "metadata: {name: p}\nspec:\n  validations: [{expression: 'true'}]\n"
      "  matchConstraints: {resourceRules: [RULE]}\n";
  const struct {
    const char* name;
    std::string rule;
    std::string binding;
    std::string want;  // resourceRules of the binding; empty: it is not there
  } rows[] = {
      {"one group",
       "{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: ['*']}", "",
       R"([{"apiGroups":["apps"],"apiVersions":["*"],"operations":["CREATE","UPDATE"],)"
       R"("resources":["deployments","replicasets","statefulsets","daemonsets"]}])"},
      {"two groups",
       "{apiGroups: ['*'], apiVersions: [v1], operations: ['*'], resources: [deployments, pods, "
       "nodes]}",
       "",
       R"([{"apiGroups":[""],"apiVersions":["*"],"operations":["CREATE","UPDATE"],)"
       R"("resources":["pods"]},)"
       R"({"apiGroups":["apps"],"apiVersions":["*"],"operations":["CREATE","UPDATE"],)"
       R"("resources":["deployments"]}])"},
      {"rules of the binding",
       "{apiGroups: ['*'], apiVersions: [v1], operations: ['*'], resources: ['*']}",
       "{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE, DELETE], resources: ['*/*'], "
       "resourceNames: [a], scope: Namespaced}",
       R"([{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["UPDATE"],)"
       R"("resources":["deployments","replicasets","statefulsets","daemonsets"],)"
       R"("resourceNames":["a"],"scope":"Namespaced"}])"},
      {"only deletions",
       "{apiGroups: ['*'], apiVersions: [v1], operations: ['*'], resources: ['*']}",
       "{apiGroups: [apps], apiVersions: [v1], operations: [DELETE], resources: ['*']}", ""},
      {"other kinds", "{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [nodes]}",
       "", ""},
  };
  for (const auto& row : rows) {
    std::string policy(kRules);
    policy.replace(policy.find("RULE"), 4, row.rule);
    policy += BindingText("b", "validationActions: [Deny]" +
                                   (row.binding.empty() ? std::string()
                                                        : ", matchResources: {resourceRules: [" +
                                                              row.binding + "]}"));
    const auto all = Export({policy});
    if (row.want.empty()) {
      EXPECT_EQ(OutlineOfSite(all), SiteLines{}) << row.name;
      continue;
    }
    ASSERT_EQ(all.policies.size(), 2u) << row.name;
    EXPECT_EQ(all.policies[1]["spec"]["matchResources"]["resourceRules"].dump(), row.want)
        << row.name;
  }
}

TEST(ExportedSitePolicies, HaveTheParametersOfTheirBindings) {
  const std::string policy = PolicyText(
      "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
      "  validations: [{expression: 'params != null'}]",
      "  paramRef: {PARAM, parameterNotFoundAction: Deny}");
  const auto map = [](std::string_view metadata) {
    return "{apiVersion: v1, kind: ConfigMap, metadata: {" + std::string(metadata) + "}}";
  };
  const std::vector<std::string> params = {
      map("name: a"), map("name: a, namespace: one"), map("name: b, labels: {of: p}"),
      "{apiVersion: v2, kind: ConfigMap, metadata: {name: a}}"};
  const struct {
    std::string ref;
    SiteLines want;  // "NAMESPACE/NAME"
  } rows[] = {{"name: a", {"/a", "one/a"}},
              {"name: a, namespace: two", {"two/a"}},
              {"name: a, namespace: one", {"one/a"}},
              {"selector: {matchLabels: {of: p}}", {"/b"}},
              {"name: c", {}}};
  for (const auto& row : rows) {
    std::string text = policy;
    text.replace(text.find("PARAM"), 5, row.ref);
    std::vector<std::string> texts = params;
    texts.push_back(text);
    SiteLines names;
    for (const auto& param : Export(texts).params) {
      names.push_back(param["metadata"].value("namespace", "") + "/" +
                      param["metadata"]["name"].get<std::string>());
    }
    EXPECT_EQ(names, row.want) << row.ref;
  }
}

TEST(WhyNotExported, NamesTheReason) {
  const auto why = [](const std::string& text) {
    const auto set = testing::SetOf({text});
    return std::string(exported::WhyNotExported(*set->policies().front()));
  };
  const std::string unbound = BoundText().substr(0, BoundText().find("---"));
  EXPECT_EQ(why(BoundText()), "");
  EXPECT_EQ(why(testing::Demanding("workload.templates == []")),
            "it reads workload, which only mindgate has");
  EXPECT_EQ(why(unbound), "no binding names it");
  const std::string uncertain =
      "an API server refuses expressions whose type only shows when they are evaluated: write "
      "bool(...) or string(...) around them";
  EXPECT_EQ(why(testing::Demanding("object.spec.paused")), uncertain);
  EXPECT_EQ(why(testing::Demanding("bool(object.spec.paused)")), "");
  EXPECT_EQ(OutlineOfSite(Export({testing::Demanding("object.spec.paused")})), SiteLines{});
  EXPECT_EQ(OutlineOfSite(Export({testing::Demanding("workload.templates == []")})), SiteLines{});
  EXPECT_EQ(OutlineOfSite(Export({unbound})), SiteLines{});
}

// "MODE policy/NAME FIELD: MESSAGE" of all that the policies of the configuration find.
SiteLines FoundBySite(const schemas::WorkloadView& view, const schemas::AdmissionRequest& request,
                      const Config& config) {
  SiteLines lines;
  for (const auto& finding : policies::Evaluate({view, nullptr, request, config}).findings) {
    if (finding.rule->site == nullptr) continue;
    lines.push_back(std::string(finding.error ? "error" : schemas::ModeName(finding.mode)) + " " +
                    std::string(finding.rule->id) + " " + finding.field + ": " + finding.message);
  }
  return lines;
}

// The object as it was before an update of its labels and images.
json::Json Before(json::Json object) {
  object["metadata"]["labels"]["before"] = "true";
  json::Json* containers = &object["spec"];
  for (const char* key : {"template", "spec", "containers"}) {
    if (!containers->is_object() || !containers->contains(key)) return object;
    containers = &(*containers)[key];
  }
  for (json::Json& container : *containers) {
    if (container.is_object()) container["image"] = "before";
  }
  return object;
}

// What is exported is read and evaluated again, and finds the same in what users write.
TEST(ExportedSitePolicies, FindWhatTheOriginalsFind) {
  Config original;
  std::vector<std::string> texts;
  for (const auto& sample : testing::SamplesIn({"../../examples/policies"})) {
    if (sample.name.find("tests") == std::string::npos)
      texts.push_back(testing::ReadSample(sample));
  }
  ASSERT_GE(texts.size(), 20u);
  original.policies = testing::SetOf(texts);
  Config exported_config;
  exported_config.policies = testing::SetOf({TextOf(ExportAll(original))});
  std::vector<std::string> own;
  for (const auto* rule : exported_config.policies->rules()) own.emplace_back(rule->id);
  ASSERT_EQ(own, (SiteLines{"policy/frozen-images", "policy/no-host-network",
                            "policy/no-training-among-servers", "policy/short-names",
                            "policy/time-to-drain"}));
  const json::Document user(json::Json{{"username", "alice"}});
  std::map<std::string, size_t> found;
  for (const auto& samples : {testing::Samples(), testing::Cases()}) {
    for (const testing::Sample& sample : samples) {
      const auto documents = json::DecodeYaml(testing::ReadSample(sample));
      if (!documents) continue;
      for (const auto& each : *documents) {
        const json::Document object(each.value);
        if (!object.root().is_object() || testing::HasNull(each.value)) continue;
        const auto view = schemas::BuildView(object.root());
        if (!view || view->excess || !view->wrong_types.empty()) continue;
        const json::Document before(Before(each.value));
        for (const json::Value* old : {static_cast<const json::Value*>(nullptr), &before.root()}) {
          schemas::AdmissionRequest request;
          request.object = &object.root();
          request.ns = "default";
          request.user_info = &user.root();
          request.namespace_labels = {{"freeze", "true"}, {"purpose", "serving"}};
          if (old != nullptr) {
            request.operation = schemas::Operation::kUpdate;
            request.old_object = old;
          }
          SiteLines want;
          for (std::string& line : FoundBySite(*view, request, original)) {
            const std::string id = line.substr(line.find(' ') + 1);
            for (const std::string& policy : own) {
              if (!id.starts_with(policy + " ")) continue;
              ++found[policy];
              want.push_back(line);
            }
          }
          EXPECT_EQ(FoundBySite(*view, request, exported_config), want)
              << sample.name << (old == nullptr ? "" : ", an update");
        }
      }
    }
  }
  for (const std::string& policy : own) {
    EXPECT_GT(found[policy], 0u) << policy;
  }
}

}  // namespace
}  // namespace mindgate
