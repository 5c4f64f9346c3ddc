#include "why/checks.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::why {

std::string PodNames(const std::vector<std::string>& pods) {
  constexpr size_t kMaxNames = 3;
  return JoinFirst(pods, kMaxNames);
}

std::string PodsText(const std::vector<std::string>& pods) {
  return (pods.size() == 1 ? "Pod " : "Pods ") + PodNames(pods);
}

std::string PodsThat(const std::vector<std::string>& pods, std::string_view one,
                     std::string_view several) {
  return PodsText(pods) + " " + std::string(pods.size() == 1 ? one : several);
}

std::string InNamespace(const Facts& facts) { return facts.ns.empty() ? "" : " -n " + facts.ns; }

const EventFacts* NewestEvent(const Facts& facts, const std::vector<std::string_view>& reasons,
                              std::string_view part, std::string_view about) {
  const auto fits = [&](const EventFacts& event) {
    return (reasons.empty() ||
            std::find(reasons.begin(), reasons.end(), event.reason) != reasons.end()) &&
           (part.empty() || event.note.find(part) != event.note.npos) &&
           (about.empty() || event.about == about);
  };
  const auto found = std::find_if(facts.events.rbegin(), facts.events.rend(), fits);
  return found == facts.events.rend() ? nullptr : &*found;
}

std::string EventText(const EventFacts& event) {
  return event.reason + (event.reporter.empty() ? "" : " (" + event.reporter + ")") + ": " +
         event.note;
}

std::vector<std::string> WaitingPods(const Facts& facts) {
  std::vector<std::string> waiting;
  for (const PodFacts& pod : facts.pods) {
    if (pod.waits_for_a_node()) waiting.push_back(pod.name);
  }
  return waiting;
}

}  // namespace mindgate::why
