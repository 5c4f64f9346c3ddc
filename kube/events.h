#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/client.h"

namespace mindgate::kube {

// When an Event of events.k8s.io/v1 happened the last time, as it is written (RFC 3339); empty: it
// does not say. A series has its own time. Recorders of the old API leave eventTime empty and write
// lastTimestamp, which is deprecatedLastTimestamp in this one (kubernetes:
// pkg/apis/events/v1/conversion.go); an Event that says neither is as old as its object.
std::string LastTimeOf(const json::Value& event);
std::string LastTimeOf(const json::Json& event);

// What it reads.
std::vector<json::Projection::Path> LastTimeFields();

// A time as Kubernetes' MicroTime, whose parser wants all six digits (k8s.io/apimachinery
// pkg/apis/meta/v1/micro_time.go): "2026-12-31T12:00:00.000000Z".
inline std::string FormatMicroTime(Time time) {
  std::string text = FormatTime(time);
  text.insert(text.size() - 1, ".000000");
  return text;
}

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

  // Series of which the API server does not know the count, and may get it; all such, whenever
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

// Writes Events (events.k8s.io/v1) about objects, as kubectl describe and kubectl events show them.
// Recording never waits for the API server: a thread of its own writes. What happens again and
// again is counted in one Event (EventBook). While the API server is away, events wait; what does
// not fit into the queue is thrown away and counted. Safe from many threads.
class Recorder {
 public:
  struct Options {
    std::string controller;  // a qualified name: "mindgate.io/watcher"
    std::string instance;    // which of its replicas: the pod's name
    size_t queue = 1000;     // as long as client-go's
    // How often an Event is tried that the API server cannot take now; client-go: 12.
    int tries = 12;
    // How long the destructor waits for what is left to be written.
    std::chrono::milliseconds drain{2000};
    // For logs, in the thread that writes: once for each try that failed.
    std::function<void(const Fault& fault)> failed{};
  };

  // All three must outlive it. `seed` goes into names, which must differ between replicas and runs.
  Recorder(Client& client, Sleeper& sleeper, const Clock& clock, Options options, uint64_t seed);

  // Writes what is left, each tried once, for no longer than Options::drain.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The note is cut at 1024 bytes, which is all that an API server takes.
  void Record(EventRecord record);

  // Waits until all that was recorded before is written or given up, counts of series too; false
  // when that takes longer.
  bool Flush(std::chrono::milliseconds timeout);

  struct Counts {
    uint64_t written = 0;  // Events created and series brought up to date
    uint64_t dropped = 0;  // the queue was full
    uint64_t limited = 0;  // too many about one object
    uint64_t failed = 0;   // given up
  };
  Counts counts() const;

 private:
  struct Occurrence {
    EventRecord record;
    Clock::Instant now;
    Time wall;
  };

  void Work();
  void Wait(MutexLock& lock) REQUIRES(mutex_);
  void WriteDue(bool even_early);
  void WriteWithRetries(EventBook::Entry& entry);
  Answer<void> Write(EventBook::Entry& entry);
  Answer<void> Create(EventBook::Entry& entry);
  Json EventOf(const EventBook::Entry& entry) const;
  void Count(uint64_t Counts::* counter);

  Client& client_;
  Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Occurrence> queue_ GUARDED_BY(mutex_);
  uint64_t flush_asked_ GUARDED_BY(mutex_) = 0;
  uint64_t flush_done_ GUARDED_BY(mutex_) = 0;  // the last that is answered
  bool ended_ GUARDED_BY(mutex_) = false;       // the thread has nothing left to do
  Counts counts_ GUARDED_BY(mutex_);

  // What follows belongs to the thread.
  EventBook book_;
  std::mt19937_64 random_;
  Backoff backoff_;

  std::stop_source stop_;  // asked when no more comes: pauses end, and nothing is tried again
  std::stop_source cut_;   // asked when calls must end
  std::jthread thread_;
};

}  // namespace mindgate::kube
