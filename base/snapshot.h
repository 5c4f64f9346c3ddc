#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/threads.h"
#include "base/time.h"

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

// How repeated attempts to load something went.
struct ReloadStatus {
  uint64_t swaps = 0;     // values loaded; 0: none yet
  uint64_t failures = 0;  // attempts that failed, the repeated ones too
  std::string error;      // why the newest attempt failed; empty when what is there is in use
  Time swapped{};         // when the value in use was loaded
};

// Keeps a snapshot up to date with something outside, a file for instance: `read` fetches the
// source and `make` turns it into a value. Whatever goes wrong, the last good value stays. A source
// equal to the one in use is not loaded again; one that was refused is, because a certificate that
// is not yet valid will be.
//
// Safe from many threads; attempts follow one another.
template <typename T, typename Source>
class Reloader {
 public:
  using Read = std::function<Result<Source>()>;
  using Make = std::function<Result<std::shared_ptr<const T>>(const Source&)>;
  // Called at each swap, and at each failure that is not the same as the one before. For logs.
  using Report = std::function<void(const ReloadStatus&)>;

  // `clock` and `target` must outlive it.
  Reloader(const Clock& clock, Snapshot<T>& target, Read read, Make make, Report report = {})
      : clock_(clock),
        target_(target),
        read_(std::move(read)),
        make_(std::move(make)),
        report_(std::move(report)) {}

  // Returns whether the snapshot holds a new value.
  bool Reload() {
    const MutexLock one_at_a_time(reload_mutex_);
    auto source = read_();
    if (!source) return Failed(source.error().message());
    if (in_use_ && *in_use_ == *source) {
      const MutexLock lock(status_mutex_);
      status_.error.clear();  // a bad change was reverted
      return false;
    }
    auto value = make_(*source);
    if (!value) return Failed(value.error().message());
    target_.Set(*std::move(value));
    in_use_ = *std::move(source);
    ReloadStatus now;
    {
      const MutexLock lock(status_mutex_);
      ++status_.swaps;
      status_.error.clear();
      status_.swapped = clock_.WallNow();
      now = status_;
    }
    if (report_) report_(now);
    return true;
  }

  ReloadStatus status() const {
    const MutexLock lock(status_mutex_);
    return status_;
  }

 private:
  bool Failed(const std::string& message) {
    ReloadStatus now;
    bool repeated = false;
    {
      const MutexLock lock(status_mutex_);
      ++status_.failures;
      repeated = status_.error == message;
      status_.error = message;
      now = status_;
    }
    if (report_ && !repeated) report_(now);
    return false;
  }

  const Clock& clock_;
  Snapshot<T>& target_;
  const Read read_;
  const Make make_;
  const Report report_;

  Mutex reload_mutex_;
  std::optional<Source> in_use_ GUARDED_BY(reload_mutex_);

  mutable Mutex status_mutex_;
  ReloadStatus status_ GUARDED_BY(status_mutex_);
};

}  // namespace mindgate
