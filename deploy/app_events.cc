#include "deploy/app_events.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "deploy/kinship.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

constexpr size_t kMaxEventsOfEach = 10;

std::string EventText(const Json& event, std::initializer_list<std::string_view> path) {
  return std::string(json::AsString(json::FindPath(event, path)).value_or(""));
}

std::string TimeOfEvent(const Json& event) {
  for (const std::initializer_list<std::string_view> path :
       {std::initializer_list<std::string_view>{"series", "lastObservedTime"},
        {"deprecatedLastTimestamp"},
        {"eventTime"},
        {"metadata", "creationTimestamp"}}) {
    if (std::string time = EventText(event, path); !time.empty()) return time;
  }
  return "";
}

Kinship KinOf(kube::Client& client, const std::string& ns, const std::string& app,
              const AppObjects& objects, const std::stop_token& stop) {
  Kinship kinship;
  for (const Json& object : objects.objects) kinship.Add(object);
  const std::string selector = PodSelector(objects.framework().value_or(Framework::kOme), app);
  AddWorkloads(client, ns, selector, stop, kinship);
  if (auto pods = client.ListObjects(kube::resources::kPods, ns, {.label_selector = selector},
                                     nullptr, stop)) {
    for (Json& pod : *pods) {
      pod["kind"] = "Pod";  // lists leave it out
      kinship.Add(pod);
    }
  }
  if (const auto groups = PodGroupsOf(client, ns, kinship, stop)) {
    for (const Json& group : *groups) kinship.AddPodGroup(group);
  }
  return kinship;
}

void KeepNewest(std::vector<EventState>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const EventState& a, const EventState& b) { return a.time < b.time; });
  size_t decisions = 0;
  size_t others = 0;
  std::vector<EventState> kept;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    size_t& count = event->reporter == schemas::kWatcherReporter ? decisions : others;
    if (++count <= kMaxEventsOfEach) kept.push_back(std::move(*event));
  }
  std::reverse(kept.begin(), kept.end());
  events = std::move(kept);
}

}  // namespace

std::vector<EventState> EventsOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, const AppObjects& objects,
                                 const std::stop_token& stop) {
  std::vector<EventState> events;
  const auto listed = client.ListObjects(kube::resources::kEvents, ns, {}, nullptr, stop);
  if (!listed || listed->empty()) return events;
  const Kinship kinship = KinOf(client, ns, app, objects, stop);
  for (const Json& event : *listed) {
    const std::string kind = EventText(event, {"regarding", "kind"});
    const std::string name = EventText(event, {"regarding", "name"});
    if (!kinship.Has(EventText(event, {"regarding", "uid"}), kind, name)) continue;
    events.push_back({.time = TimeOfEvent(event),
                      .type = EventText(event, {"type"}),
                      .reason = EventText(event, {"reason"}),
                      .about = kind + " " + name,
                      .message = EventText(event, {"note"}),
                      .reporter = EventText(event, {"reportingController"})});
  }
  KeepNewest(events);
  return events;
}

}  // namespace mindgate::deploy
