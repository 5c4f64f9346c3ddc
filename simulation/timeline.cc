#include "simulation/timeline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/time.h"

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

}  // namespace mindgate::simulation
