#include "offline/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policies/engine.h"

namespace mindgate::offline {
namespace {

using ::testing::ElementsAre;

// Inputs, decisions about them and the report of these, which points into them.
struct Reported {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Decision> decisions;
  Report report;
};

// Only MG050 is in force, which evaluates the label fault-scheduling.
schemas::Config OnlyLabels(schemas::Mode mode) {
  schemas::Config config;
  for (const policies::Rule* rule : policies::Catalogue()) {
    config.rules[std::string(rule->id)] = rule->id == "MG050" ? mode : schemas::Mode::kOff;
  }
  return config;
}

Reported ReportedOf(std::vector<InputText> inputs, const ReportOptions& options = {},
                    schemas::Mode mode = schemas::Mode::kEnforce) {
  Reported reported;
  for (InputText& input : inputs) reported.sources.push_back(Decode(std::move(input)));
  const auto objects = ObjectsOf(reported.sources);
  const schemas::Config config = OnlyLabels(mode);
  const Decider decider(objects, {}, {}, config, {.strict = options.strict});
  for (const InputObject& object : objects) reported.decisions.push_back(decider.Decide(object));
  reported.report = ReportOf(reported.decisions, {}, options);
  return reported;
}

std::string EvaluatedPod(const std::string& name, const std::string& value = "Force") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", labels: {fault-scheduling: " + value +
         "}}\nspec: {containers: [{name: c, resources: {limits: {huawei.com/Ascend910: 1}}}]}\n";
}

// "a.yaml:3 Pod default/a denied: denied MG050 3:54 metadata.labels[fault-scheduling]".
std::vector<std::string> LinesOf(const Report& report) {
  std::vector<std::string> lines;
  for (const ReportedObject& object : report.objects) {
    std::string line = json::PositionText(object.file, {object.line, 0}) + " " + object.title +
                       " " + std::string(admission::OutcomeName(object.outcome)) + ":";
    for (const ReportedFinding& finding : object.findings) {
      line += " " + std::string(FindingLevelName(finding.level)) + " " + finding.id +
              json::PositionText("", finding.at) +
              (finding.field.empty() ? "" : " " + finding.field);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(Report, HoldsObjectsFindingsAndFaults) {
  const InputText gone = {"gone.yaml", "", "no such file"};
  const auto reported = ReportedOf(
      {{"a.yaml", EvaluatedPod("bad") + "---\n" + EvaluatedPod("good", "force") + "---\nkind: [\n"},
       gone});
  EXPECT_THAT(LinesOf(reported.report),
              ElementsAre("a.yaml:1 Pod default/bad denied: denied MG050:3:50 "
                          "metadata.labels[fault-scheduling]",
                          "a.yaml:6 Pod default/good admitted:",
                          "a.yaml:12 document 3 error: error invalid-input:12:1",
                          "gone.yaml the file error: error invalid-input"));
  EXPECT_EQ(CountsText(reported.report.counts), "1 admitted, 1 denied, 2 errors, 0 ignored");
}

TEST(Report, OnlyFindingsLeavesObjectsOutAndCountsThem) {
  const std::string text = EvaluatedPod("bad") + "---\n" + EvaluatedPod("good", "force");
  const auto reported = ReportedOf({{"a.yaml", text}}, {.only_findings = true});
  EXPECT_EQ(reported.report.objects.size(), 1u);
  EXPECT_EQ(CountsText(reported.report.counts), "1 admitted, 1 denied, 0 errors, 0 ignored");
}

TEST(Report, EffectsFollowModeAndStrict) {
  const struct {
    schemas::Mode mode;
    bool strict;
    FindingLevel want;
  } cases[] = {
      {schemas::Mode::kEnforce, false, FindingLevel::kDenied},
      {schemas::Mode::kWarn, false, FindingLevel::kWarning},
      {schemas::Mode::kWarn, true, FindingLevel::kDenied},
      {schemas::Mode::kAudit, false, FindingLevel::kAudit},
      {schemas::Mode::kAudit, true, FindingLevel::kAudit},
  };
  for (const auto& c : cases) {
    const auto reported =
        ReportedOf({{"a.yaml", EvaluatedPod("bad")}}, {.strict = c.strict}, c.mode);
    EXPECT_EQ(reported.report.objects.at(0).findings.at(0).level, c.want)
        << schemas::ModeName(c.mode) << " strict " << c.strict;
  }
}

TEST(FindingLevelOf, WhatExistedDoesNotDenyAndFaultsOfOursAreErrors) {
  policies::Finding finding;
  finding.rule = policies::FindRule("MG050");
  finding.mode = schemas::Mode::kWarn;
  finding.existed = true;
  EXPECT_EQ(FindingLevelOf(finding, true), FindingLevel::kWarning);
  EXPECT_EQ(FindingLevelOf(policies::Finding(), false), FindingLevel::kError);
}

std::vector<std::string> FingerprintsOf(const std::vector<InputText>& inputs) {
  std::vector<std::string> prints;
  for (const ReportedObject& object : ReportedOf(inputs).report.objects) {
    for (const ReportedFinding& finding : object.findings) prints.push_back(finding.fingerprint);
  }
  return prints;
}

TEST(Report, FingerprintsStayWhenLinesMove) {
  const auto before = FingerprintsOf({{"a.yaml", EvaluatedPod("bad")}});
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before.front().size(), 16u);
  EXPECT_EQ(FingerprintsOf({{"a.yaml", "# moved\n\n" + EvaluatedPod("bad")}}), before);
  EXPECT_EQ(FingerprintsOf({{"./x/../a.yaml", EvaluatedPod("bad")}}), before) << "the same file";
  EXPECT_EQ(
      FingerprintsOf({{"a.yaml", EvaluatedPod("good", "force") + "---\n" + EvaluatedPod("bad")}}),
      before)
      << "another object above";
  EXPECT_NE(FingerprintsOf({{"b.yaml", EvaluatedPod("bad")}}), before);
  EXPECT_NE(FingerprintsOf({{"a.yaml", EvaluatedPod("worse")}}), before);
}

TEST(Report, NoTwoFindingsShareAFingerprint) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += EvaluatedPod("same") + "---\n";
  const auto prints = FingerprintsOf({{"a.yaml", text}});
  EXPECT_EQ(prints.size(), 300u);
  EXPECT_EQ(std::set<std::string>(prints.begin(), prints.end()).size(), 300u);
}

TEST(Report, ColumnsCountCharacters) {
  const auto reported = ReportedOf({{"a.yaml", EvaluatedPod("推理")}});
  EXPECT_EQ(reported.report.objects.at(0).findings.at(0).at, (json::Position{3, 49}));
}

TEST(PlainPath, IsTheOneOfTheRepository) {
  const struct {
    const char* file;
    const char* want;
  } cases[] = {
      {"a.yaml", "a.yaml"},           {"./a.yaml", "a.yaml"},
      {"x/../y//a.yaml", "y/a.yaml"}, {"../a.yaml", "../a.yaml"},
      {"/x/./a.yaml", "/x/a.yaml"},   {"https://host/a//b.yaml", "https://host/a//b.yaml"},
      {"<stdin>", "<stdin>"},         {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(PlainPath(c.file), c.want);
}

}  // namespace
}  // namespace mindgate::offline
