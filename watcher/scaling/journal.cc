#include "watcher/scaling/journal.h"

#include <utility>

#include "base/mutex.h"

namespace mindgate::watcher::scaling {

void Journal::Add(JournalEntry entry) {
  const MutexLock lock(mutex_);
  if (entries_.size() == kMaxEntries) entries_.pop_front();
  entries_.push_back(std::move(entry));
}

void Journal::Set(Standing standing) {
  const MutexLock lock(mutex_);
  standings_.insert_or_assign(standing.service, std::move(standing));
}

void Journal::Remove(const ServiceKey& service) {
  const MutexLock lock(mutex_);
  standings_.erase(service);
}

std::vector<JournalEntry> Journal::entries() const {
  const MutexLock lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

std::vector<Journal::Standing> Journal::standings() const {
  std::vector<Standing> all;
  const MutexLock lock(mutex_);
  for (const auto& [key, standing] : standings_) all.push_back(standing);
  return all;
}

}  // namespace mindgate::watcher::scaling
