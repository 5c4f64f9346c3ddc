#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

std::string_view SeverityOf(offline::FindingLevel level) {
  switch (level) {
    case offline::FindingLevel::kError:
      return "blocker";
    case offline::FindingLevel::kDenied:
      return "critical";
    case offline::FindingLevel::kWarning:
      return "minor";
    case offline::FindingLevel::kAudit:
    case offline::FindingLevel::kNote:
      return "info";
  }
  return "blocker";
}

std::string DescriptionOf(const offline::ReportedObject& object,
                          const offline::ReportedFinding& finding) {
  std::string text = object.title + ": " + FieldMessage(finding);
  if (!finding.fix.empty()) text += "; fix: " + finding.fix;
  return text;
}

}  // namespace

nlohmann::ordered_json CodeQualityOf(const offline::Report& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const offline::ReportedObject& object : report.objects) {
    for (const offline::ReportedFinding& finding : object.findings) {
      // GitLab requires a line: the first one where none is known.
      const int line = std::max(finding.at.line > 0 ? finding.at.line : object.line, 1);
      list.push_back({{"description", DescriptionOf(object, finding)},
                      {"check_name", finding.id},
                      {"fingerprint", finding.fingerprint},
                      {"severity", SeverityOf(finding.level)},
                      {"location",
                       {{"path", offline::PlainPath(object.file)}, {"lines", {{"begin", line}}}}}});
    }
  }
  return list;
}

}  // namespace mindgate::cli
