#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/losses.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

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
     "On a cluster the pods are injected and judged one by one when they are created.",
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
