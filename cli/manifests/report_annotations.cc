#include <ostream>
#include <sstream>
#include <vector>

#include "cli/manifests/report_formats.h"
#include "offline/evaluate.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

std::string_view CommandOf(FindingLevel level) {
  if (level == FindingLevel::kError || level == FindingLevel::kDenied) return "error";
  return level == FindingLevel::kWarning ? "warning" : "notice";
}

// The escapes of GitHub's toolkit: a message ends with its line, a property also at a comma or
// colon.
std::string WorkflowEscaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (c == ':' && property) {
      out += "%3A";
    } else if (c == ',' && property) {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

void PrintAnnotation(const ReportedObject& object, const ReportedFinding& finding,
                     std::ostream& out) {
  std::vector<std::pair<std::string_view, std::string>> properties;
  // What comes from standard input is in no file of the repository.
  if (!object.file.empty() && object.file != offline::kStdin) {
    properties.emplace_back("file", offline::PlainPath(object.file));
  }
  if (finding.at.line > 0) {
    properties.emplace_back("line", std::to_string(finding.at.line));
    if (finding.at.column > 0) properties.emplace_back("col", std::to_string(finding.at.column));
  }
  properties.emplace_back("title", RuleTitle(finding));
  std::string message = object.title + ": " + FieldMessage(finding);
  if (!finding.fix.empty()) message += "\nfix: " + finding.fix;
  out << "::" << CommandOf(finding.level);
  char separator = ' ';
  for (const auto& [name, value] : properties) {
    out << separator << name << "=" << WorkflowEscaped(value, true);
    separator = ',';
  }
  out << "::" << WorkflowEscaped(message, false) << "\n";
}

}  // namespace

void PrintAnnotations(const offline::Report& report, std::ostream& out) {
  for (const ReportedObject& object : report.objects) {
    for (const ReportedFinding& finding : object.findings) PrintAnnotation(object, finding, out);
  }
  std::ostringstream skipped;
  offline::PrintSkipped(report.skipped, skipped);
  std::string text = skipped.str();
  while (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) out << "::notice title=mindgate::" << WorkflowEscaped(text, false) << "\n";
}

}  // namespace mindgate::cli
