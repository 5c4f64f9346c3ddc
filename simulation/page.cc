#include "simulation/page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/html.h"
#include "base/text.h"
#include "base/time.h"

namespace mindgate::simulation {
namespace {

using std::chrono::seconds;

// What a browser still shows well.
constexpr size_t kMaxRows = 500;       // of one chart
constexpr size_t kMaxBars = 500;       // of one row
constexpr size_t kMaxListed = 10'000;  // lines of one table

constexpr std::string_view kStyle =
    R"(:root { color-scheme: light dark; --page: #fcfcfb; --ink: #0b0b0b; --soft: #52514e; --line: #e1e0d9;
  --running: #2a78d6; --starting: #1baf7a; --noroom: #eda100; --held: #b5b3ac; --ending: #e87ba4; --bad: #c22f2f; }
@media (prefers-color-scheme: dark) { :root { --page: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --line: #3a3a37;
  --running: #3987e5; --starting: #199e70; --noroom: #c98500; --held: #6b6a65; --ending: #d55181; --bad: #ff7a70; } }
body { background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 1px solid var(--line); margin-top: 2em; padding-top: 1em; }
p, .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; } td, th { padding: .15em .6em .15em 0; text-align: left; vertical-align: top; }
.list td { border-top: 1px solid var(--line); overflow-wrap: anywhere; } .list td:first-child { white-space: nowrap; }
.chart { table-layout: fixed; } .chart th { font-weight: normal; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; width: 12em; }
.chart td { padding-right: 0; } .chart svg { display: block; overflow: visible; width: 100%; }
.running { fill: var(--running); } .starting { fill: var(--starting); } .noroom { fill: var(--noroom); }
.held { fill: var(--held); } .ending { fill: var(--ending); } .tick { stroke: var(--line); }
text { fill: var(--ink); font-size: 11px; } .axis { fill: var(--soft); }
.bad { color: var(--bad); font-weight: bold; } .key svg { height: 12px; margin: 0 .3em 0 1em; width: 12px; }
)";

std::string_view ClassOf(Span::State state) {
  return state == Span::State::kNoRoom ? "noroom" : SpanName(state);
}

// A bar of a chart.
struct Bar {
  seconds from{0};
  seconds to{0};
  std::string_view colour;
  std::string label;  // beside its times
};
using Rows = std::vector<std::pair<std::string, std::vector<Bar>>>;  // by their names

class Chart {
 public:
  explicit Chart(seconds end) : end_(std::max(end, seconds(1))) {}

  std::string Render(const Rows& rows) const {
    std::string html = "<table class=\"chart\">\n" + Axis();
    for (size_t i = 0; i < rows.size() && i < kMaxRows; ++i) {
      html += "<tr><th>" + HtmlEscaped(rows[i].first) + "</th><td>" + Lanes(rows[i].second) +
              "</td></tr>\n";
    }
    html += "</table>\n";
    if (rows.size() > kMaxRows) {
      html += "<p>and " + std::to_string(rows.size() - kMaxRows) + " more</p>\n";
    }
    return html;
  }

 private:
  std::string At(seconds time) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f%%",
                  100.0 * static_cast<double>(time.count()) / static_cast<double>(end_.count()));
    return text.data();
  }

  // About eight ticks, at round times.
  std::string Axis() const {
    constexpr std::array<int64_t, 15> kSteps = {1,    5,    10,   30,    60,    120,   300,   600,
                                                1800, 3600, 7200, 21600, 43200, 86400, 604800};
    const auto fits = [&](int64_t step) { return end_.count() / step <= 8; };
    const auto found = std::find_if(kSteps.begin(), kSteps.end(), fits);
    const seconds step(found == kSteps.end() ? end_.count() / 8 : *found);
    std::string html = "<tr><th></th><td><svg height=\"16\">";
    for (seconds time{0}; time < end_; time += step) {
      html += "<line class=\"tick\" x1=\"" + At(time) + "\" x2=\"" + At(time) +
              "\" y1=\"12\" y2=\"16\"/><text class=\"axis\" x=\"" + At(time) + "\" y=\"10\">" +
              FormatDuration(time) + "</text>";
    }
    return html + "</svg></td></tr>\n";
  }

  // Bars at the same time are below each other.
  std::string Lanes(const std::vector<Bar>& bars) const {
    std::vector<seconds> lanes;
    std::string html;
    for (size_t i = 0; i < bars.size() && i < kMaxBars; ++i) {
      const Bar& bar = bars[i];
      auto lane = std::find_if(lanes.begin(), lanes.end(),
                               [&](seconds until) { return until <= bar.from; });
      if (lane == lanes.end()) lane = lanes.insert(lanes.end(), seconds(0));
      *lane = bar.to;
      html += Drawn(bar, static_cast<size_t>(lane - lanes.begin()));
    }
    return "<svg height=\"" + std::to_string(16 * std::max<size_t>(lanes.size(), 1)) + "\">" +
           html + "</svg>";
  }

  std::string Drawn(const Bar& bar, size_t lane) const {
    const std::string label = HtmlEscaped(bar.label);
    std::string html = "<rect class=\"" + std::string(bar.colour) + "\" x=\"" + At(bar.from) +
                       "\" width=\"" + At(bar.to - bar.from) + "\" y=\"" +
                       std::to_string(16 * lane + 2) + "\" height=\"12\" rx=\"2\"><title>" + label +
                       ", " + FormatDuration(bar.from) + " to " + FormatDuration(bar.to) +
                       "</title></rect>";
    // A letter takes about one part in 140 of the width.
    const auto letters = (bar.to - bar.from).count() * 140 / end_.count();
    if (std::ssize(bar.label) < letters) {
      html += "<text x=\"" + At(bar.from) + "\" dx=\"4\" y=\"" + std::to_string(16 * lane + 12) +
              "\">" + label + "</text>";
    }
    return html;
  }

  const seconds end_;
};

std::string Legend() {
  std::string html = "<p class=\"key\">";
  for (const auto state : {Span::State::kHeld, Span::State::kNoRoom, Span::State::kStarting,
                           Span::State::kRunning, Span::State::kEnding}) {
    html += "<svg><rect class=\"" + std::string(ClassOf(state)) +
            "\" width=\"12\" height=\"12\" rx=\"2\"/></svg>" + std::string(SpanName(state));
  }
  return html + "</p>\n";
}

std::vector<const Span*> ByStart(const std::vector<Span>& spans) {
  std::vector<const Span*> sorted;
  for (const Span& span : spans) sorted.push_back(&span);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Span* a, const Span* b) { return a->from < b->from; });
  return sorted;
}

std::string InstancesChart(const Playback& playback) {
  std::map<std::string, std::set<std::string>> services;  // that have an instance of the name
  for (const Span& span : playback.spans) services[span.instance].insert(span.service);
  std::map<std::pair<std::string, std::string>, size_t> index;
  Rows rows;
  for (const Span* span : ByStart(playback.spans)) {
    const auto [found, fresh] =
        index.emplace(std::pair(span->service, span->instance), rows.size());
    if (fresh) {
      const bool alone = services[span->instance].size() == 1;
      rows.emplace_back((alone ? "" : span->service + " ") + span->instance, std::vector<Bar>());
    }
    rows[found->second].second.push_back(
        {span->from, span->to, ClassOf(span->state),
         std::string(SpanName(span->state)) +
             (span->nodes.empty() ? "" : " on " + Join(span->nodes, ", "))});
  }
  return Chart(playback.end).Render(rows);
}

std::string NodesChart(const Playback& playback) {
  std::map<std::string, std::vector<Bar>> by_node;
  for (const Span* span : ByStart(playback.spans)) {
    for (const std::string& node : span->nodes) {
      by_node[node].push_back({span->from, span->to, ClassOf(span->state),
                               span->instance + " " + std::string(SpanName(span->state))});
    }
  }
  return Chart(playback.end).Render({by_node.begin(), by_node.end()});
}

std::string ShapesChart(const Playback& playback) {
  std::map<std::string, std::vector<Bar>> by_service;
  for (const ShapeChange& change : playback.shapes) {
    std::vector<Bar>& bars = by_service[change.service];
    if (!bars.empty()) bars.back().to = change.at;
    bars.push_back({change.at, playback.end, change.reached > 0 ? "running" : "noroom",
                    "shape " + change.text});
  }
  for (auto& [service, bars] : by_service) {
    std::erase_if(bars, [](const Bar& bar) { return bar.from == bar.to; });
  }
  return Chart(playback.end).Render({by_service.begin(), by_service.end()});
}

std::string Line(const std::vector<std::string>& cells, bool bad) {
  std::string html = bad ? "<tr class=\"bad\">" : "<tr>";
  for (const std::string& cell : cells) html += "<td>" + HtmlEscaped(cell) + "</td>";
  return html + "</tr>\n";
}

std::string Table(const std::vector<std::string>& heads, const std::vector<std::string>& lines) {
  std::string html = "<table class=\"list\">\n<tr>";
  for (const std::string& head : heads) html += "<th>" + head + "</th>";
  html += "</tr>\n";
  for (size_t i = 0; i < lines.size() && i < kMaxListed; ++i) html += lines[i];
  html += "</table>\n";
  if (lines.size() > kMaxListed) {
    html += "<p>and " + std::to_string(lines.size() - kMaxListed) + " more: -o text has all</p>\n";
  }
  return html;
}

std::string Expectations(const Playback& playback) {
  std::vector<std::string> lines;
  for (const bool met : {false, true}) {
    for (const CheckResult& check : playback.checks) {
      if (check.met != met) continue;
      lines.push_back(Line(
          {FormatDuration(check.at), met ? "met" : "NOT MET", "line " + std::to_string(check.line),
           check.service, check.what, check.expected, check.found},
          !met));
    }
  }
  return Table({"time", "", "", "service", "", "expected", "found"}, lines);
}

std::string Events(const Playback& playback) {
  std::vector<std::string> lines;
  for (const Event& event : playback.events) {
    if (event.kind == EventKind::kExpected || event.kind == EventKind::kNotMet) continue;
    lines.push_back(Line(
        {FormatDuration(event.at), std::string(EventName(event.kind)), event.subject, event.reason},
        event.kind == EventKind::kStopped));
  }
  return Table({"time", "", "", "why"}, lines);
}

std::string Section(const PlayedScenario& played) {
  const Playback& playback = played.playback;
  const size_t not_met = playback.NotMet();
  std::string html = "<h2>" + HtmlEscaped(played.name) + "</h2>\n<p>" + HtmlEscaped(played.file) +
                     ", until " + FormatDuration(playback.end) + "</p>\n<p" +
                     (playback.Passed() ? "" : " class=\"bad\"") + ">" +
                     std::to_string(playback.checks.size()) +
                     " expected: " + std::to_string(playback.checks.size() - not_met) + " met, " +
                     std::to_string(not_met) + " not met" +
                     (playback.stopped ? "; the play was stopped" : "") + "</p>\n";
  html += "<h3>Instances</h3>\n" + Legend() + InstancesChart(playback);
  html += "<h3>Nodes</h3>\n" + NodesChart(playback);
  html += "<h3>Shapes</h3>\n" + ShapesChart(playback);
  html += "<h3>Expectations</h3>\n" + Expectations(playback);
  html += "<h3>What happened</h3>\n" + Events(playback);
  return html;
}

}  // namespace

std::string TimelinePage(const std::vector<PlayedScenario>& played) {
  std::string html = HtmlPageStart("mindgate simulate", kStyle);
  for (const PlayedScenario& one : played) html += Section(one);
  return html + "</body>\n</html>\n";
}

}  // namespace mindgate::simulation
