#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/foreign_text.h"
#include "base/text.h"
#include "base/time.h"
#include "simulation/player.h"

namespace mindgate::simulation {
namespace {

using OrderedJson = nlohmann::ordered_json;

// A longer name pushes the text of its own line to the right, and no other.
constexpr size_t kMaxColumnWidth = 32;

// In the order of the enumerators.
constexpr std::array kEvents = std::to_array<std::string_view>(
    {"submitted",     "deleted",  "broken",    "repaired", "cordoned",      "uncordoned",
     "not ready",     "ready",    "rollout",   "rule",     "options",       "calls",
     "leader",        "held",     "granted",   "placed",   "no room",       "running",
     "kept",          "lost",     "withdrawn", "given up", "would give up", "shape",
     "reported",      "changed",  "restarted", "marked",   "waits",         "left alone",
     "would restart", "expected", "NOT MET",   "STOPPED"});
static_assert(kEvents.size() == static_cast<size_t>(EventKind::kStopped) + 1);
constexpr std::array kSpans =
    std::to_array<std::string_view>({"held", "no room", "starting", "running", "ending"});
static_assert(kSpans.size() == static_cast<size_t>(Span::State::kEnding) + 1);

std::string ToTheRight(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string ShapeText(const ServiceEnd& service) {
  if (service.shapes == 0) return "no rule";
  if (!service.reached) return "no shape of " + std::to_string(service.shapes);
  return "shape " + std::to_string(*service.reached + 1) + " of " + std::to_string(service.shapes);
}

std::string EndText(const ServiceEnd& service) {
  std::string text = ShapeText(service);
  for (const watcher::scaling::GroupCount& group : service.groups) {
    text += "; " + (group.group.empty() ? "no group" : group.group) + ": " +
            std::to_string(group.running) + " running, " + std::to_string(group.starting) +
            " starting, " + std::to_string(group.held) + " held";
  }
  return text;
}

}  // namespace

std::string_view EventName(EventKind kind) { return kEvents[static_cast<size_t>(kind)]; }

std::string_view SpanName(Span::State state) { return kSpans[static_cast<size_t>(state)]; }

size_t Playback::NotMet() const {
  return static_cast<size_t>(std::count_if(checks.begin(), checks.end(),
                                           [](const CheckResult& check) { return !check.met; }));
}

std::string TimelineText(const std::string& title, const Playback& playback) {
  size_t time_width = FormatDuration(playback.end).size();
  size_t name_width = 0;
  size_t subject_width = 0;
  for (const Event& event : playback.events) {
    time_width = std::max(time_width, FormatDuration(event.at).size());
    name_width = std::max(name_width, EventName(event.kind).size());
    if (event.subject.size() <= kMaxColumnWidth) {
      subject_width = std::max(subject_width, event.subject.size());
    }
  }
  std::string text = title + "\n";
  for (const Event& event : playback.events) {
    text += "  " + ToTheRight(FormatDuration(event.at), time_width) + "  " +
            Padded(EventName(event.kind), name_width) + "  " +
            Padded(event.subject, subject_width) + "  " + event.reason + "\n";
  }
  text += "after " + FormatDuration(playback.end) + "\n";
  size_t service_width = 0;
  for (const ServiceEnd& service : playback.services) {
    if (service.job_id.size() <= kMaxColumnWidth) {
      service_width = std::max(service_width, service.job_id.size());
    }
  }
  for (const ServiceEnd& service : playback.services) {
    text += "  " + Padded(service.job_id, service_width) + "  " + EndText(service) + "\n";
  }
  for (const JobEnd& job : playback.jobs) {
    text += "  " + job.job + "  " + std::to_string(job.running) + " of " +
            std::to_string(job.pods) + " pods running; " + std::to_string(job.restarted) +
            " restarted, " + std::to_string(job.marked) + " marked, " +
            std::to_string(job.retries_used) + " retries used\n";
  }
  const size_t not_met = playback.NotMet();
  text += std::to_string(playback.checks.size()) +
          " expected: " + std::to_string(playback.checks.size() - not_met) + " met, " +
          std::to_string(not_met) + " not met\n";
  return text;
}

OrderedJson TimelineJson(const std::string& name, const std::string& file,
                         const Playback& playback) {
  OrderedJson events = OrderedJson::array();
  for (const Event& event : playback.events) {
    events.push_back({{"at", event.at.count()},
                      {"event", EventName(event.kind)},
                      {"service", event.service},
                      {"subject", event.subject},
                      {"reason", event.reason}});
  }
  OrderedJson expectations = OrderedJson::array();
  for (const CheckResult& check : playback.checks) {
    expectations.push_back({{"line", check.line},
                            {"at", check.at.count()},
                            {"service", check.service},
                            {"what", check.what},
                            {"expected", check.expected},
                            {"found", check.found},
                            {"met", check.met}});
  }
  OrderedJson services = OrderedJson::array();
  for (const ServiceEnd& service : playback.services) {
    OrderedJson groups = OrderedJson::array();
    for (const watcher::scaling::GroupCount& group : service.groups) {
      groups.push_back({{"group", group.group},
                        {"wanted", group.wanted},
                        {"running", group.running},
                        {"starting", group.starting},
                        {"held", group.held}});
    }
    services.push_back(
        {{"service", service.job_id},
         {"shape", service.reached ? OrderedJson(*service.reached + 1) : OrderedJson()},
         {"shapes", service.shapes},
         {"groups", std::move(groups)}});
  }
  const size_t not_met = playback.NotMet();
  OrderedJson json = {{"scenario", name},
                      {"file", file},
                      {"events", std::move(events)},
                      {"expectations", std::move(expectations)},
                      {"summary",
                       {{"passed", playback.Passed()},
                        {"end", playback.end.count()},
                        {"met", playback.checks.size() - not_met},
                        {"notMet", not_met},
                        {"services", std::move(services)}}}};
  if (playback.jobs.empty()) return json;
  OrderedJson& jobs = json["summary"]["jobs"] = OrderedJson::array();
  for (const JobEnd& job : playback.jobs) {
    jobs.push_back({{"job", job.job},
                    {"pods", job.pods},
                    {"running", job.running},
                    {"restarted", job.restarted},
                    {"marked", job.marked},
                    {"retriesUsed", job.retries_used}});
  }
  return json;
}

namespace {

using std::chrono::seconds;

// What a browser still shows well.
constexpr size_t kMaxRows = 500;       // of one chart
constexpr size_t kMaxBars = 500;       // of one row
constexpr size_t kMaxListed = 10'000;  // lines of one table

// Bars are light in the dark, too, so that the dark text on them has its contrast.
constexpr std::string_view kChartStyle =
    R"(.list { width: 100%; } .list td { border-top: 1px solid var(--line); white-space: nowrap; } .list td:last-child { overflow-wrap: anywhere; white-space: normal; }
.chart { border-spacing: 0; width: 100%; } .chart th { font-weight: normal; padding-right: 1em; white-space: nowrap; width: 1%; } .chart td { padding: .1em 0; }
.lanes { position: relative; } .lanes span { border-radius: .15rem; box-sizing: border-box; color: #10100f; font-size: .75rem; height: 1.15rem; line-height: 1.15rem; min-width: 1px; overflow: hidden; position: absolute; text-overflow: ellipsis; white-space: nowrap; }
.axis span { background: none; color: var(--soft); } .lanes i { background: var(--soft); bottom: 0; opacity: .5; position: absolute; top: 0; width: 1px; }
.running { background: #9ec5f2; } .starting { background: #8fd9b6; } .noroom { background: #f2c14e; } .held { background: #cfcdc6; } .ending { background: #f3b6cd; }
.broken { background-color: #f8c9c4; background-image: repeating-linear-gradient(45deg, #f2a39b, #f2a39b .3rem, #f8c9c4 .3rem, #f8c9c4 .6rem); }
.key span { border-radius: .15rem; color: #10100f; margin-right: .5em; padding: 0 .4em; }
tr.bad td, tr.bad td:first-child { color: var(--bad); font-weight: bold; }
@media (max-width: 40rem) { .chart th { width: auto; } .list td { border-top: none; white-space: normal; } }
@media print { .lanes span, .key span { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
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

// What the user's timeline does, for lines across a chart.
bool IsOfTimeline(EventKind kind) {
  return kind <= EventKind::kLeader || kind == EventKind::kReported || kind == EventKind::kChanged;
}

class Chart {
 public:
  explicit Chart(const Playback& playback) : end_(std::max(playback.end, seconds(1))) {
    std::map<seconds, std::string> marks;
    for (const Event& event : playback.events) {
      if (!IsOfTimeline(event.kind) || event.at <= seconds(0) || event.at >= end_) continue;
      std::string& text = marks[event.at];
      text += (text.empty() ? "" : "; ") + std::string(EventName(event.kind)) + " " + event.subject;
    }
    size_t drawn = 0;
    for (const auto& [at, text] : marks) {
      if (++drawn > kMaxBars) break;
      marks_ += "<i style=\"left:" + At(at) + "\" title=\"" +
                HtmlEscaped(FormatDuration(at) + ": " + text) + "\"></i>";
    }
  }

  std::string Render(const std::string& what, const Rows& rows) const {
    std::string html = "<table class=\"chart\" aria-label=\"" + what + "\">\n" + Axis();
    for (size_t i = 0; i < rows.size() && i < kMaxRows; ++i) {
      html += "<tr><th scope=\"row\">" + HtmlName(rows[i].first) + "</th><td>" +
              Lanes(rows[i].second) + "</td></tr>\n";
    }
    html += "</table>\n";
    if (rows.size() > kMaxRows) {
      html += "<p>and " + std::to_string(rows.size() - kMaxRows) + " more</p>\n";
    }
    return html;
  }

 private:
  static constexpr int kLane = 20;  // pixels, at a font of 16

  std::string At(seconds time) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f%%",
                  100.0 * static_cast<double>(time.count()) / static_cast<double>(end_.count()));
    return text.data();
  }

  // About five ticks, at round times.
  std::string Axis() const {
    constexpr std::array<int64_t, 15> kSteps = {1,    5,    10,   30,    60,    120,   300,   600,
                                                1800, 3600, 7200, 21600, 43200, 86400, 604800};
    const auto fits = [&](int64_t step) { return end_.count() / step <= 5; };
    const auto found = std::find_if(kSteps.begin(), kSteps.end(), fits);
    const seconds step(found == kSteps.end() ? end_.count() / 5 : *found);
    std::string html = "<tr aria-hidden=\"true\"><th></th><td>" + LanesOf(1, "axis");
    for (seconds time{0}; time < end_; time += step) {
      html += "<span style=\"left:" + At(time) + ";width:" + At(std::min(step, end_ - time)) +
              "\">" + FormatDuration(time) + "</span>";
    }
    return html + "</div></td></tr>\n";
  }

  static std::string LanesOf(size_t lanes, const std::string& style) {
    return "<div class=\"lanes " + style +
           "\" style=\"height:" + std::to_string(kLane * std::max<size_t>(lanes, 1)) + "px\">";
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
      html += Drawn(bar, static_cast<int>(lane - lanes.begin()));
    }
    return LanesOf(lanes.size(), "bars") + marks_ + html + "</div>";
  }

  std::string Drawn(const Bar& bar, int lane) const {
    const std::string label = HtmlEscaped(bar.label);
    return "<span class=\"" + std::string(bar.colour) + "\" style=\"left:" + At(bar.from) +
           ";width:" + At(bar.to - bar.from) + ";top:" + std::to_string(kLane * lane) +
           "px\" title=\"" + label + ", " + FormatDuration(bar.from) + " to " +
           FormatDuration(bar.to) + "\">" + label + "</span>";
  }

  const seconds end_;
  std::string marks_;
};

std::string Legend() {
  std::string html = "<p class=\"key\">";
  for (const auto state : {Span::State::kHeld, Span::State::kNoRoom, Span::State::kStarting,
                           Span::State::kRunning, Span::State::kEnding}) {
    html += "<span class=\"" + std::string(ClassOf(state)) + "\">" + std::string(SpanName(state)) +
            "</span> ";
  }
  return html + "<span class=\"broken\">a node that is not whole</span></p>\n";
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
  return Chart(playback).Render("instances", rows);
}

std::string NodesChart(const Playback& playback) {
  std::map<std::string, std::vector<Bar>, NaturalOrder> by_node;
  std::vector<Outage> outages = playback.outages;
  std::ranges::stable_sort(outages, {}, &Outage::from);
  for (const Outage& outage : outages) {
    by_node[outage.node].push_back({outage.from, outage.to, "broken", outage.what});
  }
  for (const Span* span : ByStart(playback.spans)) {
    for (const std::string& node : span->nodes) {
      by_node[node].push_back({span->from, span->to, ClassOf(span->state),
                               span->instance + " " + std::string(SpanName(span->state))});
    }
  }
  return Chart(playback).Render("nodes", {by_node.begin(), by_node.end()});
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
  return Chart(playback).Render("shapes", {by_service.begin(), by_service.end()});
}

using Heads = std::vector<std::string>;

std::string Line(const Heads& heads, std::vector<std::string> cells, bool bad) {
  for (std::string& cell : cells) cell = HtmlEscaped(cell);
  return HtmlRow(heads, cells, bad ? "class=\"bad\"" : "");
}

std::string Table(const Heads& heads, const std::vector<std::string>& lines) {
  std::string html = "<table class=\"list\">\n" + HtmlTitles(heads);
  for (size_t i = 0; i < lines.size() && i < kMaxListed; ++i) html += lines[i];
  html += "</table>\n";
  if (lines.size() > kMaxListed) {
    html += "<p>and " + std::to_string(lines.size() - kMaxListed) + " more: -o text has all</p>\n";
  }
  return html;
}

std::string Expectations(const Playback& playback) {
  const Heads heads = {"time", "result", "entry", "of", "what", "expected", "found"};
  std::vector<std::string> lines;
  for (const bool met : {false, true}) {
    for (const CheckResult& check : playback.checks) {
      if (check.met != met) continue;
      lines.push_back(Line(
          heads,
          {FormatDuration(check.at), met ? "met" : "NOT MET", "line " + std::to_string(check.line),
           check.service, check.what, check.expected, check.found},
          !met));
    }
  }
  return Table(heads, lines);
}

std::string Events(const Playback& playback) {
  const Heads heads = {"time", "what", "of", "why"};
  std::vector<std::string> lines;
  for (const Event& event : playback.events) {
    if (event.kind == EventKind::kExpected || event.kind == EventKind::kNotMet) continue;
    lines.push_back(Line(
        heads,
        {FormatDuration(event.at), std::string(EventName(event.kind)), event.subject, event.reason},
        event.kind == EventKind::kStopped));
  }
  return Table(heads, lines);
}

std::string Section(const PlayedScenario& played, size_t number) {
  const Playback& playback = played.playback;
  const size_t not_met = playback.NotMet();
  std::string html = "<section>\n<h2 id=\"scenario-" + std::to_string(number) + "\">" +
                     HtmlEscaped(played.name) + "</h2>\n<p class=\"soft\">" +
                     HtmlEscaped(played.file) + ", until " + FormatDuration(playback.end) +
                     "</p>\n<p class=\"" + (playback.Passed() ? "good" : "bad") + "\">" +
                     std::to_string(playback.checks.size()) +
                     " expected: " + std::to_string(playback.checks.size() - not_met) + " met, " +
                     std::to_string(not_met) + " not met" +
                     (playback.stopped ? "; the play was stopped" : "") + "</p>\n";
  if (not_met > 0) html += "<h3>Expectations</h3>\n" + Expectations(playback);
  html += "<h3>Instances</h3>\n" + Legend() + InstancesChart(playback);
  html += "<h3>Nodes</h3>\n" + NodesChart(playback);
  if (!playback.shapes.empty()) html += "<h3>Shapes</h3>\n" + ShapesChart(playback);
  if (not_met == 0) html += "<h3>Expectations</h3>\n" + Expectations(playback);
  return html + "<h3>What happened</h3>\n" + Events(playback) + "</section>\n";
}

}  // namespace

std::string TimelinePage(const std::vector<PlayedScenario>& played) {
  std::string html =
      HtmlPageStart("mindgate simulate", std::string(kHtmlStyle) + std::string(kChartStyle));
  std::vector<const PlayedScenario*> ordered;  // failures first
  for (const PlayedScenario& one : played) ordered.push_back(&one);
  std::ranges::stable_partition(ordered,
                                [](const PlayedScenario* one) { return !one->playback.Passed(); });
  const auto passed = std::ranges::count_if(
      played, [](const PlayedScenario& one) { return one.playback.Passed(); });
  html += "<p class=\"" + std::string(passed == std::ssize(played) ? "good" : "bad") + "\">" +
          std::to_string(passed) + " of " +
          Counted(static_cast<int64_t>(played.size()), "scenario") + " passed.</p>\n";
  if (played.size() > 1) {
    html += "<nav><ul>\n";
    for (size_t i = 0; i < ordered.size(); ++i) {
      html += "<li><a href=\"#scenario-" + std::to_string(i) + "\">" +
              HtmlEscaped(ordered[i]->name) + "</a>" +
              (ordered[i]->playback.Passed() ? "" : ": <span class=\"bad\">failed</span>") +
              "</li>\n";
    }
    html += "</ul></nav>\n";
  }
  for (size_t i = 0; i < ordered.size(); ++i) html += Section(*ordered[i], i);
  return html.append(HtmlPageEnd());
}

}  // namespace mindgate::simulation
