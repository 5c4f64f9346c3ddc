#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

offline::Report Annotated(const std::string& file, const std::string& title,
                          const offline::ReportedFinding& finding) {
  offline::Report report;
  offline::ReportedObject& object = report.objects.emplace_back();
  object.file = file;
  object.title = title;
  object.findings.push_back(finding);
  return report;
}

std::string AnnotationsOf(const offline::Report& report) {
  std::ostringstream out;
  PrintAnnotations(report, out);
  return out.str();
}

offline::ReportedFinding FindingAt(offline::FindingLevel level, json::Position at,
                                   const std::string& message = "wrong") {
  offline::ReportedFinding finding;
  finding.id = "MG050";
  finding.level = level;
  finding.message = message;
  finding.at = at;
  return finding;
}

TEST(Annotations, CommandsAndPlaces) {
  using offline::FindingLevel;
  const struct {
    FindingLevel level;
    const char* file;
    json::Position at;
    const char* want;
  } cases[] = {
      {FindingLevel::kError,
       "a.yaml",
       {3, 7},
       "::error file=a.yaml,line=3,col=7,title=MG050::T: wrong\n"},
      {FindingLevel::kDenied,
       "./a.yaml",
       {3, 0},
       "::error file=a.yaml,line=3,title=MG050::T: wrong\n"},
      {FindingLevel::kWarning, "a.yaml", {0, 0}, "::warning file=a.yaml,title=MG050::T: wrong\n"},
      {FindingLevel::kAudit, "<stdin>", {3, 7}, "::notice line=3,col=7,title=MG050::T: wrong\n"},
      {FindingLevel::kNote, "<stdin>", {0, 0}, "::notice title=MG050::T: wrong\n"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(AnnotationsOf(Annotated(c.file, "T", FindingAt(c.level, c.at))), c.want);
  }
}

// Whatever stands in names and texts, each finding stays one command.
TEST(Annotations, HostileTexts) {
  const struct {
    const char* text;
    const char* property;
    const char* message;
  } cases[] = {
      {"a,b:c", "a%2Cb%3Ac", "a,b:c"},
      {"100%", "100%25", "100%25"},
      {"a%0Ab", "a%250Ab", "a%250Ab"},
      {"a\n::error::b", "a%0A%3A%3Aerror%3A%3Ab", "a%0A::error::b"},
      {"a\r\nb", "a%0D%0Ab", "a%0D%0Ab"},
      {"a::b", "a%3A%3Ab", "a::b"},
  };
  for (const auto& c : cases) {
    auto finding = FindingAt(offline::FindingLevel::kDenied, {1, 1}, c.text);
    finding.id = c.text;
    finding.fix = c.text;
    const std::string message = c.message;
    EXPECT_EQ(AnnotationsOf(Annotated(c.text, c.text, finding)),
              std::string("::error file=") + c.property + ",line=1,col=1,title=" + c.property +
                  "::" + message + ": " + message + "%0Afix: " + message + "\n");
  }
}

TEST(Annotations, WhatWasSkippedIsANotice) {
  offline::Report report;
  report.skipped.documents = 2;
  report.skipped.templates = 1;
  report.skipped.chart = "x\n::error::y";
  EXPECT_EQ(AnnotationsOf(report),
            "::notice title=mindgate::skipped: 2 documents that are not Kubernetes objects, 1 "
            "template of a Helm chart%0Ahint: `helm template x%0A::error::y | mindgate apply -f - "
            "-o table` checks the output of the chart\n");
}

}  // namespace
}  // namespace mindgate::cli
