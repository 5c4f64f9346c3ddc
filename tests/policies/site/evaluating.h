#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/engine.h"
#include "policies/site/site_policies.h"
#include "support/objects.h"

// How tests of policies read: a policy and its bindings as YAML, an object, and all that is found.
namespace mindgate::testing {

inline constexpr std::string_view kEvaluatedDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: team-a, labels: {app: llm}}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: llm}}
    spec:
      schedulerName: volcano
      containers:
      - name: main
        image: other.io/llm:1
        resources: {limits: {huawei.com/Ascend910: 4}}
)";

// A policy "p" about Deployments, bound by "b" with Deny. `spec` is indented by two spaces, and
// so is what `binding` adds.
inline std::string PolicyText(std::string_view spec, std::string_view binding = "") {
  const bool actions = binding.find("validationActions") != std::string_view::npos;
  return R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
)" + std::string(spec) +
         R"(
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
)" + std::string(actions ? "" : "  validationActions: [Deny]\n") +
         std::string(binding);
}

// A policy of one validation.
inline std::string Demanding(std::string_view expression) {
  return PolicyText("  validations:\n  - expression: |-\n      " + std::string(expression));
}

inline std::shared_ptr<const policies::SitePolicies> SetOf(const std::vector<std::string>& texts,
                                                           const schemas::SiteKinds& kinds = {}) {
  std::vector<policies::SitePolicies::Text> files;
  for (size_t i = 0; i < texts.size(); ++i)
    files.push_back({std::string(1, static_cast<char>('a' + i)) + ".yaml", texts[i]});
  auto set = policies::SitePolicies::Make(files, kinds);
  if (set) return *std::move(set);
  ADD_FAILURE() << policies::RenderFaults(set.error(), files);
  return nullptr;
}

struct Asked {
  std::string object = std::string(kEvaluatedDeployment);
  std::string old_object = {};  // makes the request an UPDATE
  std::string ns = {};
  schemas::NamespaceLabels namespace_labels = {};
  bool knows_namespace_labels = true;
  std::string user_info = {};  // YAML
  bool dry_run = false;
  std::string options = {};  // YAML
  std::vector<std::string> others = {};
  bool complete = true;  // the others are all there are
  schemas::Config config = {};
};

struct EvaluatedBySite {
  std::vector<std::string> findings;     // "enforce field: message", of the policies
  std::vector<std::string> traces;       // "policy/p passed", with the reason in brackets
  std::vector<std::string> annotations;  // "key=value"
  std::vector<std::string> skipped;      // "policy/p"
  bool denied = false;
};

inline std::string_view TraceName(policies::RuleTrace::Result result) {
  constexpr std::string_view kNames[] = {"not applicable", "off",      "excepted", "skipped",
                                         "passed",         "violated", "error"};
  return kNames[static_cast<size_t>(result)];
}

inline EvaluatedBySite EvaluateBySite(const std::vector<std::string>& texts,
                                      const Asked& asked = {}) {
  EvaluatedBySite evaluated;
  schemas::Config config = asked.config;
  config.policies = SetOf(texts, config.kinds);
  if (config.policies == nullptr) return evaluated;
  const json::Document object = YamlDocument(asked.object);
  const json::Document old_object =
      asked.old_object.empty() ? json::Document() : YamlDocument(asked.old_object);
  const json::Document user =
      asked.user_info.empty() ? json::Document() : YamlDocument(asked.user_info);
  const json::Document options =
      asked.options.empty() ? json::Document() : YamlDocument(asked.options);
  const FakeObjects others(asked.others, asked.complete);
  schemas::AdmissionRequest request;
  request.object = &object.root();
  request.ns = asked.ns;
  request.namespace_labels = asked.namespace_labels;
  request.knows_namespace_labels = asked.knows_namespace_labels;
  request.objects = &others;
  if (!asked.user_info.empty()) request.user_info = &user.root();
  request.dry_run = asked.dry_run;
  if (!asked.options.empty()) request.options = &options.root();
  if (!asked.old_object.empty()) {
    request.operation = schemas::Operation::kUpdate;
    request.old_object = &old_object.root();
  }
  const auto view = schemas::BuildView(object.root(), nullptr, {.kinds = config.kinds});
  const auto old_view = schemas::BuildView(old_object.root(), nullptr, {.kinds = config.kinds});
  if (!view) {
    ADD_FAILURE() << "no view";
    return evaluated;
  }
  std::vector<policies::RuleTrace> traces;
  const auto evaluation =
      policies::Evaluate({*view, old_view ? &*old_view : nullptr, request, config}, &traces);
  for (const policies::Finding& finding : evaluation.findings) {
    if (finding.rule->site == nullptr) continue;
    evaluated.findings.push_back(
        std::string(finding.error ? "error" : schemas::ModeName(finding.mode)) + " " +
        finding.field + ": " + finding.message);
    evaluated.denied = evaluated.denied || finding.mode == schemas::Mode::kEnforce;
  }
  for (const policies::RuleTrace& trace : traces) {
    if (trace.rule->site == nullptr) continue;
    std::string text = std::string(trace.rule->id) + " " + std::string(TraceName(trace.result));
    if (!trace.reason.empty()) text += " (" + trace.reason + ")";
    evaluated.traces.push_back(std::move(text));
  }
  for (const policies::Skipped& each : evaluation.skipped) {
    evaluated.skipped.emplace_back(each.rule->id);
  }
  for (const auto& each : evaluation.annotations)
    evaluated.annotations.push_back(each.key + "=" + each.value);
  return evaluated;
}

}  // namespace mindgate::testing
