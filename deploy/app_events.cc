#include <algorithm>
#include <utility>

#include "deploy/health.h"
#include "deploy/ownership.h"
#include "json/value.h"
#include "kube/times.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

constexpr size_t kMaxEventsOfEach = 10;

ApplicationOwnership KinOf(kube::Client& client, const std::string& ns, const std::string& app,
                           const AppObjects& objects, const std::stop_token& stop) {
  ApplicationOwnership kinship;
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
  const ApplicationOwnership kinship = KinOf(client, ns, app, objects, stop);
  for (const Json& event : *listed) {
    const std::string kind = json::TextAt(event, {"regarding", "kind"});
    const std::string name = json::TextAt(event, {"regarding", "name"});
    if (!kinship.Has(json::TextAt(event, {"regarding", "uid"}), kind, name)) continue;
    events.push_back({.time = kube::LastTimeOf(event),
                      .type = json::TextAt(event, {"type"}),
                      .reason = json::TextAt(event, {"reason"}),
                      .about = kind + " " + name,
                      .message = json::TextAt(event, {"note"}),
                      .reporter = json::TextAt(event, {"reportingController"})});
  }
  KeepNewest(events);
  return events;
}

}  // namespace mindgate::deploy
