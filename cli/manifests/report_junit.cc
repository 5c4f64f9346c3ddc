#include <utility>

#include "base/text.h"
#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

// "denied by MG050, MG051": each rule once.
std::string DeniedBy(const ReportedObject& object) {
  std::vector<std::string> ids;
  for (const ReportedFinding& finding : object.findings) {
    const bool denies = finding.level == FindingLevel::kDenied;
    if (denies && (ids.empty() || ids.back() != finding.id)) ids.push_back(finding.id);
  }
  return "denied by " + JoinFirst(ids, 8);
}

// What could not be read or decided in errors, all findings of what is denied in a failure, and
// those of all other objects in their output.
JunitCase JunitCaseOf(const ReportedObject& object) {
  JunitCase test;
  test.name = object.title;
  test.class_name = object.file;
  test.file = object.file;
  test.line = object.line;
  std::string others;
  for (const ReportedFinding& finding : object.findings) {
    if (finding.level == FindingLevel::kError) {
      test.errors.push_back({FieldMessage(finding), FindingLines(object, finding)});
    } else {
      others += FindingLines(object, finding);
    }
  }
  if (object.Has(FindingLevel::kDenied)) {
    test.failures.push_back({DeniedBy(object), std::move(others)});
  } else {
    test.output = std::move(others);
  }
  if (object.outcome == admission::Outcome::kIgnored) test.skipped = object.ignored_because;
  return test;
}

}  // namespace

std::vector<JunitSuite> JunitOf(const offline::Report& report) {
  std::vector<JunitSuite> suites;
  for (const ReportedObject& object : report.objects) {
    if (suites.empty() || suites.back().file != object.file) {
      suites.push_back({object.file, object.file, {}});
    }
    suites.back().cases.push_back(JunitCaseOf(object));
  }
  return suites;
}

}  // namespace mindgate::cli
