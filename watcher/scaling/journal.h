#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

// Something that was decided, for people to look up later.
struct JournalEntry {
  Time time{};
  ServiceKey service;
  std::string instance;
  std::string group;
  std::string what;  // "granted", "would be granted", "held", "given up", ...
  std::string reason;
  bool enforced = false;  // it was done, and not only decided
};

// Recent decisions and the current state of each service. Safe from many threads; bounded.
class Journal {
 public:
  static constexpr size_t kMaxEntries = 1000;

  struct Standing {
    ServiceKey service;
    std::optional<size_t> reached;  // Decision::reached
    std::vector<GroupCount> groups;
  };

  void Add(JournalEntry entry);
  void Set(Standing standing);
  void Remove(const ServiceKey& service);

  std::vector<JournalEntry> entries() const;  // oldest first
  std::vector<Standing> standings() const;    // by service

 private:
  mutable Mutex mutex_;
  std::deque<JournalEntry> entries_ GUARDED_BY(mutex_);
  std::map<ServiceKey, Standing> standings_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::scaling
