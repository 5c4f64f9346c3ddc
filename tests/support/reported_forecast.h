#pragma once

#include <string>

#include "base/text.h"
#include "what_if/forecast.h"

namespace mindgate::testing {

// A forecast in a line for each instance and service, for tables:
// "Deployment/chat: moves; hit a@n0 CardUnhealthy; deleted a; a n0>n1".
inline std::string Reported(const what_if::Forecast& forecast) {
  std::string text;
  for (const auto& instance : forecast.instances) {
    text += instance.owner + (instance.pod_group.empty() ? "" : " " + instance.pod_group) + ": " +
            (instance.already ? "already " : "") + (instance.is_new ? "new " : "") +
            std::string(what_if::OutcomeName(instance.outcome));
    for (const auto& hit : instance.hits) {
      text += "; hit " + hit.pod + "@" + hit.node + " " + hit.why;
    }
    for (const auto& step : instance.steps) {
      text += "; " + std::string(what_if::ActionName(step.action)) + " " + Join(step.pods, ",");
      if (step.due.by == what_if::Actor::kWatcher || !step.due.why.empty()) {
        text += " (" + std::string(what_if::ActorName(step.due.by)) + " within " +
                std::to_string(step.due.within.count()) + " s)";
      }
    }
    for (const auto& move : instance.moves) {
      text += "; " + move.pod + " " + move.from + ">" + (move.to.empty() ? "?" : move.to);
    }
    if (!instance.fix.empty()) text += "; fix: " + instance.fix;
    text += "\n";
  }
  for (const auto& service : forecast.services) {
    const auto shape = [](const std::optional<size_t>& of) {
      return of ? std::to_string(*of + 1) : std::string("none");
    };
    text += service.service.job_id + ": " + shape(service.before) + ">" + shape(service.after);
    for (const auto& group : service.groups) {
      text += " " + group.group + " " + std::to_string(group.before) + ">" +
              std::to_string(group.after);
    }
    text += "\n";
  }
  if (forecast.others > 0) text += "others: " + std::to_string(forecast.others) + "\n";
  return text;
}

}  // namespace mindgate::testing
