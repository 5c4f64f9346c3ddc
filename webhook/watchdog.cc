#include "webhook/watchdog.h"

#include "base/mutex.h"

namespace mindgate::webhook {

Watchdog::Decision::Decision(Watchdog& watchdog, const Review& review)
    : watchdog_(watchdog), review_(review), since_(watchdog.clock_.Now()) {
  const MutexLock lock(watchdog_.mutex_);
  after_ = watchdog_.first_;
  if (after_ != nullptr) after_->before_ = this;
  watchdog_.first_ = this;
}

Watchdog::Decision::~Decision() {
  const MutexLock lock(watchdog_.mutex_);
  (before_ == nullptr ? watchdog_.first_ : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

std::vector<Watchdog::Overdue> Watchdog::Longer(std::chrono::milliseconds limit, bool tell) {
  const auto now = clock_.Now();
  std::vector<Overdue> overdue;
  const MutexLock lock(mutex_);
  for (Decision* decision = first_; decision != nullptr; decision = decision->after_) {
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - decision->since_);
    if (taken < limit) continue;
    overdue.push_back({.kind = decision->review_.kind,
                       .about = About(decision->review_),
                       .uid = std::string(ForLog(decision->review_.uid)),
                       .taken = taken,
                       .first = !decision->told_});
    decision->told_ = decision->told_ || tell;
  }
  return overdue;
}

std::string About(const Review& review) {
  return std::string(ForLog(review.kind)) + " " + std::string(ForLog(review.request.ns)) + "/" +
         std::string(ForLog(review.name));
}

}  // namespace mindgate::webhook
