#include "cli/manifests/report_formats.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "json/issues.h"
#include "offline/results_json.h"

namespace mindgate::cli {
namespace {

struct ReportFormat {
  std::string_view name;
  void (*print)(const offline::Report& report, std::ostream& out);
};

constexpr std::array<ReportFormat, 5> kReportFormats = {{
    {"sarif", [](const offline::Report& report,
                 std::ostream& out) { out << offline::Dump(SarifOf(report)) << "\n"; }},
    {"junit",
     [](const offline::Report& report, std::ostream& out) { PrintJunit(JunitOf(report), out); }},
    {"github", PrintAnnotations},
    {"gitlab", [](const offline::Report& report,
                  std::ostream& out) { out << offline::Dump(CodeQualityOf(report)) << "\n"; }},
    {"html", [](const offline::Report& report, std::ostream& out) { out << ReportPage(report); }},
}};

const ReportFormat* FindFormat(std::string_view format) {
  const auto* const found = std::find_if(kReportFormats.begin(), kReportFormats.end(),
                                         [format](const auto& one) { return one.name == format; });
  return found == kReportFormats.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string> ReportFormats() {
  std::vector<std::string> names;
  for (const ReportFormat& format : kReportFormats) names.emplace_back(format.name);
  return names;
}

void PrintReport(std::string_view format, const offline::Report& report, std::ostream& out) {
  const ReportFormat* const found = FindFormat(format);
  if (found != nullptr) found->print(report, out);
}

bool IsReportFormat(std::string_view format) { return FindFormat(format) != nullptr; }

std::string FindingLines(const offline::ReportedObject& object,
                         const offline::ReportedFinding& finding) {
  std::string text = json::PlaceText(object.file, finding.at) + ": " +
                     std::string(offline::FindingLevelName(finding.level)) + ": " +
                     RuleTitle(finding) + ": " + FieldMessage(finding) + "\n";
  if (!finding.fix.empty()) text += "  fix: " + finding.fix + "\n";
  return text;
}

}  // namespace mindgate::cli
