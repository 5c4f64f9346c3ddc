#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;

void AddObject(offline::Report& report, const std::string& file,
               const std::vector<std::pair<std::string, FindingLevel>>& findings) {
  offline::ReportedObject& object = report.objects.emplace_back();
  object.file = file;
  for (const auto& [id, level] : findings) {
    offline::ReportedFinding& finding = object.findings.emplace_back();
    finding.id = id;
    finding.level = level;
  }
}

TEST(Summary, TheWorstComesFirst) {
  offline::Report report;
  report.counts = {.admitted = 4, .denied = 2, .errors = 1, .ignored = 1};
  AddObject(report, "good.yaml", {});
  AddObject(report, "noted.yaml", {{"kind", FindingLevel::kNote}});
  AddObject(report, "audited.yaml", {{"audit", FindingLevel::kAudit}});
  AddObject(report, "warned-10.yaml", {{"mixed", FindingLevel::kWarning}});
  AddObject(report, "warned-9.yaml", {{"mixed", FindingLevel::kWarning}});
  AddObject(report, "denied.yaml",
            {{"mixed", FindingLevel::kDenied},
             {"mixed", FindingLevel::kDenied},
             {"other", FindingLevel::kWarning}});
  AddObject(report, "denied.yaml", {{"mixed", FindingLevel::kDenied}});
  AddObject(report, "broken.yaml", {{"invalid-input", FindingLevel::kError}});
  std::ostringstream out;
  PrintSummary(report, false, Paint(ColorMode::kNever, false), out);
  EXPECT_EQ(out.str(), R"(RULE            OBJECTS   ERRORS   DENIED   WARNED   RECORDED
invalid-input   1         1        0        0        0
mixed           4         0        3        2        0
other           1         0        0        1        0
audit           1         0        0        0        1
kind            1         0        0        0        1

FILE             OBJECTS   ERRORS   DENIED   WARNED   RECORDED
broken.yaml      1         1        0        0        0
denied.yaml      2         0        3        1        0
warned-9.yaml    1         0        0        1        0
warned-10.yaml   1         0        0        1        0
audited.yaml     1         0        0        0        1
noted.yaml       1         0        0        0        1
good.yaml        1         0        0        0        0

4 admitted, 2 denied, 1 error, 1 ignored
)");
}

TEST(Summary, FilesWithoutFindingsCanBeLeftOut) {
  offline::Report report;
  report.counts.admitted = 3;
  AddObject(report, "good.yaml", {});
  AddObject(report, "warned.yaml", {{"mixed", FindingLevel::kWarning}});
  AddObject(report, "warned.yaml", {});
  std::ostringstream out;
  PrintSummary(report, true, Paint(ColorMode::kNever, false), out);
  EXPECT_EQ(out.str(), R"(RULE    OBJECTS   ERRORS   DENIED   WARNED   RECORDED
mixed   1         0        0        1        0

FILE          OBJECTS   ERRORS   DENIED   WARNED   RECORDED
warned.yaml   2         0        0        1        0

3 admitted, 0 denied, 0 errors, 0 ignored
)");
}

TEST(Summary, OfNothing) {
  std::ostringstream out;
  PrintSummary({}, false, Paint(ColorMode::kNever, false), out);
  EXPECT_EQ(out.str(), "0 admitted, 0 denied, 0 errors, 0 ignored\n");
}

}  // namespace
}  // namespace mindgate::cli
