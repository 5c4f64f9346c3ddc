#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "base/mutex.h"

namespace mindgate::watcher {

// Keys to reconcile: each is queued once however often it was added, and handled by one worker at a
// time; a key that is added while it is being handled comes again afterwards. Safe from many
// threads.
template <typename Key>
class WorkQueue {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  struct Work {
    Key key;
    Instant due;  // since when it could have been taken
  };

  void Add(const Key& key) { AddAt(key, std::chrono::steady_clock::now()); }

  // Not before `due`. If one key is added with several times, the earliest applies.
  void AddAt(const Key& key, Instant due) {
    const MutexLock lock(mutex_);
    const auto [at, fresh] = waiting_.try_emplace(key, due);
    if (!fresh) {
      if (at->second <= due) return;
      order_.erase({at->second, key});
      at->second = due;
    }
    order_.emplace(due, key);
    Changed();
  }

  // Waits for the next key that is due; nothing once `stop` was asked to. Done must follow.
  std::optional<Work> Take(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto next = Next();
      if (next == order_.end()) {
        const uint64_t seen = changes_;
        changed_.Wait(lock, stop, [&]() REQUIRES(mutex_) { return changes_ != seen; });
        continue;
      }
      if (const Instant due = next->first; due > std::chrono::steady_clock::now()) {
        const uint64_t seen = changes_;
        changed_.WaitUntil(lock, stop, due, [&]() REQUIRES(mutex_) { return changes_ != seen; });
        continue;
      }
      Work work{next->second, next->first};
      order_.erase(next);
      waiting_.erase(work.key);
      working_.insert(work.key);
      return work;
    }
    return std::nullopt;
  }

  void Done(const Key& key) {
    const MutexLock lock(mutex_);
    working_.erase(key);
    Changed();
  }

 private:
  using Order = std::set<std::pair<Instant, Key>>;

  // The earliest that no worker is handling.
  typename Order::iterator Next() REQUIRES(mutex_) {
    auto next = order_.begin();
    while (next != order_.end() && working_.contains(next->second)) ++next;
    return next;
  }

  void Changed() REQUIRES(mutex_) {
    ++changes_;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  ConditionVariable changed_;
  uint64_t changes_ GUARDED_BY(mutex_) = 0;
  std::map<Key, Instant> waiting_ GUARDED_BY(mutex_);  // when each is due
  Order order_ GUARDED_BY(mutex_);                     // the same by time
  std::set<Key> working_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher
