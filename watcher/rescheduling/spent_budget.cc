#include "watcher/rescheduling/spent_budget.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mindgate::watcher::rescheduling {

using json::Json;

void SpentBudget::Add(const std::string& ns, Time now) {
  times_[ns].push_back(now);
  for (auto& [name, times] : times_) {
    std::erase_if(times, [&](Time at) { return at + std::chrono::minutes(1) <= now; });
  }
  std::erase_if(times_, [](const auto& of) { return of.second.empty(); });
}

void SpentBudget::TakeBack(const std::string& ns) {
  const auto found = times_.find(ns);
  if (found == times_.end()) return;
  found->second.pop_back();
  if (found->second.empty()) times_.erase(found);
}

Json SpentBudget::Encode() const {
  Json object = Json::object();
  for (const auto& [ns, times] : times_) {
    for (const Time at : times) object[ns].push_back(FormatTime(at));
  }
  return object;
}

SpentBudget SpentBudget::Decode(const json::Value* object, Time now) {
  SpentBudget spent;
  if (!json::IsObject(object)) return spent;
  size_t count = 0;
  Time newest{};
  for (const auto& [ns, times] : object->members()) {
    if (!json::IsArray(&times)) continue;
    for (const json::Value& each : times) {
      const auto at = ParseTimestamp(json::AsString(&each).value_or(""));
      if (!at || ++count > kMost) continue;
      newest = std::max(newest, *at);
      spent.times_[std::string(ns)].push_back(*at);
    }
  }
  for (auto& [ns, times] : spent.times_) {
    for (Time& at : times) at = now - (newest - at);
    std::sort(times.begin(), times.end());
  }
  return spent;
}

}  // namespace mindgate::watcher::rescheduling
