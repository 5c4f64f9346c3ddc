// What `mindgate apply` reports of one folder in each format: the files of tests/golden/reports.
#include "cli/manifests/report_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/version.h"
#include "support/golden.h"
#include "support/reports.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReportFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// Without what each release changes.
std::string WithoutVersion(std::string text) {
  const std::string version = "\"version\": \"" + Version() + "\"";
  const size_t at = text.find(version);
  if (at != std::string::npos) text.replace(at, version.size(), "\"version\": \"VERSION\"");
  return text;
}

TEST(ReportFormats, OneFolderInEachFormat) {
  const ReportFolder folder;
  const struct {
    const char* format;
    std::vector<std::string> more;
    const char* file;
  } cases[] = {
      {"sarif", {}, "findings.sarif"},
      {"junit", {}, "findings.xml"},
      {"github", {}, "findings.github.txt"},
      {"gitlab", {}, "findings.gitlab.json"},
      {"html", {}, "findings.html"},
      {"table", {"--summary"}, "summary.txt"},
      {"junit", {"--only-findings", "--strict"}, "only-findings-strict.xml"},
      {"table", {"--only-findings"}, "only-findings.txt"},
      {"table", {"--only-findings", "--summary"}, "only-findings-summary.txt"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.file);
    const CliResult result = ReportFolder::Apply("dir", c.format, c.more);
    EXPECT_EQ(result.code, 2) << "a file cannot be read";
    ExpectGolden(std::string("tests/golden/reports/") + c.file, WithoutVersion(result.out));
  }
}

// Exit codes are those of all other formats, and what cannot be read is in every one.
TEST(ReportFormats, ExitCodesAndFaults) {
  const ReportFolder folder;
  for (const std::string& format : ReportFormats()) {
    SCOPED_TRACE(format);
    EXPECT_EQ(ReportFolder::Apply("dir/mixed.yaml", format).code, 0);
    EXPECT_EQ(ReportFolder::Apply("dir/mixed.yaml", format, {"--strict"}).code, 1);
    EXPECT_EQ(ReportFolder::Apply("dir/denied.yaml", format).code, 1);
    for (const char* paths : {"dir/denied.yaml,dir/broken.yaml", "dir/denied.yaml,gone.yaml"}) {
      const CliResult result = ReportFolder::Apply(paths, format);
      EXPECT_EQ(result.code, 2);
      EXPECT_THAT(result.out, HasSubstr(std::string(paths).substr(16)));
      EXPECT_THAT(result.out, HasSubstr("invalid-input"));
    }
    const CliResult none = ReportFolder::Apply("mindgate.yaml", format);
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.out, HasSubstr("not a Kubernetes object"));
  }
}

TEST(ReportFormats, NothingFoundIsAWholeReport) {
  const ReportFolder folder;
  folder.workspace().Write("good.yaml",
                           ReportFolder::Pod("good", "default", "fault-scheduling: force"));
  const struct {
    const char* format;
    const char* want;
  } cases[] = {
      {"junit",
       R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="good.yaml" file="good.yaml" tests="1" failures="0" errors="0">
    <testcase name="Pod default/good" classname="good.yaml" file="good.yaml" line="1"/>
  </testsuite>
</testsuites>
)"},
      {"github", ""},
      {"gitlab", "[]\n"},
  };
  for (const auto& c : cases) {
    const CliResult result = ReportFolder::Apply("good.yaml", c.format);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out, c.want) << c.format;
  }
  EXPECT_THAT(ReportFolder::Apply("good.yaml", "sarif").out,
              HasSubstr("\"rules\": []\n        }\n      },\n      \"invocations\": [\n        {\n"
                        "          \"executionSuccessful\": true\n"));
  EXPECT_THAT(ReportFolder::Apply("good.yaml", "html").out, Not(HasSubstr("id=\"rules\"")));
  EXPECT_EQ(ReportFolder::Apply("good.yaml", "table", {"--only-findings"}).out,
            "OUTCOME     OBJECT  CHANGES  PLACE\n\n1 admitted, 0 denied, 0 errors, 0 ignored\n");
  EXPECT_EQ(ReportFolder::Apply("good.yaml", "table", {"--only-findings", "--summary"}).out,
            "1 admitted, 0 denied, 0 errors, 0 ignored\n");
}

// GitHub's runner also reads standard error; all other readers see there what cannot be read.
TEST(ReportFormats, StandardErrorHasFaultsButForGitHub) {
  const ReportFolder folder;
  folder.workspace().Write("broken.yaml", "::error::x: [\n");
  for (const std::string& format : ReportFormats()) {
    const CliResult result = ReportFolder::Apply("broken.yaml,dir/denied.yaml", format);
    if (format == "github") {
      EXPECT_EQ(result.err, "");
    } else {
      EXPECT_THAT(result.err, ::testing::StartsWith("broken.yaml:2:1: ")) << format;
      EXPECT_THAT(result.err, Not(HasSubstr("MG050"))) << format;
    }
  }
}

TEST(ReportFormats, FlagsThatDoNotFitTheOutput) {
  const ReportFolder folder;
  for (const char* format : {"yaml", "name", "patch", "diff"}) {
    const CliResult result = ReportFolder::Apply("dir", format, {"--only-findings"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: --only-findings does not work with -o " + std::string(format) +
                              "\nhint: this output is what would be stored; write -o table, or "
                              "another output that lists findings\n");
  }
  for (const char* format : {"yaml", "json", "sarif", "html"}) {
    const CliResult result = ReportFolder::Apply("dir", format, {"--summary"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: --summary needs -o table\nhint: -o html begins with a summary\n");
  }
}

TEST(ReportFormats, OnlyFindingsInJsonKeepsTheCounts) {
  const ReportFolder folder;
  const auto names = [](const std::vector<std::string>& more) {
    return ReportFolder::Apply(
               "dir/mixed.yaml",
               "jsonpath={range .results[*]}{.name} {end}{.summary.admitted} {.summary.ignored}",
               more)
        .out;
  };
  EXPECT_EQ(names({}), "careful noted good s 3 1");
  EXPECT_EQ(names({"--only-findings"}), "careful noted 3 1");
}

TEST(ReportFormats, OtherNamesPrintNothing) {
  std::ostringstream out;
  PrintReport("table", {}, out);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace mindgate::cli
