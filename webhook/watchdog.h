#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "webhook/admission_review.h"

namespace mindgate::webhook {

// Knows the decisions under way, so that one that does not end is noticed. Safe from many threads.
class Watchdog {
 public:
  explicit Watchdog(const Clock& clock) : clock_(clock) {}

  // One decision, from its first moment to its last; allocates nothing.
  class Decision {
   public:
    // Both outlive it.
    Decision(Watchdog& watchdog, const Review& review);
    Decision(const Decision&) = delete;
    Decision& operator=(const Decision&) = delete;
    ~Decision();

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    const Review& review_;
    const Clock::Instant since_;
    bool told_ = false;  // guarded by the watchdog's mutex, as the next two
    Decision* before_ = nullptr;
    Decision* after_ = nullptr;
  };

  struct Overdue {
    std::string kind;
    std::string about;  // "Deployment team-a/llm"
    std::string uid;
    std::chrono::milliseconds taken{0};
    bool first = false;  // nobody has been told of it
  };
  // Decisions that have taken `limit` or longer. `tell` marks them as told.
  std::vector<Overdue> Longer(std::chrono::milliseconds limit, bool tell = false);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  Decision* first_ = nullptr;  // guarded by mutex_
};

// "Deployment team-a/llm", cut to what a line of the log may hold.
std::string About(const Review& review);

}  // namespace mindgate::webhook
