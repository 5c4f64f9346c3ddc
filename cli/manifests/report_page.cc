#include <algorithm>

#include "base/html.h"
#include "base/text.h"
#include "cli/manifests/report_formats.h"
#include "json/issues.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

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
  return at.line > 0 ? json::PlaceText("", at).substr(1) : "";
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
                     HtmlEscaped(json::PlaceText(object.file, {object.line, 0})) + "</p>\n";
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
        HtmlEscaped(json::PlaceText(object.file, {object.line, 0}))};
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

}  // namespace mindgate::cli
