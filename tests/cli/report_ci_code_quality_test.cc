#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/manifests/report_formats.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;

TEST(CodeQuality, SeveritiesAndLines) {
  const struct {
    FindingLevel level;
    int object_line;
    int line;
    const char* severity;
    int begin;
  } cases[] = {
      {FindingLevel::kError, 2, 3, "blocker", 3}, {FindingLevel::kDenied, 2, 3, "critical", 3},
      {FindingLevel::kWarning, 2, 0, "minor", 2}, {FindingLevel::kAudit, 0, 0, "info", 1},
      {FindingLevel::kNote, 0, 5, "info", 5},
  };
  for (const auto& c : cases) {
    offline::Report report;
    offline::ReportedObject& object = report.objects.emplace_back();
    object.file = "./dir/a.yaml";
    object.title = "Pod default/p";
    object.line = c.object_line;
    offline::ReportedFinding& finding = object.findings.emplace_back();
    finding.id = "MG050";
    finding.level = c.level;
    finding.field = "spec.a";
    finding.message = "wrong";
    finding.fix = "right";
    finding.at = {c.line, 7};
    finding.fingerprint = "00ff";
    EXPECT_EQ(CodeQualityOf(report),
              nlohmann::ordered_json::array(
                  {{{"description", "Pod default/p: spec.a: wrong; fix: right"},
                    {"check_name", "MG050"},
                    {"fingerprint", "00ff"},
                    {"severity", c.severity},
                    {"location", {{"path", "dir/a.yaml"}, {"lines", {{"begin", c.begin}}}}}}}));
  }
}

TEST(CodeQuality, BytesThatAreNotUtf8AreReplaced) {
  offline::Report report;
  offline::ReportedObject& object = report.objects.emplace_back();
  object.file = "caf\xE9.yaml";
  object.title = "\"\n\\";
  object.findings.emplace_back().message = "\xFF";
  const auto list = nlohmann::json::parse(offline::Dump(CodeQualityOf(report)));
  EXPECT_EQ(list[0]["location"]["path"], "caf\xEF\xBF\xBD.yaml");
  EXPECT_EQ(list[0]["description"], "\"\n\\: \xEF\xBF\xBD");
}

}  // namespace
}  // namespace mindgate::cli
