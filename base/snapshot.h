#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace mindgate {

// An immutable value that is swapped whole: readers keep what they got for as long as they hold it.
// Safe from many threads. A mutex and not std::atomic<std::shared_ptr>, which libstdc++ 12
// implements with a race that ThreadSanitizer reports.
template <typename T>
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  // Null until the first Set.
  std::shared_ptr<const T> Get() const {
    const MutexLock lock(mutex_);
    return value_;
  }

  // The old value is released outside the lock: its destructor may be slow.
  void Set(std::shared_ptr<const T> value) {
    {
      const MutexLock lock(mutex_);
      value_.swap(value);
    }
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ GUARDED_BY(mutex_);
};

}  // namespace mindgate
