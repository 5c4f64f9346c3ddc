#include "cli/manifests/report_formats.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <tuple>

#include "base/foreign_text.h"
#include "base/text.h"
#include "cli/console/output.h"
#include "json/issues.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

void CountFinding(FindingLevel level, FindingCounts& counts) {
  switch (level) {
    case FindingLevel::kError:
      ++counts.errors;
      break;
    case FindingLevel::kDenied:
      ++counts.denied;
      break;
    case FindingLevel::kWarning:
      ++counts.warned;
      break;
    case FindingLevel::kAudit:
    case FindingLevel::kNote:
      ++counts.recorded;
      break;
  }
}

std::vector<FindingCounts> WorstFirst(std::map<std::string, FindingCounts> by_name) {
  std::vector<FindingCounts> sorted;
  for (auto& [name, counts] : by_name) {
    counts.name = name;
    sorted.push_back(std::move(counts));
  }
  const auto badness = [](const FindingCounts& counts) {
    return std::tie(counts.errors, counts.denied, counts.warned, counts.recorded);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&badness](const FindingCounts& left, const FindingCounts& right) {
              if (badness(left) != badness(right)) return badness(left) > badness(right);
              return NaturalLess(left.name, right.name);
            });
  return sorted;
}

}  // namespace

TableCell CountCell(size_t count, Color color) {
  return count == 0 ? TableCell("0") : TableCell(std::to_string(count), color);
}

void PrintCounts(const std::string& title, const std::vector<FindingCounts>& all,
                 const Paint& paint, std::ostream& out) {
  Table table({title, "OBJECTS", "ERRORS", "DENIED", "WARNED", "RECORDED"});
  for (const FindingCounts& counts : all) {
    table.Add({counts.name, std::to_string(counts.objects), CountCell(counts.errors, Color::kRed),
               CountCell(counts.denied, Color::kRed), CountCell(counts.warned, Color::kYellow),
               CountCell(counts.recorded, Color::kCyan)});
  }
  table.Print(paint, out);
}

std::vector<FindingCounts> CountsByRule(const offline::Report& report) {
  std::map<std::string, FindingCounts> by_rule;
  for (const ReportedObject& object : report.objects) {
    std::set<std::string_view> seen;
    for (const ReportedFinding& finding : object.findings) {
      FindingCounts& counts = by_rule[RuleTitle(finding)];
      CountFinding(finding.level, counts);
      if (seen.insert(finding.id).second) ++counts.objects;
    }
  }
  return WorstFirst(std::move(by_rule));
}

std::vector<FindingCounts> CountsByFile(const offline::Report& report) {
  std::vector<std::string> files;
  for (const ReportedObject& object : report.objects) files.push_back(object.file);
  return CountsBy(report, files);
}

std::vector<FindingCounts> CountsBy(const offline::Report& report,
                                    const std::vector<std::string>& names) {
  std::map<std::string, FindingCounts> by_name;
  for (size_t i = 0; i < report.objects.size(); ++i) {
    FindingCounts& counts = by_name[names[i]];
    ++counts.objects;
    for (const ReportedFinding& finding : report.objects[i].findings) {
      CountFinding(finding.level, counts);
    }
  }
  return WorstFirst(std::move(by_name));
}

void PrintSummary(const offline::Report& report, bool only_findings, const Paint& paint,
                  std::ostream& out) {
  if (const auto by_rule = CountsByRule(report); !by_rule.empty()) {
    PrintCounts("RULE", by_rule, paint, out);
    out << "\n";
  }
  auto by_file = CountsByFile(report);
  if (only_findings) {
    std::erase_if(by_file, [](const FindingCounts& counts) {
      return counts.errors + counts.denied + counts.warned + counts.recorded == 0;
    });
  }
  if (!by_file.empty()) {
    PrintCounts("FILE", by_file, paint, out);
    out << "\n";
  }
  out << CountsText(report.counts) << "\n";
}

namespace {

// What a browser still shows well.
constexpr size_t kMaxSections = 2'000;     // objects with findings
constexpr size_t kMaxPlainRows = 10'000;   // objects without
constexpr size_t kMaxCountedRows = 1'000;  // files

// Counts are aligned, and what may be long breaks anywhere: the field and the text of a finding,
// and the place of an object.
constexpr std::string_view kReportStyle =
    R"(.counts td + td { text-align: right; } .found td { white-space: nowrap; } .found td:nth-child(n + 4) { overflow-wrap: anywhere; white-space: normal; }
section { break-inside: avoid; } .warn { color: #8a5a00; } @media (prefers-color-scheme: dark) { .warn { color: #f2c14e; } }
@media (max-width: 40rem) { .counts td + td { text-align: left; } .found td { white-space: normal; } }
@media print { .warn { color: #6b4600; } }
)";

std::string_view ClassOfLevel(FindingLevel level) {
  if (level == FindingLevel::kError || level == FindingLevel::kDenied) return "bad";
  return level == FindingLevel::kWarning ? "warn" : "soft";
}

std::string Marked(std::string_view style, std::string_view text) {
  return "<span class=\"" + std::string(style) + "\">" + HtmlEscaped(text) + "</span>";
}

std::string MoreText(size_t all, size_t most) {
  if (all <= most) return "";
  return "<p>and " + std::to_string(all - most) + " more: -o json has all</p>\n";
}

std::string CountsTable(const std::string& title, const std::vector<FindingCounts>& all) {
  const std::vector<std::string> titles = {title,    "objects", "errors",
                                           "denied", "warned",  "recorded"};
  std::string html = "<table class=\"counts\">\n" + HtmlTitles(titles);
  for (size_t i = 0; i < all.size() && i < kMaxCountedRows; ++i) {
    const FindingCounts& counts = all[i];
    const std::vector<std::string> cells = {
        HtmlName(counts.name),         std::to_string(counts.objects),
        std::to_string(counts.errors), std::to_string(counts.denied),
        std::to_string(counts.warned), std::to_string(counts.recorded)};
    html += HtmlRow(titles, cells);
  }
  return html + "</table>\n" + MoreText(all.size(), kMaxCountedRows);
}

// "13:27", or nothing.
std::string LineAndColumn(json::Position at) {
  return at.line > 0 ? json::PositionText("", at).substr(1) : "";
}

std::string FindingRow(const std::vector<std::string>& titles, const ReportedFinding& finding) {
  std::string what = HtmlEscaped(finding.message);
  if (!finding.fix.empty()) what += "<br><b>fix:</b> " + HtmlEscaped(finding.fix);
  const std::vector<std::string> cells = {
      Marked(ClassOfLevel(finding.level), offline::FindingLevelName(finding.level)),
      HtmlEscaped(RuleTitle(finding)), LineAndColumn(finding.at), HtmlEscaped(finding.field), what};
  return HtmlRow(titles, cells);
}

std::string ObjectSection(const ReportedObject& object) {
  const std::string_view outcome = admission::OutcomeName(object.outcome);
  const bool fine = object.outcome == admission::Outcome::kAdmitted ||
                    object.outcome == admission::Outcome::kIgnored;
  std::string html = "<section>\n<h3>" + HtmlName(object.title) + ": " +
                     Marked(fine ? "good" : "bad", outcome) + "</h3>\n<p class=\"soft\">" +
                     HtmlEscaped(json::PositionText(object.file, {object.line, 0})) + "</p>\n";
  const std::vector<std::string> titles = {"effect", "rule", "line", "field", "what is wrong"};
  html += "<table class=\"found\">\n" + HtmlTitles(titles);
  for (const ReportedFinding& finding : object.findings) html += FindingRow(titles, finding);
  return html + "</table>\n</section>\n";
}

using Objects = std::vector<const ReportedObject*>;

std::string SectionsOf(std::string_view id, std::string_view title, const Objects& objects) {
  if (objects.empty()) return "";
  std::string html = "<h2 id=\"" + std::string(id) + "\">" + std::string(title) + "</h2>\n";
  for (size_t i = 0; i < objects.size() && i < kMaxSections; ++i) {
    html += ObjectSection(*objects[i]);
  }
  return html + MoreText(objects.size(), kMaxSections);
}

std::string PlainObjects(const Objects& objects) {
  if (objects.empty()) return "";
  const std::vector<std::string> titles = {"object", "outcome", "changes", "place"};
  std::string html = "<h2 id=\"plain\">Without findings</h2>\n<details><summary>" +
                     Counted(static_cast<int64_t>(objects.size()), "object") +
                     "</summary>\n<table class=\"found\">\n" + HtmlTitles(titles);
  for (size_t i = 0; i < objects.size() && i < kMaxPlainRows; ++i) {
    const ReportedObject& object = *objects[i];
    const std::vector<std::string> cells = {
        HtmlName(object.title), std::string(admission::OutcomeName(object.outcome)),
        std::to_string(object.changes),
        HtmlEscaped(json::PositionText(object.file, {object.line, 0}))};
    html += HtmlRow(titles, cells);
  }
  return html + "</table>\n</details>\n" + MoreText(objects.size(), kMaxPlainRows);
}

std::string SummarySection(const offline::Report& report) {
  const bool fine = report.counts.errors + report.counts.denied == 0;
  std::string html = "<p>" + Marked(fine ? "good" : "bad", CountsText(report.counts)) + "</p>\n";
  if (const size_t skipped = report.skipped.documents + report.skipped.templates; skipped > 0) {
    html += "<p class=\"soft\">" + std::to_string(skipped) +
            " skipped: documents that are not Kubernetes objects, and templates of Helm "
            "charts</p>\n";
  }
  return html;
}

}  // namespace

std::string ReportPage(const offline::Report& report) {
  Objects unread;
  Objects denied;
  Objects others;
  Objects plain;
  for (const ReportedObject& object : report.objects) {
    const bool failed = object.outcome == admission::Outcome::kError;
    const bool is_denied = object.outcome == admission::Outcome::kDenied;
    (failed                     ? unread
     : is_denied                ? denied
     : !object.findings.empty() ? others
                                : plain)
        .push_back(&object);
  }
  std::string html =
      HtmlPageStart("mindgate: findings", std::string(kHtmlStyle) + std::string(kReportStyle)) +
      SummarySection(report);
  html += "<nav><ul>";
  const auto link = [&html](bool shown, std::string_view id, std::string_view text) {
    if (!shown) return;
    html += "<li><a href=\"#" + std::string(id) + "\">" + std::string(text) + "</a></li>";
  };
  const auto by_rule = CountsByRule(report);
  const auto by_file = CountsByFile(report);
  link(!by_rule.empty(), "rules", "By rule");
  link(!by_file.empty(), "files", "By file");
  link(!denied.empty(), "denied", "Denied");
  link(!unread.empty(), "errors", "Without a decision");
  link(!others.empty(), "others", "Findings that do not deny");
  link(!plain.empty(), "plain", "Without findings");
  html += "</ul></nav>\n";
  if (!by_rule.empty()) html += "<h2 id=\"rules\">By rule</h2>\n" + CountsTable("rule", by_rule);
  if (!by_file.empty()) html += "<h2 id=\"files\">By file</h2>\n" + CountsTable("file", by_file);
  html += SectionsOf("denied", "Denied", denied) +
          SectionsOf("errors", "Without a decision", unread) +
          SectionsOf("others", "Findings that do not deny", others) + PlainObjects(plain);
  return html.append(HtmlPageEnd());
}

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
  std::string text = json::PositionText(object.file, finding.at) + ": " +
                     std::string(offline::FindingLevelName(finding.level)) + ": " +
                     RuleTitle(finding) + ": " + FieldMessage(finding) + "\n";
  if (!finding.fix.empty()) text += "  fix: " + finding.fix + "\n";
  return text;
}

}  // namespace mindgate::cli
