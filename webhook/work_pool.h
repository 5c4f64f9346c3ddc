#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "http/event_loop.h"
#include "http/framing.h"

namespace mindgate::webhook {

// One request that waits for a decision.
struct Job {
  http::Request request;
  Clock::Instant arrived;
  Clock::Instant deadline;  // the caller's, or the connection's when that is earlier
  http::Responder responder;
};

// A fixed number of threads and a bounded queue. Decisions are made here and not in the event
// loops, so that a review of 7 MiB delays no handshake, and a full queue is noticed and answered at
// once. Safe from many threads.
class WorkPool {
 public:
  // `work` must not throw.
  WorkPool(size_t threads, size_t capacity, std::function<void(Job)> work);
  ~WorkPool();  // stops

  // False when the queue is full or the pool has stopped.
  bool TryPush(Job job);

  // Lets jobs under way end and drops those that wait.
  void Stop();

  size_t waiting() const;
  size_t capacity() const { return capacity_; }

 private:
  void Loop();

  const size_t capacity_;
  const std::function<void(Job)> work_;
  mutable Mutex mutex_;
  ConditionVariable ready_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace mindgate::webhook
