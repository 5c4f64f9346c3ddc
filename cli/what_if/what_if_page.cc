#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/foreign_text.h"
#include "base/text.h"
#include "cli/what_if/what_if.h"

namespace mindgate::cli {
namespace {

using what_if::Forecast;
using what_if::InstanceForecast;
using what_if::Outcome;
using what_if::ServiceForecast;

// What a browser still shows well.
constexpr size_t kMaxInstances = 5'000;

// The cells of a picture: what a loss costs, darker where it costs more.
constexpr std::string_view kPictureStyle =
    R"(.cells { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; padding: 0; }
.cells li { border: 1px solid var(--line); border-radius: .2rem; min-height: 1rem; min-width: 1rem; padding: 0 .25rem; }
.stops { background: #8c1d18; color: #ffffff; } .degrades { background: #f2c14e; color: #1a1300; } .recovers { background: #cfe8da; color: #08361f; } .free { background: var(--page); color: var(--ink); }
@media print { .cells li { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

// Cells with their names; more of them have their title only.
constexpr size_t kMaxNamedCells = 300;
constexpr size_t kMaxLosses = 1'000;

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
  std::string html = "<h3>" + HtmlName(InstanceTitle(instance)) + ": " +
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
  const auto sections = [&](bool recover) {
    std::string all;
    for (const InstanceForecast& instance : forecast.instances) {
      if ((instance.outcome == Outcome::kMoves) != recover || shown == kMaxInstances) continue;
      ++shown;
      all += InstanceSection(instance, grace_over_time);
    }
    return all;
  };
  html += sections(false);
  if (const std::string rest = sections(true); !rest.empty()) {
    html += "<details" + std::string(forecast.fine() ? " open" : "") +
            "><summary>What recovers</summary>\n" + rest + "</details>\n";
  }
  if (forecast.instances.size() > kMaxInstances) {
    html += "<p>and " + std::to_string(forecast.instances.size() - kMaxInstances) +
            " more: -o wide has all</p>\n";
  }
  if (forecast.services.empty()) return html;
  const std::vector<std::string> titles = {"service", "rule", "shape", "instances that run"};
  html += "<h3>Services</h3>\n<table>\n" + HtmlTitles(titles);
  for (const ServiceForecast& service : forecast.services) {
    const std::vector<std::string> cells = {
        HtmlName(service.service.ns + "/" + service.service.job_id), HtmlName(service.service.rule),
        HtmlEscaped(ShapeChange(service)), HtmlEscaped(GroupChanges(service))};
    html += HtmlRow(titles, cells);
  }
  return html + "</table>\n";
}

// What one loss costs: the class of its cell, and in words.
struct Cost {
  const char* name;
  std::string text;
};

Cost CostOf(const what_if::Impact& impact) {
  const auto down = static_cast<int64_t>(impact.down.size());
  const auto services = static_cast<int64_t>(impact.services_down());
  if (down > 0 || services > 0) {
    return {"stops", Counted(down, "instance") + " down, " + Counted(services, "service") +
                         " without a shape"};
  }
  if (!impact.costs_nothing()) {
    return {"degrades",
            std::to_string(impact.degraded.size() + impact.shrunk.size()) + " degraded or smaller"};
  }
  if (impact.moved > 0) {
    return {"recovers", Counted(static_cast<int64_t>(impact.moved), "instance") +
                            (impact.moved == 1 ? " recovers" : " recover")};
  }
  return {"free", "nothing runs there"};
}

std::string Picture(const EachReport& report) {
  std::vector<const what_if::Impact*> by_name;
  for (const what_if::Impact& impact : report.impacts) by_name.push_back(&impact);
  std::ranges::sort(by_name, NaturalLess, [](const what_if::Impact* one) { return one->name; });
  const bool named = by_name.size() <= kMaxNamedCells;
  std::string html =
      "<h2 id=\"picture\">The cluster</h2>\n<ul class=\"cells\" aria-label=\"What the colors "
      "mean\"><li class=\"stops\">stops something</li><li class=\"degrades\">degrades "
      "something</li><li class=\"recovers\">recovers</li><li class=\"free\">nothing runs "
      "there</li></ul>\n<ol class=\"cells\">\n";
  for (const what_if::Impact* impact : by_name) {
    const Cost cost = CostOf(*impact);
    const std::string title = HtmlEscaped(impact->name + ": " + cost.text);
    html += "<li class=\"" + std::string(cost.name) + "\" title=\"" + title + "\"";
    html += named ? ">" + HtmlName(impact->name) : " aria-label=\"" + title + "\">";
    html += "</li>\n";
  }
  return html + "</ol>\n";
}

std::string LossTable(const EachReport& report) {
  const std::vector<std::string> titles = {
      "lost", "down", "degraded", "pods without a place", "NPUs missing", "what stops"};
  std::string html =
      "<h2 id=\"losses\">What stops, the worst first</h2>\n<table>\n" + HtmlTitles(titles);
  size_t shown = 0;
  for (const what_if::Impact& impact : report.impacts) {
    if (impact.costs_nothing()) break;
    if (shown++ == kMaxLosses) {
      return html + "</table>\n<p>There are more: -o wide has all.</p>\n";
    }
    std::string stops;
    for (const std::string& text : StoppedTexts(impact)) {
      stops += (stops.empty() ? "" : ", ") + HtmlName(text);
    }
    const std::vector<std::string> cells = {HtmlName(impact.name),
                                            std::to_string(impact.down.size()),
                                            std::to_string(impact.degraded.size()),
                                            std::to_string(impact.without_place),
                                            HtmlEscaped(MissingText(impact)),
                                            stops};
    html += HtmlRow(titles, cells);
  }
  return html + "</table>\n";
}

std::string DrainSection(const what_if::DrainOrder& drains) {
  const auto list = [](const std::string& title, const std::vector<std::string>& names) {
    if (names.empty()) return std::string();
    std::string html =
        "<details><summary>" + title + " (" + std::to_string(names.size()) + ")</summary>\n<ol>\n";
    for (const std::string& name : names) html += "<li>" + HtmlName(name) + "</li>\n";
    return html + "</ol></details>\n";
  };
  return "<h2 id=\"drains\">An order of drains</h2>\n<p>One node after the other, each back in "
         "service before the next one goes.</p>\n" +
         list("Nodes that can be drained in this order", drains.order) +
         list("Nodes whose drain stops something", drains.stopping);
}

}  // namespace

std::string EachPage(const EachReport& report) {
  std::string html = HtmlPageStart("mindgate what-if: each loss alone",
                                   std::string(kHtmlStyle) + std::string(kPictureStyle));
  const auto stopping = std::ranges::count_if(
      report.impacts, [](const what_if::Impact& impact) { return !impact.costs_nothing(); });
  const std::string all = AllOf(report.what, report.impacts.size());
  html += "<p>" +
          Verdict(stopping == 0
                      ? "Nothing stops, whichever of " + all + " is lost."
                      : std::to_string(stopping) + " of " + all +
                            (stopping == 1 ? " stops" : " stop") + " something when lost alone.",
                  stopping == 0) +
          "</p>\n<p class=\"soft\">The cluster as of " + FormatTime(report.taken) + "</p>\n";
  for (const std::string& sentence : report.supposed) {
    html += "<p>Supposed: " + HtmlEscaped(sentence) + ".</p>\n";
  }
  html += "<nav><ul><li><a href=\"#picture\">The cluster</a></li>";
  if (stopping > 0) html += "<li><a href=\"#losses\">What stops</a></li>";
  if (report.drains) html += "<li><a href=\"#drains\">An order of drains</a></li>";
  html += "</ul></nav>\n" + Picture(report);
  if (stopping > 0) html += LossTable(report);
  if (report.drains) html += DrainSection(*report.drains);
  return html.append(HtmlPageEnd());
}

std::string WhatIfPage(const WhatIfReport& report) {
  std::string html = HtmlPageStart("mindgate what-if", kHtmlStyle);
  const what_if::Answer& answer = report.answer;
  const Forecast* const last = answer.happens ? &*answer.happens : &*answer.applied;
  html += "<p>" + Verdict(Summary(*last), answer.fine()) + "</p>\n";
  html += "<p class=\"soft\">The cluster as of " + FormatTime(report.taken) + "</p>\n";
  if (answer.applied)
    html += ForecastSection(AppliedTitle(report), *answer.applied, report.grace_over_time);
  if (answer.happens)
    html += ForecastSection(SupposedTitle(report), *answer.happens, report.grace_over_time);
  return html.append(HtmlPageEnd());
}

}  // namespace mindgate::cli
