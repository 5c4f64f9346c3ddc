#include <algorithm>

#include "base/text.h"
#include "kube/reflector.h"
#include "kube/times.h"
#include "why/reader.h"
#include "why/subject.h"

namespace mindgate::why {
namespace {

// An Event's note has 1 KiB at most; who reads a screen reads less.
constexpr size_t kMaxNote = 1'024;

void KeepNewest(std::vector<EventFacts>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const EventFacts& a, const EventFacts& b) { return a.time < b.time; });
  if (events.size() > kMaxEvents) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(kMaxEvents));
  }
}

std::string ReporterOf(const json::Value& event) {
  std::string reporter = json::TextAt(event, {"reportingController"});
  return reporter.empty() ? json::TextAt(event, {"deprecatedSource", "component"}) : reporter;
}

}  // namespace

void ReadEvents(kube::Client& client, const std::set<std::string>& about, Facts& facts,
                const std::stop_token& stop) {
  std::vector<json::Projection::Path> members = kube::LastTimeFields();
  members.insert(members.end(), {{"reason"},
                                 {"note"},
                                 {"type"},
                                 {"reportingController"},
                                 {"deprecatedSource", "component"},
                                 {"regarding", "kind"},
                                 {"regarding", "name"}});
  const auto fields = kube::WithIdentity(std::move(members));
  std::vector<EventFacts>& events = facts.events;
  const auto listed = client.ListAll(
      kube::resources::kEvents, facts.ns, {}, &fields,
      {.started = [&events] { events.clear(); },
       .item =
           [&](const json::Value& event) {
             std::string of = json::TextAt(event, {"regarding", "kind"}) + "/" +
                              json::TextAt(event, {"regarding", "name"});
             if (!about.contains(of)) return;
             events.push_back({.about = std::move(of),
                               .reason = json::TextAt(event, {"reason"}),
                               .note = Cut(json::TextAt(event, {"note"}), kMaxNote),
                               .reporter = ReporterOf(event),
                               .time = kube::LastTimeOf(event),
                               .warning = json::TextAt(event, {"type"}) == "Warning"});
             if (events.size() >= 4 * kMaxEvents) KeepNewest(events);
           }},
      stop);
  if (!listed) NoteUnread(facts, "Events of namespace " + facts.ns, listed.error());
  KeepNewest(events);
}

}  // namespace mindgate::why
