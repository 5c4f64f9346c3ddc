#include "watcher/rescheduling/faulty_nodes.h"

#include <algorithm>

namespace mindgate::watcher::rescheduling {

void FaultyNodes::Changed(const std::vector<std::string>& nodes, const std::string& report) {
  // Seen under the lock: of two changes at once, the later look counts.
  const MutexLock lock(mutex_);
  const Clock::Instant now = clock_.Now();
  while (!recovered_.empty() && recovered_.front().first + kFlapping < now) {
    flapping_.erase(flapping_.find(recovered_.front().second));
    recovered_.pop_front();
  }
  size_t became_faulty = 0;
  for (const std::string& node : nodes) became_faulty += Count(node, now) ? 1 : 0;
  if (CountsLocked().faulty <= kFew) burst_.reset();
  // Some of them may have been counted one by one meanwhile, by a change of their pods.
  size_t faulty = 0;
  for (const std::string& node : nodes) faulty += faulty_.contains(node) ? 1 : 0;
  if (faulty > kFew && !report.empty()) burst_ = Burst{report, faulty};
  if (became_faulty == 0) return;
  if (!grew_ || grew_->second + options_.settle() < now) grew_.emplace(now, now);
  grew_->second = now;
}

bool FaultyNodes::Count(const std::string& node, Clock::Instant now) {
  const Seen seen = options_.see(node);
  const bool counted = faulty_.contains(node) || vanished_.contains(node);
  ForgetVanished(node);
  faulty_.erase(node);
  const bool recovers = seen.exists ? seen.ready && !seen.reported : seen.jobs.empty();
  // A node that is gone with all its pods takes nothing away, whatever reports of it are left.
  if (seen.exists || recovers) left_.erase(node);
  if (recovers) {
    if (counted) {
      recovered_.emplace_back(now, node);
      flapping_.insert(node);
    }
    return false;
  }
  if (seen.exists) {
    faulty_.insert(node);
  } else {
    vanished_[node] = seen.jobs;
    if (!left_.contains(node)) {
      ++unseen_;
      for (const JobKey& job : seen.jobs) ++jobs_of_unseen_[job];
    }
  }
  return !counted && !flapping_.contains(node);
}

void FaultyNodes::ForgetVanished(const std::string& node) {
  const auto found = vanished_.find(node);
  if (found == vanished_.end()) return;
  if (!left_.contains(node)) {
    --unseen_;
    for (const JobKey& job : found->second) {
      const auto of = jobs_of_unseen_.find(job);
      if (--of->second == 0) jobs_of_unseen_.erase(of);
    }
  }
  vanished_.erase(found);
}

void FaultyNodes::Left(const std::string& node) {
  const MutexLock lock(mutex_);
  ForgetVanished(node);
  left_.insert(node);
}

bool FaultyNodes::HasLeft(const std::string& node) const {
  const MutexLock lock(mutex_);
  return left_.contains(node);
}

bool FaultyNodes::IsLost(const Task& task, bool exists, bool ready) const {
  if (task.node.empty() || ready) return false;
  return exists || task.bound || HasLeft(task.node);
}

FaultyNodes::Counts FaultyNodes::CountsLocked() const {
  const size_t vanished = vanished_.size() - unseen_ + std::min(unseen_, jobs_of_unseen_.size());
  return {faulty_.size() + vanished, vanished};
}

FaultyNodes::Counts FaultyNodes::counts() const {
  const MutexLock lock(mutex_);
  return CountsLocked();
}

std::string FaultyNodes::WhyStoppedLocked(size_t nodes, int64_t max_percent) const {
  const Counts found = CountsLocked();
  const size_t all = nodes + found.vanished;
  if (!TooMany(found.faulty, all, max_percent)) return "";
  std::string why = std::to_string(found.faulty) + " of " + std::to_string(all) +
                    " nodes are faulty, which is more than maxFaultyNodes (" +
                    std::to_string(max_percent) + " %)";
  if (burst_) {
    why += "; " + burst_->report + " called " + std::to_string(burst_->nodes) +
           " of them faulty at once";
  }
  return why;
}

std::string FaultyNodes::WhyStopped(size_t nodes, int64_t max_percent) const {
  const MutexLock lock(mutex_);
  return WhyStoppedLocked(nodes, max_percent);
}

Refusal FaultyNodes::Brake(size_t nodes, int64_t max_percent) const {
  const auto settle = options_.settle();
  const MutexLock lock(mutex_);
  if (std::string why = WhyStoppedLocked(nodes, max_percent); !why.empty()) return {.why = why};
  if (!grew_) return {};
  const Clock::Instant until =
      std::min(grew_->second + settle, grew_->first + std::max(settle, kLongestSettling));
  if (clock_.Now() >= until) return {};
  return {.why = "more faults may follow: it begins when none has for settle (" +
                 std::to_string(settle.count()) + " s)",
          .again = until,
          .brief = true};
}

}  // namespace mindgate::watcher::rescheduling
