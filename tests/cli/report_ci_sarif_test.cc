#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/manifests/report_formats.h"
#include "policies/engine.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using offline::FindingLevel;

offline::Report SarifReport(const std::string& file, offline::ReportedFinding finding) {
  offline::Report report;
  offline::ReportedObject& object = report.objects.emplace_back();
  object.file = file;
  object.title = "Pod default/p";
  object.name = "p";
  object.findings.push_back(std::move(finding));
  return report;
}

OrderedJson ResultOf(const offline::Report& report) {
  return SarifOf(report).at("runs").at(0).at("results").at(0);
}

offline::ReportedFinding SarifFinding(FindingLevel level) {
  offline::ReportedFinding finding;
  finding.rule = policies::FindRule("MG050");
  finding.id = "MG050";
  finding.level = level;
  finding.field = "metadata.labels[a]";
  finding.message = "wrong";
  finding.fix = "write it right";
  finding.at = {3, 7};
  finding.fingerprint = "0123456789abcdef";
  return finding;
}

TEST(Sarif, AWholeResult) {
  EXPECT_EQ(ResultOf(SarifReport("dir/a.yaml", SarifFinding(FindingLevel::kDenied))),
            OrderedJson::parse(R"({
    "ruleId": "MG050",
    "ruleIndex": 0,
    "level": "error",
    "message": {"text": "Pod default/p: metadata.labels[a]: wrong\nfix: write it right"},
    "locations": [{
      "physicalLocation": {
        "artifactLocation": {"uri": "dir/a.yaml"},
        "region": {"startLine": 3, "startColumn": 7}
      },
      "logicalLocations": [
        {"name": "p", "fullyQualifiedName": "Pod default/p", "kind": "object"},
        {"name": "metadata.labels[a]", "fullyQualifiedName": "Pod default/p metadata.labels[a]",
         "kind": "property"}
      ]
    }],
    "partialFingerprints": {"mindgateFinding/v1": "0123456789abcdef"}
  })"));
}

TEST(Sarif, Levels) {
  const struct {
    FindingLevel level;
    const char* want;
  } cases[] = {{FindingLevel::kError, "error"},
               {FindingLevel::kDenied, "error"},
               {FindingLevel::kWarning, "warning"},
               {FindingLevel::kAudit, "note"},
               {FindingLevel::kNote, "note"}};
  for (const auto& c : cases) {
    EXPECT_EQ(ResultOf(SarifReport("a.yaml", SarifFinding(c.level))).at("level"), c.want);
  }
}

TEST(Sarif, PlacesThatAreNotKnownAreLeftOut) {
  auto finding = SarifFinding(FindingLevel::kDenied);
  const struct {
    json::Position at;
    const char* want;
  } cases[] = {
      {{3, 7}, R"({"startLine": 3, "startColumn": 7})"},
      {{3, 0}, R"({"startLine": 3})"},
      {{0, 0}, "null"},
      {{0, 7}, "null"},
  };
  for (const auto& c : cases) {
    finding.at = c.at;
    const auto place = ResultOf(SarifReport("a.yaml", finding))["locations"][0]["physicalLocation"];
    EXPECT_EQ(place.value("region", OrderedJson()), OrderedJson::parse(c.want));
  }
}

TEST(Sarif, FilesAreUris) {
  const struct {
    std::string file;
    const char* want;
  } cases[] = {
      {"./dir/a.yaml", "dir/a.yaml"},
      {"/srv/a.yaml", "file:///srv/a.yaml"},
      {"a b%.yaml", "a%20b%25.yaml"},
      {"a:b?c#d.yaml", "a%3Ab%3Fc%23d.yaml"},
      {"推.yaml", "%E6%8E%A8.yaml"},
      {"caf\xE9\n.yaml", "caf%E9%0A.yaml"},
      {"<stdin>", "%3Cstdin%3E"},
      {"https://host:8443/a b.yaml?x=%20", "https://host:8443/a%20b.yaml?x=%20"},
  };
  for (const auto& c : cases) {
    const auto result = ResultOf(SarifReport(c.file, SarifFinding(FindingLevel::kDenied)));
    EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], c.want);
  }
}

// Braces begin placeholders in a message, and brackets before a parenthesis are a link.
TEST(Sarif, MessagesHoldNoPlaceholdersAndNoLinks) {
  auto finding = SarifFinding(FindingLevel::kDenied);
  finding.field.clear();
  finding.fix.clear();
  finding.message = "{0} [click](https://evil.example) [[a]](1)";
  EXPECT_EQ(ResultOf(SarifReport("a.yaml", finding))["message"]["text"],
            "Pod default/p: {{0}} [click] (https://evil.example) [[a]] (1)");
}

TEST(Sarif, EachRuleIsDescribedOnce) {
  offline::Report report = SarifReport("a.yaml", SarifFinding(FindingLevel::kDenied));
  auto& findings = report.objects.front().findings;
  findings.push_back(findings.front());
  for (const std::string_view id :
       {offline::kInvalidInput, offline::kUnhandledKind, offline::kInternalError}) {
    offline::ReportedFinding plain;
    plain.id = id;
    findings.push_back(plain);
  }
  const auto run = SarifOf(report).at("runs").at(0);
  std::string text;
  for (const auto& result : run["results"]) text += result["ruleIndex"].dump();
  EXPECT_EQ(text, "00123");
  text.clear();
  for (const auto& rule : run["tool"]["driver"]["rules"]) {
    text += rule["id"].get<std::string>() + " " + rule["name"].get<std::string>() + " " +
            rule["defaultConfiguration"]["level"].get<std::string>() + "\n";
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
    EXPECT_FALSE(rule["help"]["text"].get<std::string>().empty());
  }
  EXPECT_EQ(text,
            "MG050 fault-scheduling-value error\ninvalid-input invalid-input error\n"
            "unhandled-kind unhandled-kind note\ninternal-error internal-error error\n");
}

}  // namespace
}  // namespace mindgate::cli
