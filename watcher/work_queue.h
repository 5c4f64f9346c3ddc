#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

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
    const std::lock_guard lock(mutex_);
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
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto next = Next();
      if (next == order_.end()) {
        const uint64_t seen = changes_;
        changed_.wait(lock, stop, [&] { return changes_ != seen; });
        continue;
      }
      if (const Instant due = next->first; due > std::chrono::steady_clock::now()) {
        const uint64_t seen = changes_;
        changed_.wait_until(lock, stop, due, [&] { return changes_ != seen; });
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
    const std::lock_guard lock(mutex_);
    working_.erase(key);
    Changed();
  }

 private:
  using Order = std::set<std::pair<Instant, Key>>;

  // The earliest that no worker is handling.
  typename Order::iterator Next() {
    auto next = order_.begin();
    while (next != order_.end() && working_.contains(next->second)) ++next;
    return next;
  }

  void Changed() {
    ++changes_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t changes_ = 0;            // guarded by mutex_, as is all below
  std::map<Key, Instant> waiting_;  // when each is due
  Order order_;                     // the same by time
  std::set<Key> working_;
};

}  // namespace mindgate::watcher
