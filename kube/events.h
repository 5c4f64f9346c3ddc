#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "kube/event_book.h"

namespace mindgate::kube {

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
  void Settle(EventBook::Entry& entry);
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
