#include "watcher/frame/workers.h"

#include <algorithm>
#include <utility>

#include "base/threads.h"

namespace mindgate::watcher {

CallThreads::~CallThreads() {
  stop_.request_stop();
  std::vector<std::jthread> ending;  // without the lock, which they take once more
  const MutexLock lock(mutex_);
  ending.swap(threads_);
}

void CallThreads::Run(size_t count, const std::function<void(size_t)>& work, size_t at_once) {
  Batch batch{.work = work, .count = count};
  const size_t others = std::min({count, at_once, kMost + 1});
  if (others < 2) return batch.Work();
  {
    const MutexLock lock(mutex_);
    batch.wanted = others - 1;
    batches_.push_back(&batch);
    for (size_t i = idle_; i < batch.wanted && threads_.size() < kMost; ++i) {
      threads_.push_back(StartThread("watcher-call", [this] { Join(); }));
    }
    offered_.NotifyAll();
  }
  batch.Work();
  MutexLock lock(mutex_);
  batches_.remove(&batch);
  left_.Wait(lock, [&] { return batch.running == 0; });
}

void CallThreads::Join() {
  const std::stop_token stop = stop_.get_token();
  MutexLock lock(mutex_);
  while (true) {
    ++idle_;
    const bool any =
        offered_.Wait(lock, stop, [&]() REQUIRES(mutex_) { return !batches_.empty(); });
    --idle_;
    if (!any) return;
    Batch& batch = *batches_.front();
    ++batch.running;
    if (--batch.wanted == 0) batches_.pop_front();
    lock.Unlock();
    batch.Work();
    lock.Lock();
    --batch.running;
    left_.NotifyAll();
  }
}

}  // namespace mindgate::watcher
