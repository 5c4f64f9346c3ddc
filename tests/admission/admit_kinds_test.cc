#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "admission/admit.h"
#include "schemas/config.h"
#include "schemas/site_kinds.h"
#include "support/golden.h"
#include "support/mutations.h"
#include "support/objects.h"
#include "support/promises.h"
#include "support/samples.h"

// Admission of kinds of mindgate.yaml: the manifests of tests/fixtures/kinds, whose answers are
// recorded in tests/golden/kinds.
namespace mindgate {
namespace {

using testing::ExpectGolden;
using testing::ReadSample;
using testing::Sample;
using testing::YamlDocument;

// The configuration with the kinds that the first part of a file's name says.
schemas::Config ConfigFor(const Sample& sample) {
  const std::string file = sample.path.filename().string();
  schemas::Config config;
  config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed(file.substr(0, file.find('-'))));
  return config;
}

schemas::AdmissionRequest CreationOf(const json::Value& object) {
  schemas::AdmissionRequest request;
  request.object = &object;
  request.trusts_owners = true;
  request.ns = "default";
  return request;
}

// Every change and finding, each line of it stable from run to run.
std::string AnswerText(const json::Value& object, const admission::Verdict& verdict) {
  std::string text(admission::OutcomeName(verdict.outcome));
  if (!verdict.ignored_because.empty()) text += " (" + verdict.ignored_because + ")";
  text += "\n";
  for (const std::string& line : testing::Lines(verdict, object)) text += "+ " + line + "\n";
  for (const policies::Finding& finding : verdict.findings) {
    text += std::string(finding.rule != nullptr ? finding.rule->id : "-") + " " +
            std::string(schemas::ModeName(finding.mode)) + " " + finding.field + ": " +
            finding.message + "\n";
  }
  return text;
}

TEST(KindsOfASite, AreInjectedAndEvaluatedAsRecorded) {
  std::set<std::string> seen;
  for (const Sample& sample : testing::SamplesIn({"kinds"})) {
    SCOPED_TRACE(sample.name);
    const json::Document object = YamlDocument(ReadSample(sample));
    const auto verdict = admission::Admit(CreationOf(object.root()), ConfigFor(sample));
    ExpectGolden("tests/golden/" + sample.name + ".txt", AnswerText(object.root(), verdict));
    seen.insert(std::string(json::FindString(object.root(), "kind").value_or("")));
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("CloneSet", "InferenceService", "JobSet",
                                           "LLMInferenceService", "ModelServing", "PyTorchJob",
                                           "RayCluster", "RayJob", "RayService"));
}

TEST(KindsOfASite, WithoutTheirRowTheyAreIgnored) {
  for (const Sample& sample : testing::SamplesIn({"kinds"})) {
    const json::Document object = YamlDocument(ReadSample(sample));
    const auto verdict = admission::Admit(CreationOf(object.root()), schemas::Config());
    EXPECT_EQ(verdict.outcome, admission::Outcome::kIgnored) << sample.name;
  }
}

TEST(KindsOfASite, OwnOutputYieldsAnEmptyPatchAndNewFindingsNever) {
  for (const Sample& sample : testing::SamplesIn({"kinds"})) {
    SCOPED_TRACE(sample.name);
    const schemas::Config config = ConfigFor(sample);
    const json::Document object = YamlDocument(ReadSample(sample));
    const auto first = admission::Admit(CreationOf(object.root()), config);
    ASSERT_TRUE(first.mutated);
    const auto second = admission::Admit(CreationOf(first.mutated->root()), config);
    EXPECT_TRUE(second.patch.empty());
    EXPECT_EQ(second.findings.size(), first.findings.size());
    EXPECT_THAT(testing::BrokenPromises(CreationOf(object.root()), config), ::testing::IsEmpty());
  }
}

// What their operators make was injected with them.
TEST(KindsOfASite, WhatTheyMakeIsLeftAlone) {
  schemas::Config config;
  const json::Document pod = YamlDocument(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: ray.io/v1, "
      "kind: RayCluster, name: r, controller: true}]}, spec: {schedulerName: volcano, containers: "
      "[{name: a, resources: {limits: {huawei.com/Ascend910: 8}}}]}}");
  EXPECT_FALSE(admission::Admit(CreationOf(pod.root()), config).patch.empty());
  config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed("ray"));
  EXPECT_TRUE(admission::Admit(CreationOf(pod.root()), config).patch.empty());
}

TEST(KindsOfASite, ExceptionsNameThem) {
  const json::Document object = YamlDocument(
      "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, spec: {headGroupSpec: "
      "{template: {metadata: {labels: {fault-scheduling: forced}}, spec: {containers: [{name: a, "
      "resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}");
  schemas::Config config;
  config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed("ray"));
  const auto outcome = [&](const std::string& kind) {
    config.exceptions = {
        {.rules = {"MG050"}, .ns = {}, .kind = kind, .name = {}, .owner = "o", .reason = "r"}};
    return admission::Admit(CreationOf(object.root()), config).outcome;
  };
  EXPECT_EQ(outcome("RayCluster"), admission::Outcome::kAdmitted);
  EXPECT_EQ(outcome("Ray*"), admission::Outcome::kAdmitted);
  EXPECT_EQ(outcome("RayJob"), admission::Outcome::kDenied);
}

// A template that cannot change gets back what was injected, and no more.
TEST(KindsOfASite, AFrozenTemplateIsNotInjectedLater) {
  schemas::Config config;
  config.kinds = schemas::SiteKinds(schemas::ShippedKindsNamed("jobset"));
  const json::Document object = YamlDocument(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: j}, spec: "
      "{replicatedJobs: [{name: w, template: {spec: {template: {spec: {containers: [{name: a, "
      "resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}]}}");
  schemas::AdmissionRequest update = CreationOf(object.root());
  EXPECT_FALSE(admission::Admit(update, config).patch.empty());
  update.operation = schemas::Operation::kUpdate;
  update.old_object = &object.root();
  EXPECT_TRUE(admission::Admit(update, config).patch.empty());
}

}  // namespace
}  // namespace mindgate
