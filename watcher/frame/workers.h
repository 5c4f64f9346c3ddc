#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "base/time.h"

namespace mindgate::watcher {

// Keys to reconcile: each is queued once however often it was added, and handled by one worker at a
// time; a key that is added while it is being handled comes again afterwards. `NamespaceOf(key)`
// says whose it is: the namespace with the fewest keys under way is next, then the one that was
// served longest ago, so that nobody waits for all of another tenant's keys. One that had none in
// the queue is behind all that wait: it may have been served just now. Within a namespace the key
// that has been due for longest is next. Time is that of `clock`. Safe from many threads.
template <typename Key>
class WorkQueue {
 public:
  using Instant = Clock::Instant;

  struct Work {
    Key key;
    Instant due;  // since when it could have been taken
  };

  // `clock` must outlive it.
  explicit WorkQueue(const Clock& clock) : clock_(clock) {}

  void Add(const Key& key) { AddAt(key, clock_.Now()); }
  void AddAfter(const Key& key, Clock::Instant::duration pause) {
    AddAt(key, clock_.Now() + pause);
  }

  // Not before `due`. If one key is added with several times, the earliest applies.
  void AddAt(const Key& key, Instant due) {
    const MutexLock lock(mutex_);
    if (const auto working = working_.find(key); working != working_.end()) {
      working->second = std::min(working->second.value_or(due), due);
      return;
    }
    Insert(key, due);
    Changed();
  }

  // Waits for a key that is due; nothing once `stop` was requested. Done must follow.
  std::optional<Work> Take(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (!stop.stop_requested()) {
      if (auto work = TakeDueLocked()) return work;
      const uint64_t seen = changes_;
      const auto changed = [&]() REQUIRES(mutex_) { return changes_ != seen; };
      if (later_.empty() || timed_) {
        changed_.Wait(lock, stop, changed);
        continue;
      }
      timed_ = true;
      changed_.WaitFor(lock, stop, std::min(later_.begin()->first - clock_.Now(), kLongestWait),
                       changed);
      timed_ = false;
    }
    return std::nullopt;
  }

  // The same without waiting; nothing when no key is due now.
  std::optional<Work> TakeDue() {
    const MutexLock lock(mutex_);
    return TakeDueLocked();
  }

  void Done(const Key& key) {
    const MutexLock lock(mutex_);
    const auto working = working_.find(key);
    if (working == working_.end()) return;
    const auto again = working->second;
    working_.erase(working);
    ChangeShare(NamespaceOf(key), [](Share& share) { --share.working; });
    if (again) Insert(key, *again);
    Changed();
  }

  // When the next key is due, of those that no worker is handling.
  std::optional<Instant> next_due() const {
    const MutexLock lock(mutex_);
    std::optional<Instant> next;
    if (!later_.empty()) next = later_.begin()->first;
    for (const auto& [ns, share] : shares_) {
      if (share.due.empty()) continue;
      next = std::min(next.value_or(share.due.begin()->first), share.due.begin()->first);
    }
    return next;
  }

 private:
  // A clock that is set by hand wakes nobody.
  static constexpr Instant::duration kLongestWait = std::chrono::milliseconds(250);

  // What one namespace has in the queue.
  struct Share {
    std::set<std::pair<Instant, Key>> due{};
    int working = 0;
    uint64_t served = 0;  // the number of its last turn, or the last one before it came
  };
  using Turn = std::tuple<int, uint64_t, std::string>;  // working, served, namespace

  void Insert(const Key& key, Instant due) REQUIRES(mutex_) {
    const auto [at, fresh] = waiting_.try_emplace(key, due);
    if (!fresh) {
      if (at->second <= due) return;
      if (later_.erase({at->second, key}) == 0) {
        ChangeShare(NamespaceOf(key), [&](Share& share) { share.due.erase({at->second, key}); });
      }
      at->second = due;
    }
    later_.emplace(due, key);
  }

  std::optional<Work> TakeDueLocked() REQUIRES(mutex_) {
    const Instant now = clock_.Now();
    while (!later_.empty() && later_.begin()->first <= now) {
      const auto [due, key] = *later_.begin();
      later_.erase(later_.begin());
      ChangeShare(NamespaceOf(key), [&](Share& share) { share.due.emplace(due, key); });
    }
    if (turns_.empty()) return std::nullopt;
    const std::string ns = std::get<2>(*turns_.begin());
    std::optional<Work> work;
    const uint64_t turn = ++served_;
    ChangeShare(ns, [&](Share& share) {
      const auto first = share.due.begin();
      work = Work{first->second, first->first};
      share.due.erase(first);
      ++share.working;
      share.served = turn;
    });
    waiting_.erase(work->key);
    working_.emplace(work->key, std::nullopt);
    return work;
  }

  template <typename Change>
  void ChangeShare(const std::string& ns, const Change& change) REQUIRES(mutex_) {
    Share& share = shares_.try_emplace(ns, Share{.served = served_}).first->second;
    turns_.erase({share.working, share.served, ns});
    change(share);
    if (!share.due.empty()) {
      turns_.emplace(share.working, share.served, ns);
    } else if (share.working == 0) {
      shares_.erase(ns);
    }
  }

  void Changed() REQUIRES(mutex_) {
    ++changes_;
    changed_.NotifyAll();
  }

  const Clock& clock_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  uint64_t changes_ GUARDED_BY(mutex_) = 0;
  bool timed_ GUARDED_BY(mutex_) = false;              // a worker waits for `later_`
  std::map<Key, Instant> waiting_ GUARDED_BY(mutex_);  // when each is due, worked on or not
  std::set<std::pair<Instant, Key>> later_ GUARDED_BY(mutex_);
  std::map<std::string, Share> shares_ GUARDED_BY(mutex_);  // by namespace
  std::set<Turn> turns_ GUARDED_BY(mutex_);                 // of those with a key that is due
  uint64_t served_ GUARDED_BY(mutex_) = 0;
  // Under way, and when it is due again, if it was added meanwhile.
  std::map<Key, std::optional<Instant>> working_ GUARDED_BY(mutex_);
};

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
