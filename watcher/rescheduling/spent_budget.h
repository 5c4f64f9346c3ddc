#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/json.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {

// What the budget counted within the last minute, for the next leader: also of jobs that are gone
// by then, and of those that were restarted more than once. Not safe from many threads.
class SpentBudget {
 public:
  // More than anybody may spend within a minute (restartsPerMinute), so that what a person wrote
  // stays small.
  static constexpr size_t kMost = 1000;

  // Forgets what is older than a minute.
  void Add(const std::string& ns, Time now);
  // The newest one of the namespace.
  void TakeBack(const std::string& ns);

  bool empty() const { return times_.empty(); }
  // In order of time.
  const std::map<std::string, std::vector<Time>>& times() const { return times_; }

  // {"<namespace>": ["2026-01-01T00:00:00Z"]}.
  json::Json Encode() const;
  // Takes what it understands. Clocks of two machines differ, so that only times of the leader
  // before are compared: the newest one counts as if it were `now`.
  static SpentBudget Decode(const json::Value* object, Time now);

 private:
  std::map<std::string, std::vector<Time>> times_;
};

}  // namespace mindgate::watcher::rescheduling
