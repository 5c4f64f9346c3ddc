#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using admission::Outcome;
using offline::FindingLevel;

offline::ReportedObject JunitObject(
    const std::string& file, Outcome outcome,
    const std::vector<std::pair<std::string, FindingLevel>>& findings) {
  offline::ReportedObject object;
  object.file = file;
  object.title = "Pod x/p";
  object.line = 2;
  object.outcome = outcome;
  for (const auto& [id, level] : findings) {
    offline::ReportedFinding& finding = object.findings.emplace_back();
    finding.id = id;
    finding.level = level;
    finding.field = "spec";
    finding.message = "wrong";
    finding.fix = "right";
    finding.at = {3, 7};
  }
  return object;
}

TEST(ReportJunit, OutcomesAreResults) {
  offline::Report report;
  report.objects = {
      JunitObject("a.yaml", Outcome::kDenied,
                  {{"MG1", FindingLevel::kDenied},
                   {"MG1", FindingLevel::kDenied},
                   {"MG2", FindingLevel::kWarning},
                   {"MG3", FindingLevel::kDenied}}),
      JunitObject("a.yaml", Outcome::kAdmitted,
                  {{"MG2", FindingLevel::kWarning}, {"MG4", FindingLevel::kAudit}}),
      JunitObject("b.yaml", Outcome::kError, {{"invalid-input", FindingLevel::kError}}),
      JunitObject("b.yaml", Outcome::kIgnored, {{"unhandled-kind", FindingLevel::kNote}}),
      JunitObject("b.yaml", Outcome::kAdmitted, {}),
  };
  report.objects[3].ignored_because = "kind Farm";
  std::ostringstream out;
  PrintJunit(JunitOf(report), out);
  EXPECT_EQ(out.str(), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="a.yaml" file="a.yaml" tests="2" failures="1" errors="0">
    <testcase name="Pod x/p" classname="a.yaml" file="a.yaml" line="2">
      <failure message="denied by MG1, MG3">a.yaml:3:7: denied: MG1: spec: wrong
  fix: right
a.yaml:3:7: denied: MG1: spec: wrong
  fix: right
a.yaml:3:7: warning: MG2: spec: wrong
  fix: right
a.yaml:3:7: denied: MG3: spec: wrong
  fix: right
</failure>
    </testcase>
    <testcase name="Pod x/p" classname="a.yaml" file="a.yaml" line="2">
      <system-out>a.yaml:3:7: warning: MG2: spec: wrong
  fix: right
a.yaml:3:7: audit: MG4: spec: wrong
  fix: right
</system-out>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" file="b.yaml" tests="3" failures="0" errors="1" skipped="1">
    <testcase name="Pod x/p" classname="b.yaml" file="b.yaml" line="2">
      <error message="spec: wrong">b.yaml:3:7: error: invalid-input: spec: wrong
  fix: right
</error>
    </testcase>
    <testcase name="Pod x/p" classname="b.yaml" file="b.yaml" line="2">
      <skipped message="kind Farm"/>
      <system-out>b.yaml:3:7: note: unhandled-kind: spec: wrong
  fix: right
</system-out>
    </testcase>
    <testcase name="Pod x/p" classname="b.yaml" file="b.yaml" line="2"/>
  </testsuite>
</testsuites>
)");
}

}  // namespace
}  // namespace mindgate::cli
