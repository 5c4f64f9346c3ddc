#include "kube/wait.h"

#include <algorithm>

#include "base/mutex.h"

namespace mindgate::kube {

bool RealSleeper::Sleep(std::chrono::milliseconds time, std::stop_token stop) {
  Mutex mutex;
  ConditionVariable woken;
  MutexLock lock(mutex);
  woken.WaitFor(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

std::chrono::milliseconds Backoff::Next() {
  std::chrono::milliseconds wait = options_.first;
  for (int i = 0; i < failures_ && wait < options_.max_wait; ++i) wait *= 2;
  wait = std::min(wait, options_.max_wait);
  ++failures_;
  std::uniform_int_distribution<int64_t> spread(wait.count() / 2, wait.count() * 3 / 2);
  return std::chrono::milliseconds(spread(random_));
}

}  // namespace mindgate::kube
