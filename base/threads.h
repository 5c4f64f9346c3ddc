#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

// What a mutex guards is written where it is declared, and clang checks it (-Wthread-safety, an
// error in `make lint`; clang.llvm.org/docs/ThreadSafetyAnalysis.html). Other compilers see nothing
// of it. std::mutex of libstdc++ has no annotations, hence the types below.
#if defined(__clang__)
#define MINDGATE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define MINDGATE_THREAD_ATTRIBUTE(x)
#endif

// The member is read and written with `mutex` held.
#define GUARDED_BY(mutex) MINDGATE_THREAD_ATTRIBUTE(guarded_by(mutex))
// The caller of the function, or of the lambda, holds `mutex`.
#define REQUIRES(...) MINDGATE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))

namespace mindgate {

class MINDGATE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex for as long as it lives, except between Unlock and Lock.
class MINDGATE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MINDGATE_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~MutexLock() MINDGATE_THREAD_ATTRIBUTE(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() MINDGATE_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
  void Lock() MINDGATE_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

// std::condition_variable_any for a MutexLock, which is held whenever `ready` is called. Returns
// what `ready` said last; with a `stop`, also as soon as that is requested.
class ConditionVariable {
 public:
  template <typename Ready>
  void Wait(MutexLock& lock, Ready ready) {
    condition_.wait(lock.lock_, std::move(ready));
  }
  template <typename Ready>
  bool Wait(MutexLock& lock, const std::stop_token& stop, Ready ready) {
    return condition_.wait(lock.lock_, stop, std::move(ready));
  }
  template <typename Ready>
  bool WaitFor(MutexLock& lock, std::chrono::nanoseconds time, Ready ready) {
    return condition_.wait_for(lock.lock_, time, std::move(ready));
  }
  template <typename Ready>
  bool WaitFor(MutexLock& lock, const std::stop_token& stop, std::chrono::nanoseconds time,
               Ready ready) {
    return condition_.wait_for(lock.lock_, stop, time, std::move(ready));
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

// A named thread that takes no signals, not even SIGPIPE of its own sockets: they are left to the
// thread that waits for them. The name is cut at 15 bytes, the kernel's limit.
std::jthread StartThread(const std::string& name, std::function<void()> body);

}  // namespace mindgate
