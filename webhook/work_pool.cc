#include "webhook/work_pool.h"

#include <utility>

#include "base/mutex.h"
#include "base/thread.h"

namespace mindgate::webhook {

WorkPool::WorkPool(size_t threads, size_t capacity, std::function<void(Job)> work)
    : capacity_(capacity), work_(std::move(work)) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.push_back(StartThread("work-" + std::to_string(i), [this] { Loop(); }));
  }
}

WorkPool::~WorkPool() { Stop(); }

bool WorkPool::TryPush(Job job) {
  {
    const MutexLock lock(mutex_);
    if (stopped_ || jobs_.size() >= capacity_) return false;
    jobs_.push_back(std::move(job));
  }
  ready_.NotifyOne();
  return true;
}

void WorkPool::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    jobs_.clear();
  }
  ready_.NotifyAll();
  threads_.clear();
}

size_t WorkPool::waiting() const {
  const MutexLock lock(mutex_);
  return jobs_.size();
}

void WorkPool::Loop() {
  MutexLock lock(mutex_);
  while (true) {
    ready_.Wait(lock, [this]() REQUIRES(mutex_) { return stopped_ || !jobs_.empty(); });
    if (stopped_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.Unlock();
    work_(std::move(job));
    lock.Lock();
  }
}

}  // namespace mindgate::webhook
