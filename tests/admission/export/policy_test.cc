#include "admission/export/policy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/exported.h"
#include "support/objects.h"

namespace mindgate {
namespace {

using nlohmann::ordered_json;
using schemas::Config;
using schemas::Mode;
using testing::ExportedPolicy;
using testing::PolicyOutcome;
using Result = PolicyOutcome::Result;

std::vector<ordered_json> PoliciesOf(std::string_view id, const Config& config,
                                     const exported::ExportOptions& options = {}) {
  const policies::Rule* rule = policies::FindRule(id);
  for (const exported::ExportedRule& row : exported::ExportedRules(config)) {
    if (row.id == id) return exported::PoliciesOf(*rule, row, config, options);
  }
  ADD_FAILURE() << id << " is not exported";
  return {};
}

// "NAME: ACTION" of each binding, and "NAME" of each policy.
std::vector<std::string> Outline(const std::vector<ordered_json>& documents) {
  std::vector<std::string> lines;
  for (const ordered_json& document : documents) {
    std::string line = document["metadata"]["name"];
    if (document["kind"] == "ValidatingAdmissionPolicyBinding") {
      line += ": " + document["spec"]["validationActions"][0].get<std::string>();
      EXPECT_EQ(document["spec"]["policyName"], document["metadata"]["name"]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Deployment(std::string_view metadata, std::string_view labels) {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: llm" + std::string(metadata) +
         "}, spec: {template: {metadata: {labels: {" + std::string(labels) +
         "}}, spec: {containers: [{name: c}]}}}}";
}

Result Evaluate(const ordered_json& policy, std::string_view object,
                std::string_view old_object = {}, std::string ns = "default",
                std::string user = "alice") {
  const ExportedPolicy compiled(policy);
  EXPECT_EQ(compiled.faults(), "");
  const json::Document now = testing::YamlDocument(object);
  const json::Document before =
      old_object.empty() ? json::Document() : testing::YamlDocument(old_object);
  const PolicyOutcome outcome =
      compiled.Evaluate({.object = now.root(),
                         .old_object = old_object.empty() ? nullptr : &before.root(),
                         .ns = std::move(ns),
                         .user = std::move(user)});
  EXPECT_EQ(outcome.error, "");
  return outcome.result;
}

TEST(ExportedPolicies, OneWholePolicy) {
  Config config;
  config.rules["MG170"] = Mode::kWarn;
  const auto documents = PoliciesOf("MG170", config, {.excluded_namespaces = {"kube-system"}});
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0], ordered_json::parse(R"json({
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {
      "name": "mindgate-mg170",
      "labels": {
        "app.kubernetes.io/name": "mindgate",
        "app.kubernetes.io/component": "exported-policy",
        "mindgate.io/rule": "MG170"}},
    "spec": {
      "failurePolicy": "Fail",
      "matchConstraints": {
        "matchPolicy": "Equivalent",
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                           "operations": ["CREATE", "UPDATE"], "resources": ["services"]}],
        "namespaceSelector": {
          "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn",
                                "values": ["kube-system"]}]}},
      "matchConditions": [
        {"name": "not-being-deleted",
         "expression": "!object.?metadata.?deletionTimestamp.hasValue()"},
        {"name": "new-or-changed",
         "expression": "request.operation == 'CREATE' || (object.?metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) || object.?metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({}) || object.?spec != oldObject.?spec || object.?data != oldObject.?data)"},
        {"name": "service-of-mindie",
         "expression": "request.kind.kind != 'Service' || object.?metadata.?name.orValue('') == 'mindie-ms-coordinator' || object.?spec.?ports.orValue([]).exists(p, p.?nodePort.orValue(0) == 31015)"}],
      "variables": [
        {"name": "found",
         "expression": "(object.?metadata.?name.orValue('') == 'mindie-ms-coordinator') ? ['broken'] : []"}],
      "validations": [
        {"expression": "size(variables.found) == 0",
         "message": "MG170: No Service is named mindie-ms-coordinator. Write another name; the samples use mindie-ms-coordinator-infer."}]}})json"))
      << documents[0].dump(1);
  EXPECT_EQ(documents[1], ordered_json::parse(R"json({
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {
      "name": "mindgate-mg170",
      "labels": {
        "app.kubernetes.io/name": "mindgate",
        "app.kubernetes.io/component": "exported-policy",
        "mindgate.io/rule": "MG170"}},
    "spec": {"policyName": "mindgate-mg170", "validationActions": ["Warn"]}})json"))
      << documents[1].dump(1);
}

TEST(ExportedPolicies, FollowTheModes) {
  using Lines = std::vector<std::string>;
  Config config;
  EXPECT_EQ(Outline(PoliciesOf("MG050", config)),
            (Lines{"mindgate-mg050", "mindgate-mg050: Deny", "mindgate-mg050-existing",
                   "mindgate-mg050-existing: Warn"}));
  EXPECT_EQ(Outline(PoliciesOf("MG051", config)),
            (Lines{"mindgate-mg051", "mindgate-mg051: Warn"}));
  EXPECT_EQ(Outline(PoliciesOf("MG017", config)),
            (Lines{"mindgate-mg017", "mindgate-mg017: Audit"}));
  config.existing_violations = Mode::kEnforce;
  EXPECT_EQ(Outline(PoliciesOf("MG050", config)),
            (Lines{"mindgate-mg050", "mindgate-mg050: Deny"}));
  config.max_mode = Mode::kAudit;
  EXPECT_EQ(Outline(PoliciesOf("MG050", config)),
            (Lines{"mindgate-mg050", "mindgate-mg050: Audit"}));
  config.rules["MG050"] = Mode::kOff;
  EXPECT_EQ(Outline(PoliciesOf("MG050", config)), Lines{});
}

TEST(ExportedPolicies, FollowTheModesOfNamespaces) {
  Config config;
  config.rules["MG050"] = Mode::kWarn;
  config.namespaces = {{.name = "dev-a", .rules = {{"MG050", Mode::kAudit}}},
                       {.name = "dev*", .rules = {{"MG050", Mode::kOff}}},
                       {.name = "prod", .rules = {{"MG051", Mode::kOff}}}};
  const auto documents = PoliciesOf("MG050", config);
  EXPECT_EQ(Outline(documents),
            (std::vector<std::string>{"mindgate-mg050", "mindgate-mg050: Warn",
                                      "mindgate-mg050-audit", "mindgate-mg050-audit: Audit"}));
  const std::string wrong = Deployment("", "fault-scheduling: Force");
  const struct {
    const char* ns;
    Result warns;
    Result audits;
  } rows[] = {{"default", Result::kBroken, Result::kNotMatched},
              {"prod", Result::kBroken, Result::kNotMatched},
              {"dev-a", Result::kNotMatched, Result::kBroken},
              {"dev-b", Result::kNotMatched, Result::kNotMatched}};
  for (const auto& row : rows) {
    EXPECT_EQ(Evaluate(documents[0], wrong, {}, row.ns), row.warns) << row.ns;
    EXPECT_EQ(Evaluate(documents[2], wrong, {}, row.ns), row.audits) << row.ns;
  }
}

TEST(ExportedPolicies, LetUpdatesKeepWhatWasWrong) {
  const auto documents = PoliciesOf("MG050", {});
  const ordered_json& denies = documents[0];
  const ordered_json& warns = documents[2];
  const std::string right = Deployment("", "fault-scheduling: force");
  const std::string wrong = Deployment("", "fault-scheduling: Force");
  const std::string still_wrong = Deployment("", "fault-scheduling: Force, team: a");
  const std::string otherwise_wrong = Deployment("", "fault-scheduling: Grace");
  const struct {
    const char* name;
    std::string before;
    std::string now;
    Result denied;
    Result warned;
  } rows[] = {
      {"created right", "", right, Result::kKept, Result::kNotMatched},
      {"created wrong", "", wrong, Result::kBroken, Result::kNotMatched},
      {"becomes wrong", right, wrong, Result::kBroken, Result::kKept},
      {"stays wrong", wrong, still_wrong, Result::kKept, Result::kBroken},
      {"wrong in another way", wrong, otherwise_wrong, Result::kBroken, Result::kKept},
      {"becomes right", wrong, right, Result::kKept, Result::kKept},
      {"is not changed", wrong, wrong, Result::kNotMatched, Result::kNotMatched},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Evaluate(denies, row.now, row.before), row.denied) << row.name;
    EXPECT_EQ(Evaluate(warns, row.now, row.before), row.warned) << row.name;
  }
}

// A rule whose places are lists of lists, over variables of the object before.
TEST(ExportedPolicies, LetUpdatesKeepPlacesOfContainers) {
  Config config;
  const auto documents = PoliciesOf("MG007", config);
  const auto pods = [](std::string_view containers) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: llm}, spec: {template: {spec: "
           "{containers: [" +
           std::string(containers) + "]}}}}";
  };
  const std::string a = "{name: a, resources: {limits: {Ascend910: 1}}}";
  const std::string b = "{name: b, resources: {limits: {npu: 1}}}";
  EXPECT_EQ(Evaluate(documents[0], pods(a)), Result::kBroken);
  EXPECT_EQ(Evaluate(documents[0], pods(a + ", {name: c}"), pods(a)), Result::kKept);
  EXPECT_EQ(Evaluate(documents[2], pods(a + ", {name: c}"), pods(a)), Result::kBroken);
  EXPECT_EQ(Evaluate(documents[0], pods(a + ", " + b), pods(a)), Result::kBroken);
}

TEST(ExportedPolicies, LeaveAloneWhatMindgateDoes) {
  Config config;
  config.rules["MG050"] = Mode::kWarn;
  const auto documents = PoliciesOf(
      "MG050", config,
      {.controller_namespaces = {"kube-system"}, .controller_users = {"system:manager"}});
  const std::string owner =
      ", ownerReferences: [{apiVersion: OWNER, kind: KIND, controller: true}]";
  const auto owned_by = [&](std::string_view version, std::string_view kind) {
    std::string text = owner;
    text.replace(text.find("OWNER"), 5, version);
    text.replace(text.find("KIND"), 4, kind);
    return Deployment(text, "fault-scheduling: Force");
  };
  const std::string by_ome = owned_by("ome.io/v1beta1", "InferenceService");
  const std::string service_account = "system:serviceaccount:kube-system:a";
  EXPECT_EQ(Evaluate(documents[0], Deployment(", deletionTimestamp: x", "fault-scheduling: Force")),
            Result::kNotMatched);
  EXPECT_EQ(Evaluate(documents[0], by_ome, {}, "default", service_account), Result::kNotMatched);
  EXPECT_EQ(Evaluate(documents[0], by_ome, {}, "default", "system:manager"), Result::kNotMatched);
  EXPECT_EQ(Evaluate(documents[0], by_ome, {}, "default", "alice"), Result::kBroken);
  EXPECT_EQ(
      Evaluate(documents[0], owned_by("example.com/v1", "App"), {}, "default", service_account),
      Result::kBroken);
  EXPECT_EQ(Evaluate(documents[0], Deployment("", "fault-scheduling: Force"), {}, "default",
                     service_account),
            Result::kBroken);
}

TEST(ExportedPolicies, ExceptionsAreMatchConditions) {
  Config config;
  config.rules["MG050"] = Mode::kWarn;
  const Time now = Time() + std::chrono::hours(1000);
  const auto except = [](std::string ns, std::string kind, std::string name, Time expires) {
    return schemas::Exception{{"MG050"}, std::move(ns), std::move(kind), std::move(name),
                              "team",    "reason",      expires};
  };
  const Time later = now + std::chrono::hours(1);
  const Time earlier = now - std::chrono::hours(1);
  config.exceptions = {except("prod", "Deployment", "ll*", later), except("", "", "", earlier)};
  const exported::ExportOptions options{.now = now};
  const auto documents = PoliciesOf("MG050", config, options);
  const std::string wrong = Deployment("", "fault-scheduling: Force");
  EXPECT_EQ(Evaluate(documents[0], wrong, {}, "prod"), Result::kNotMatched);
  EXPECT_EQ(Evaluate(documents[0], wrong, {}, "default"), Result::kBroken);
  EXPECT_EQ(exported::ExportedExceptions(config, options), std::vector<size_t>{0});
  EXPECT_EQ(PoliciesOf("MG051", config, options)[0]["spec"]["matchConditions"].size(),
            documents[0]["spec"]["matchConditions"].size() - 1);
}

}  // namespace
}  // namespace mindgate
