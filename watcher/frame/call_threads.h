#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace mindgate::watcher {

// Calls of one worker at the same time.
inline constexpr size_t kAtOnce = 8;

// Threads for calls that need not wait for each other. They are started when they are first needed
// and kept: a thread for each call would cost more than the call. Safe from many threads, which
// share them.
class CallThreads {
 public:
  // Of all callers together, besides their own.
  static constexpr size_t kMost = 8;

  CallThreads() = default;
  // No Run may be under way.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // Calls `work` for each of `count`, in order, `at_once` at most at the same time, one of them in
  // the caller's thread. Returns when all are done.
  void Run(size_t count, const std::function<void(size_t)>& work, size_t at_once = kAtOnce);

 private:
  struct Batch {
    const std::function<void(size_t)>& work;
    const size_t count;
    std::atomic<size_t> next = 0;
    size_t wanted = 0;   // threads that may join it yet; under `mutex_`, as `running`
    size_t running = 0;  // threads that have joined it

    void Work() {
      for (size_t i = next++; i < count; i = next++) work(i);
    }
  };

  void Join();

  Mutex mutex_;
  ConditionVariable offered_;
  ConditionVariable left_;
  std::list<Batch*> batches_ GUARDED_BY(mutex_);  // that threads may join, the oldest first
  size_t idle_ GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> threads_ GUARDED_BY(mutex_);
  std::stop_source stop_;
};

}  // namespace mindgate::watcher
