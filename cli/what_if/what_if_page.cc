#include "cli/what_if/what_if_page.h"

#include <string_view>

#include "base/html.h"
#include "base/text.h"

namespace mindgate::cli {
namespace {

using what_if::Forecast;
using what_if::InstanceForecast;
using what_if::Outcome;
using what_if::ServiceForecast;

// What a browser still shows well.
constexpr size_t kMaxInstances = 5'000;

constexpr std::string_view kStyle =
    R"(:root { color-scheme: light dark; --page: #fcfcfb; --ink: #0b0b0b; --soft: #52514e; --line: #e1e0d9; --good: #137a4e; --bad: #c22f2f; }
@media (prefers-color-scheme: dark) { :root { --page: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --line: #3a3a37; --good: #3fc48b; --bad: #ff7a70; } }
body { background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 1px solid var(--line); margin-top: 2em; padding-top: 1em; } h3 { margin-bottom: .2em; }
table { border-collapse: collapse; } td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; } td:first-child, .soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
)";

std::string Verdict(const std::string& text, bool good) {
  return "<span class=\"" + std::string(good ? "good" : "bad") + "\">" + HtmlEscaped(text) +
         "</span>";
}

std::string Cells(const std::vector<std::string>& texts) {
  std::string html = "<tr>";
  for (const std::string& text : texts) html += "<td>" + HtmlEscaped(text) + "</td>";
  return html + "</tr>\n";
}

std::string InstanceSection(const InstanceForecast& instance,
                            std::chrono::seconds grace_over_time) {
  std::string html = "<h3>" + HtmlEscaped(InstanceTitle(instance)) + ": " +
                     Verdict(InstanceVerdict(instance), instance.outcome == Outcome::kMoves) +
                     "</h3>\n<table>\n";
  for (const auto& [word, text] : InstanceRows(instance, grace_over_time))
    html += Cells({word, text});
  return html + "</table>\n";
}

std::string ForecastSection(const std::string& title, const Forecast& forecast,
                            std::chrono::seconds grace_over_time) {
  std::string html = "<h2>" + HtmlEscaped(title.substr(0, title.find('\n'))) + "</h2>\n";
  if (const size_t line = title.find('\n'); line != std::string::npos) {
    html += "<ul>\n";
    for (const std::string_view sentence : Split(std::string_view(title).substr(line + 1), '\n')) {
      html += "<li>" + HtmlEscaped(Trim(sentence)) + "</li>\n";
    }
    html += "</ul>\n";
  }
  html += "<p>" + Verdict(Summary(forecast), forecast.fine()) + "</p>\n";
  size_t shown = 0;
  for (const InstanceForecast& instance : forecast.instances) {
    if (shown++ == kMaxInstances) break;
    html += InstanceSection(instance, grace_over_time);
  }
  if (forecast.instances.size() > kMaxInstances) {
    html += "<p>and " + std::to_string(forecast.instances.size() - kMaxInstances) +
            " more: -o text has all</p>\n";
  }
  if (forecast.services.empty()) return html;
  html +=
      "<h3>Services</h3>\n<table>\n<tr><th>service</th><th>rule</th><th>shape</th>"
      "<th>instances that run</th></tr>\n";
  for (const ServiceForecast& service : forecast.services) {
    html += Cells({service.service.ns + "/" + service.service.job_id, service.service.rule,
                   ShapeChange(service), GroupChanges(service)});
  }
  return html + "</table>\n";
}

}  // namespace

std::string WhatIfPage(const WhatIfReport& report) {
  std::string html = HtmlPageStart("mindgate what-if", kStyle);
  html += "<p class=\"soft\">The cluster as of " + FormatTime(report.taken) + "</p>\n";
  const what_if::Answer& answer = report.answer;
  if (answer.applied)
    html += ForecastSection(AppliedTitle(report), *answer.applied, report.grace_over_time);
  if (answer.happens)
    html += ForecastSection(SupposedTitle(report), *answer.happens, report.grace_over_time);
  return html + "</body>\n</html>\n";
}

}  // namespace mindgate::cli
