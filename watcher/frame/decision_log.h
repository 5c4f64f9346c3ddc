#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/time.h"
#include "kube/events.h"

namespace mindgate::watcher {

// What a controller did, after the API server said yes; or, where nothing is done, what it would.
struct DecisionRecord {
  std::string controller;  // "scaling", "gang-repair"
  std::string ns;
  // What it is about, by the names that /decisions and the log give it: {"instance",
  // "AscendJob/p0"}, {"rule", "..."}.
  std::vector<std::pair<std::string, std::string>> about;
  std::string what;       // "granted", "would be granted", ...
  std::string reason;     // a sentence for people
  bool enforced = false;  // it was done, and not only decided
  // The Event; no `regarding`: none is written.
  kube::ObjectReference regarding{};
  kube::EventRecord::Type type = kube::EventRecord::Type::kNormal;
  std::string event_reason;  // "InstanceGranted"
  std::string event_action;  // "Grant"
};

// Whom a controller tells of its decisions. Safe from many threads.
class DecisionListener {
 public:
  virtual ~DecisionListener() = default;
  virtual void Tell(DecisionRecord record) = 0;
};

// The one place that tells people of decisions: as an Event, a line of the log, an entry that
// /decisions shows, and a count for the metrics. Bounded: when it is full, the oldest entry of the
// namespace with the most entries goes, so that one tenant's decisions do not drive out the
// others'. Safe from many threads.
class DecisionLog final : public DecisionListener {
 public:
  static constexpr size_t kMaxEntries = 1000;
  static constexpr size_t kMaxReason = 1024;  // bytes; what is longer is cut

  struct Entry {
    Time time{};
    DecisionRecord record;
  };
  // By controller and what was done.
  using Counts = std::map<std::pair<std::string, std::string>, uint64_t>;

  // All must outlive it.
  DecisionLog(const Clock& clock, log::Logger& logger, kube::Recorder& recorder)
      : clock_(clock), logger_(logger), recorder_(recorder) {}

  void Tell(DecisionRecord record) override;

  std::vector<Entry> entries() const;  // oldest first
  Counts counts() const;

 private:
  void MakeRoom() REQUIRES(mutex_);

  const Clock& clock_;
  log::Logger& logger_;
  kube::Recorder& recorder_;
  mutable Mutex mutex_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);
  std::map<std::string, size_t> of_namespace_ GUARDED_BY(mutex_);  // how many entries each has
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher
