#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "cli/manifests/report_ci.h"
#include "offline/report.h"

namespace mindgate::cli {

// The outputs that machines and reviewers read of a report, for every command that makes one. Each
// holds all that could not be read, and none is broken by what users wrote.

// "sarif", "junit", "github", "gitlab" and "html", in the order of help.
std::vector<std::string> ReportFormats();
bool IsReportFormat(std::string_view format);

// `format` is one of them; nothing is printed for any other.
void PrintReport(std::string_view format, const offline::Report& report, std::ostream& out);

// SARIF 2.1.0, one run: what code scanning services read.
nlohmann::ordered_json SarifOf(const offline::Report& report);

// A suite for each file, a case for each object: denied is failed, not read is an error, and what
// mindgate does not handle is skipped.
std::vector<JunitSuite> JunitOf(const offline::Report& report);

// A workflow command of GitHub Actions for each finding, a line each.
void PrintAnnotations(const offline::Report& report, std::ostream& out);

// GitLab's Code Quality report.
nlohmann::ordered_json CodeQualityOf(const offline::Report& report);

// A page for a browser: a summary, then what is denied, then the rest.
std::string ReportPage(const offline::Report& report);

// Findings of one rule or in one file, by what they mean.
struct FindingCounts {
  std::string name;  // the title of a rule, or a file
  size_t objects = 0;
  size_t errors = 0;
  size_t denied = 0;
  size_t warned = 0;
  size_t recorded = 0;  // audited and noted
};

// The worst first: by errors, then by what is denied, warned and recorded.
std::vector<FindingCounts> CountsByRule(const offline::Report& report);
std::vector<FindingCounts> CountsByFile(const offline::Report& report);
// By another name for each object: `names` has as many as the report has objects.
std::vector<FindingCounts> CountsBy(const offline::Report& report,
                                    const std::vector<std::string>& names);

// A count in a table: in `color` unless it is 0.
TableCell CountCell(size_t count, Color color);

// A table of them; `title` stands over their names.
void PrintCounts(const std::string& title, const std::vector<FindingCounts>& all,
                 const Paint& paint, std::ostream& out);

// Both as tables for a terminal, then the number of objects of each outcome. With `only_findings`,
// without files that have none; the report itself should have all objects.
void PrintSummary(const offline::Report& report, bool only_findings, const Paint& paint,
                  std::ostream& out);

// "a.yaml:3:7: denied: MG050 fault-scheduling-value: FIELD: MESSAGE", then "  fix: ...".
std::string FindingLines(const offline::ReportedObject& object,
                         const offline::ReportedFinding& finding);

}  // namespace mindgate::cli
