#include "kube/wait.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace mindgate::kube {

bool RealSleeper::Sleep(std::chrono::milliseconds time, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, time, [] { return false; });
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
