#include "watcher/frame/disruption_budget.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace mindgate::watcher {

std::optional<DisruptionBudget::Instant> DisruptionBudget::Take(const std::string& ns,
                                                                int64_t per_minute, Instant now) {
  const MutexLock lock(mutex_);
  const auto free_at = FreeAt(ns, per_minute, now);
  if (!free_at) taken_.push_back({now, ns});
  return free_at;
}

std::optional<DisruptionBudget::Instant> DisruptionBudget::Ask(const std::string& ns,
                                                               int64_t per_minute, Instant now) {
  const MutexLock lock(mutex_);
  return FreeAt(ns, per_minute, now);
}

void DisruptionBudget::GiveBack(const std::string& ns) {
  const MutexLock lock(mutex_);
  const auto newest = std::find_if(taken_.rbegin(), taken_.rend(),
                                   [&](const Taken& taken) { return taken.ns == ns; });
  if (newest != taken_.rend()) taken_.erase(std::next(newest).base());
}

std::optional<DisruptionBudget::Instant> DisruptionBudget::FreeAt(const std::string& ns,
                                                                  int64_t per_minute, Instant now) {
  while (!taken_.empty() && taken_.front().when + kMinute <= now) taken_.pop_front();
  std::erase_if(asked_, [&](const auto& asked) { return asked.second + kMinute <= now; });
  asked_[ns] = now;
  if (per_minute <= 0) return now + kMinute;
  const auto sharers = std::max<int64_t>(2, std::ssize(asked_));
  const int64_t share = (per_minute + sharers - 1) / sharers;
  std::vector<Instant> own;
  for (const Taken& taken : taken_) {
    if (taken.ns == ns) own.push_back(taken.when);
  }
  // With fewer allowed than before, older ones must run out first.
  std::optional<Instant> free_at;
  if (std::ssize(taken_) >= per_minute) {
    free_at = taken_[taken_.size() - static_cast<size_t>(per_minute)].when + kMinute;
  }
  if (std::ssize(own) >= share) {
    const Instant own_free = own[own.size() - static_cast<size_t>(share)] + kMinute;
    free_at = std::max(free_at.value_or(own_free), own_free);
  }
  return free_at;
}

}  // namespace mindgate::watcher
