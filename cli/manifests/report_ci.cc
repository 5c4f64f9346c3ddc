#include "cli/manifests/report_ci.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/audit.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/manifests/report_formats.h"
#include "offline/evaluate.h"

namespace mindgate::cli {
namespace {

// The two characters above the controls that XML 1.0 has no place for: U+FFFE and U+FFFF.
bool IsNoncharacter(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// For text; tabs and ends of lines stay.
std::string XmlText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (character == "\n" || character == "\t") {
      out += character;
    } else if (Utf8Length(character) == 0 || IsControl(character) || IsNoncharacter(character)) {
      out += HexEscaped(character);
    } else if (const auto entity = MarkupEntity(character); !entity.empty()) {
      out += entity;
    } else {
      out += character;
    }
  }
  return out;
}

// A reader makes a blank of an end of line that stands in an attribute as it is.
std::string XmlAttribute(std::string_view name, std::string_view value) {
  std::string out = " " + std::string(name) + "=\"";
  for (const char c : XmlText(value)) {
    if (c == '\n') {
      out += "&#10;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string XmlNumber(std::string_view name, size_t number) {
  return XmlAttribute(name, std::to_string(number));
}

size_t CountCases(const JunitSuite& suite, bool (*has)(const JunitCase&)) {
  return static_cast<size_t>(std::count_if(suite.cases.begin(), suite.cases.end(), has));
}

void PrintProblems(std::string_view element, const std::vector<JunitProblem>& problems,
                   std::ostream& out) {
  for (const JunitProblem& problem : problems) {
    out << "      <" << element << XmlAttribute("message", problem.message);
    if (problem.text.empty()) {
      out << "/>\n";
    } else {
      out << ">" << XmlText(problem.text) << "</" << element << ">\n";
    }
  }
}

void PrintCase(const JunitCase& test, std::ostream& out) {
  out << "    <testcase" << XmlAttribute("name", test.name)
      << XmlAttribute("classname", test.class_name);
  if (!test.file.empty()) out << XmlAttribute("file", test.file);
  if (test.line > 0) out << XmlNumber("line", static_cast<size_t>(test.line));
  if (test.errors.empty() && test.failures.empty() && !test.skipped && test.output.empty()) {
    out << "/>\n";
    return;
  }
  out << ">\n";
  if (test.skipped) out << "      <skipped" << XmlAttribute("message", *test.skipped) << "/>\n";
  PrintProblems("error", test.errors, out);
  PrintProblems("failure", test.failures, out);
  if (!test.output.empty()) {
    out << "      <system-out>" << XmlText(test.output) << "</system-out>\n";
  }
  out << "    </testcase>\n";
}

}  // namespace

void PrintJunit(const std::vector<JunitSuite>& suites, std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const JunitSuite& suite : suites) {
    const auto failures = [](const JunitCase& test) { return !test.failures.empty(); };
    const auto errors = [](const JunitCase& test) { return !test.errors.empty(); };
    const auto is_skipped = [](const JunitCase& test) { return test.skipped.has_value(); };
    out << "  <testsuite" << XmlAttribute("name", suite.name) << XmlAttribute("file", suite.file)
        << XmlNumber("tests", suite.cases.size())
        << XmlNumber("failures", CountCases(suite, failures))
        << XmlNumber("errors", CountCases(suite, errors));
    if (const size_t skipped = CountCases(suite, is_skipped); skipped > 0) {
      out << XmlNumber("skipped", skipped);
    }
    out << ">\n";
    for (const JunitCase& test : suite.cases) PrintCase(test, out);
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

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

namespace {

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

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
// Changes when what a fingerprint is made of changes.
constexpr const char* kFingerprint = "mindgateFinding/v1";

std::string_view SarifLevelOf(FindingLevel level) {
  if (level == FindingLevel::kError || level == FindingLevel::kDenied) return "error";
  return level == FindingLevel::kWarning ? "warning" : "note";
}

std::string_view SarifDefaultLevelOf(schemas::Mode mode) {
  switch (mode) {
    case schemas::Mode::kEnforce:
      return "error";
    case schemas::Mode::kWarn:
      return "warning";
    case schemas::Mode::kAudit:
      return "note";
    case schemas::Mode::kOff:
      return "none";
  }
  return "none";
}

// What stands for a rule where there is none.
struct PlainRule {
  std::string_view id;
  std::string_view summary;
  std::string_view help;
  FindingLevel level;
};

constexpr std::array<PlainRule, 5> kPlainRules = {{
    {offline::kInvalidInput, "Every document must be a readable Kubernetes object",
     "Nothing is known of a document that cannot be read, so it is neither admitted nor denied.",
     FindingLevel::kError},
    {offline::kUnhandledKind, "Pods that ask for NPUs belong to a kind that mindgate handles",
     "On a cluster the pods are injected and evaluated one by one when they are created.",
     FindingLevel::kNote},
    {offline::kInternalError, "A decision must end with a verdict",
     "This is a fault of mindgate. Please report it.", FindingLevel::kError},
    {audit::kLossOfCard, "A workload recovers when a card dies",
     "`mindgate what-if --card NODE/CARD` shows what happens, step by step.",
     FindingLevel::kWarning},
    {audit::kLossOfNode, "A workload recovers when a node dies",
     "`mindgate what-if --node NODE` shows what happens, step by step.", FindingLevel::kWarning},
}};

OrderedJson RuleJson(const policies::Rule& rule) {
  const std::string id(rule.id);
  const std::string why(rule.why);
  const std::string fix(rule.fix);
  return {{"id", id},
          {"name", rule.name},
          {"shortDescription", {{"text", rule.summary}}},
          {"fullDescription", {{"text", why}}},
          {"help",
           {{"text", why + "\nWhat to write: " + fix + "\nSource: " + std::string(rule.source) +
                         "\n`mindgate explain " + id + "` shows all of it."}}},
          {"defaultConfiguration",
           {{"enabled", rule.default_mode != schemas::Mode::kOff},
            {"level", SarifDefaultLevelOf(rule.default_mode)}}}};
}

OrderedJson PlainRuleJson(const std::string& id) {
  for (const PlainRule& rule : kPlainRules) {
    if (rule.id != id) continue;
    return {{"id", id},
            {"name", id},
            {"shortDescription", {{"text", rule.summary}}},
            {"help", {{"text", rule.help}}},
            {"defaultConfiguration", {{"level", SarifLevelOf(rule.level)}}}};
  }
  return {{"id", id}};
}

// What stands for itself in the path of a URI (RFC 3986, 3.3), but for the colon, which would end a
// scheme.
constexpr std::string_view kOfPath = "/!$&'()*+,;=@";

// A relative path is relative to the root of the repository, where CI servers run programs.
std::string UriOf(const std::string& file) {
  const std::string path = offline::PlainPath(file);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (path.starts_with(scheme)) {
      return std::string(scheme) +
             PercentEncoded(path.substr(scheme.size()), std::string(kOfPath) + ":?%");
    }
  }
  return (path.starts_with("//")  ? "file:"
          : path.starts_with('/') ? "file://"
                                  : "") +
         PercentEncoded(path, kOfPath);
}

OrderedJson PhysicalLocationOf(const std::string& file, json::Position at) {
  OrderedJson physical = {{"artifactLocation", {{"uri", UriOf(file)}}}};
  if (at.line > 0) {
    OrderedJson region = {{"startLine", at.line}};
    if (at.column > 0) region["startColumn"] = at.column;
    physical["region"] = std::move(region);
  }
  return physical;
}

OrderedJson LocationOf(const ReportedObject& object, const ReportedFinding& finding) {
  OrderedJson location = OrderedJson::object();
  if (!object.file.empty()) {
    location["physicalLocation"] = PhysicalLocationOf(object.file, finding.at);
  }
  OrderedJson logical = OrderedJson::array();
  if (!object.name.empty()) {
    logical.push_back(
        {{"name", object.name}, {"fullyQualifiedName", object.title}, {"kind", "object"}});
  }
  if (!finding.field.empty()) {
    logical.push_back({{"name", finding.field},
                       {"fullyQualifiedName", object.title + " " + finding.field},
                       {"kind", "property"}});
  }
  if (!logical.empty()) location["logicalLocations"] = std::move(logical);
  return location;
}

// In a message of SARIF (3.11), braces begin placeholders, and "[a](b)" is a link.
std::string MessageText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '(' && out.ends_with(']')) out += ' ';
    if (c == '{' || c == '}') out += c;
    out += c;
  }
  return out;
}

std::string MessageOf(const ReportedObject& object, const ReportedFinding& finding) {
  std::string text = object.title + ": " + FieldMessage(finding);
  if (!finding.fix.empty()) text += "\nfix: " + finding.fix;
  return MessageText(text);
}

}  // namespace

OrderedJson SarifOf(const offline::Report& report) {
  std::map<std::string, size_t> indexes;
  OrderedJson rules = OrderedJson::array();
  OrderedJson results = OrderedJson::array();
  for (const ReportedObject& object : report.objects) {
    for (const ReportedFinding& finding : object.findings) {
      const auto [index, is_new] = indexes.emplace(finding.id, rules.size());
      if (is_new) {
        rules.push_back(finding.rule == nullptr ? PlainRuleJson(finding.id)
                                                : RuleJson(*finding.rule));
      }
      results.push_back({{"ruleId", finding.id},
                         {"ruleIndex", index->second},
                         {"level", SarifLevelOf(finding.level)},
                         {"message", {{"text", MessageOf(object, finding)}}},
                         {"locations", OrderedJson::array({LocationOf(object, finding)})},
                         {"partialFingerprints", {{kFingerprint, finding.fingerprint}}}});
    }
  }
  OrderedJson run = {
      {"tool",
       {{"driver", {{"name", "mindgate"}, {"version", Version()}, {"rules", std::move(rules)}}}}},
      {"invocations", OrderedJson::array({{{"executionSuccessful", report.counts.errors == 0}}})},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)}};
  return {
      {"$schema", kSchema}, {"version", "2.1.0"}, {"runs", OrderedJson::array({std::move(run)})}};
}

}  // namespace mindgate::cli
