#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "policies/engine.h"
#include "policies/text_entries.h"
#include "support/exported.h"
#include "support/fixes.h"
#include "support/never_worse.h"
#include "support/objects.h"

// How rule tests read: one table of manifests a rule, each with every finding of that rule that it
// must give. Each manifest is stored, too, and must then stay changeable elsewhere.
//
//   TEST(FaultSchedulingValue, Table) {
//     ExpectFindings("MG050", {
//         {"unknown value on a Deployment", R"(...)",
//          {"spec.template.metadata.labels[fault-scheduling]: \"Force\" is not ..."}},
//         {"all five values pass", R"(...)", {}},
//     });
//   }
namespace mindgate::testing {

struct RuleCase {
  std::string name;
  std::string object;                    // YAML
  std::vector<std::string> want = {};    // "field: message", in order; empty: the rule passes
  std::string old_object = {};           // YAML; makes the request an UPDATE
  std::vector<std::string> others = {};  // other objects in the cluster, YAML each
  bool know_cluster = false;             // false: no lookup at all, unless there are `others`
  bool want_skipped = false;             // the rule must say that it was skipped
  bool incomplete = false;               // the cluster has more than the others
  schemas::Versions versions = {};       // of the cluster
  bool scaling_enforced = false;         // elasticScaling.mode is enforce
  bool refused = false;                  // see RefusedBefore
  bool warned = false;                   // what is found is only warned of, whatever the mode
};

// A case that the API server refuses for a member which no view reads: no policy sees it.
inline RuleCase RefusedBefore(RuleCase c) {
  c.refused = true;
  return c;
}

// The runtime that an InferenceService names, when it is among the others.
inline std::shared_ptr<const schemas::WorkloadView> RuntimeAmong(const FakeObjects& others,
                                                                 const json::Value& object) {
  if (schemas::KindOf(object) != schemas::Kind::kInferenceService) return nullptr;
  const auto reference = schemas::RuntimeOf(object);
  if (!reference) return nullptr;
  const auto ns = json::FindString(json::Find(object, "metadata"), "namespace").value_or("");
  const json::Value* runtime =
      reference->namespaced() ? nullptr
                              : others.Find("ome.io", "ClusterServingRuntime", "", reference->name);
  if (runtime == nullptr) runtime = others.Find("ome.io", "ServingRuntime", ns, reference->name);
  auto view = runtime == nullptr ? std::nullopt : schemas::BuildView(*runtime);
  return view ? std::make_shared<const schemas::WorkloadView>(*std::move(view)) : nullptr;
}

inline void ExpectFindings(std::string_view rule_id, const std::vector<RuleCase>& cases) {
  const policies::Rule* rule = policies::FindRule(rule_id);
  ASSERT_NE(rule, nullptr) << rule_id;
  ExportedTwin exported(*rule);
  for (const RuleCase& c : cases) {
    SCOPED_TRACE(std::string(rule_id) + ": " + c.name);
    const json::Document object = YamlDocument(c.object);
    const json::Document old_object =
        c.old_object.empty() ? json::Document() : YamlDocument(c.old_object);
    const FakeObjects others(c.others, !c.incomplete);
    schemas::AdmissionRequest request;
    request.object = &object.root();
    if (!c.old_object.empty()) {
      request.operation = schemas::Operation::kUpdate;
      request.old_object = &old_object.root();
    }
    if (c.know_cluster || !c.others.empty()) request.objects = &others;
    const auto view = schemas::BuildView(object.root(), RuntimeAmong(others, object.root()));
    ASSERT_TRUE(view) << "no view";
    ASSERT_TRUE(rule->kinds.Has(view->kind)) << "the rule does not look at this kind";
    const auto old_view = schemas::BuildView(old_object.root());
    schemas::Config config;
    config.versions = c.versions;
    if (c.scaling_enforced) config.elastic_scaling.mode = schemas::EnforcementMode::kEnforce;
    std::vector<policies::RuleTrace> traces;
    const auto evaluation =
        policies::Evaluate({*view, old_view ? &*old_view : nullptr, request, config}, &traces);
    std::vector<std::string> got;
    for (const policies::Finding& finding : evaluation.findings) {
      if (finding.rule != rule) continue;
      got.push_back(finding.field + ": " + finding.message);
      EXPECT_EQ(finding.mode,
                c.warned ? std::min(rule->default_mode, schemas::Mode::kWarn) : rule->default_mode);
      EXPECT_FALSE(finding.error) << finding.message;
      EXPECT_FALSE(finding.fix.empty()) << "a violation without a fix";
      EXPECT_FALSE(finding.message.ends_with('.')) << finding.message;
      EXPECT_EQ(finding.message.find('\n'), std::string::npos) << finding.message;
    }
    EXPECT_EQ(got, c.want);
    // What other objects add to it, a policy does not see, and it has one mode only.
    if (c.others.empty() && !c.know_cluster && !c.refused && !c.warned) {
      exported.ExpectSame(*view, request, config, !got.empty());
    }
    for (const auto& trace : traces) {
      if (trace.rule != rule) continue;
      // What all rules about pods say of a service that leaves them to an unknown runtime.
      if (!c.want_skipped && trace.reason == policies::kNeedsRuntime) continue;
      EXPECT_EQ(trace.result == policies::RuleTrace::Result::kSkipped, c.want_skipped);
    }
    EXPECT_EQ(BadFixes(rule, request, config), std::vector<std::string>());
    request.trusts_owners = true;
    EXPECT_EQ(WorseUpdates(Yaml(c.object), request, EverythingEnforced(config)),
              std::vector<std::string>());
  }
}

}  // namespace mindgate::testing
