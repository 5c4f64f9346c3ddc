#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using admission::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

offline::ReportedObject& AddToPage(offline::Report& report, Outcome outcome,
                                   const std::string& title, const std::string& message = "") {
  offline::ReportedObject& object = report.objects.emplace_back();
  object.file = "a.yaml";
  object.title = title;
  object.outcome = outcome;
  if (!message.empty()) {
    offline::ReportedFinding& finding = object.findings.emplace_back();
    finding.id = "MG050";
    finding.message = message;
    finding.level = outcome == Outcome::kDenied ? offline::FindingLevel::kDenied
                                                : offline::FindingLevel::kWarning;
  }
  return object;
}

TEST(ReportPage, DeniedObjectsComeFirst) {
  offline::Report report;
  AddToPage(report, Outcome::kAdmitted, "Pod x/plain");
  AddToPage(report, Outcome::kAdmitted, "Pod x/warned", "careful");
  AddToPage(report, Outcome::kError, "document 2", "unreadable");
  AddToPage(report, Outcome::kDenied, "Pod x/denied", "wrong");
  const std::string page = ReportPage(report);
  size_t last = 0;
  for (const char* part :
       {"<h1>", "<nav>", "id=\"rules\"", "id=\"files\"", "id=\"denied\"", "<h3>Pod x/denied",
        "id=\"errors\"", "<h3>document 2", "id=\"others\"", "<h3>Pod x/warned", "id=\"plain\"",
        "<td data-title=\"object\">Pod x/plain</td>", "</main>"}) {
    const size_t at = page.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, last) << part;
    last = at;
  }
}

TEST(ReportPage, TextsOfOthersAreText) {
  const std::string hostile = "</td><script>alert(\"1\")</script>&'\x1b\xFF";
  const std::string shown =
      "&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\\x1b\\xff";
  offline::Report report;
  offline::ReportedObject& object = AddToPage(report, Outcome::kDenied, hostile, hostile);
  object.file = hostile;
  object.findings.front().id = hostile;
  object.findings.front().field = hostile;
  object.findings.front().fix = hostile;
  AddToPage(report, Outcome::kAdmitted, hostile).file = hostile;
  const std::string page = ReportPage(report);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  size_t found = 0;
  for (size_t at = 0; (at = page.find(shown, at)) != std::string::npos; ++at) ++found;
  EXPECT_GE(found, 8u) << "in every cell that holds it";
}

TEST(ReportPage, IsBounded) {
  offline::Report report;
  for (int i = 0; i < 2'001; ++i) AddToPage(report, Outcome::kDenied, "Pod x/d", "wrong");
  for (int i = 0; i < 10'002; ++i) AddToPage(report, Outcome::kAdmitted, "Pod x/p");
  const std::string page = ReportPage(report);
  EXPECT_THAT(page, HasSubstr("<p>and 1 more: -o json has all</p>"));
  EXPECT_THAT(page, HasSubstr("<p>and 2 more: -o json has all</p>"));
}

}  // namespace
}  // namespace mindgate::cli
