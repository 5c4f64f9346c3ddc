#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace mindgate::kube {

// The object that something happened to. `ns` is empty for what belongs to no namespace.
struct ObjectReference {
  std::string api_version{};  // "apps/v1"
  std::string kind{};
  std::string ns{};
  std::string name{};
  std::string uid{};

  friend auto operator<=>(const ObjectReference&, const ObjectReference&) = default;
};

// What happened. Occurrences that are equal belong together.
struct EventRecord {
  enum class Type { kNormal, kWarning };

  ObjectReference regarding{};
  Type type = Type::kNormal;
  std::string reason{};  // why, in CamelCase: "InstanceGranted"
  std::string action{};  // what was done: "Grant"
  std::string note{};    // for people

  friend auto operator<=>(const EventRecord&, const EventRecord&) = default;
};

// Which occurrences become Events of their own and which are counted in one that is there. It sends
// nothing itself. One thread.
//
// The same record within kSeriesEnd of the last time is counted: the Event gets a series,
// written at most once in kBetweenWrites. New Events about one object are limited, so that a loop
// about one pod cannot fill etcd: a burst of kBurst, then one in kRefill. Memory is bounded by
// kMax entries.
class EventBook {
 public:
  // As in client-go (tools/events/event_broadcaster.go, finishTime).
  static constexpr std::chrono::minutes kSeriesEnd{6};
  static constexpr std::chrono::seconds kBetweenWrites{10};
  // The burst of client-go's old recorder (tools/record/events_cache.go); its refill, one in five
  // minutes, would hide what an operator waits for.
  static constexpr int kBurst = 25;
  static constexpr std::chrono::seconds kRefill{5};
  static constexpr size_t kMax = 4096;

  struct Entry {
    EventRecord record;
    std::string name;     // of the Event, once it is there
    int64_t count = 1;    // how often it happened
    int64_t written = 0;  // the count that the API server knows; 0: the Event is not there
    Clock::Instant last{};
    Time last_wall{};
    Clock::Instant written_at{};
  };

  // It happened. Returns the entry when an Event must be created now, else null: it is counted, or
  // there are too many about this object. The entry is valid until the next call of Add or Forget.
  Entry* Add(const EventRecord& record, Clock::Instant now, Time wall);

  // The API server knows the entry's count now.
  void Written(Entry& entry, Clock::Instant now);

  // The Event could not be created and will not be; the next occurrence is a new one.
  void Forget(const Entry& entry);

  // Series of which the API server does not know the count, and may be told it; all such, whenever
  // they were written, when `even_early`.
  std::vector<Entry*> Due(Clock::Instant now, bool even_early = false);
  std::optional<Clock::Instant> NextDue() const;

  uint64_t limited() const { return limited_; }  // occurrences that were thrown away
  size_t size() const { return entries_.size(); }

 private:
  struct Bucket {
    int64_t tokens = kBurst;
    Clock::Instant filled{};  // when it got its last token

    int64_t TokensAt(Clock::Instant now) const;
  };

  bool TakeToken(const ObjectReference& object, Clock::Instant now);
  void MakeRoom(Clock::Instant now);

  std::map<EventRecord, Entry> entries_;
  std::map<ObjectReference, Bucket> buckets_;
  uint64_t limited_ = 0;
};

}  // namespace mindgate::kube
