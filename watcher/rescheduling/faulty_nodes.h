#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {

// Counts the nodes that take pods away, for the brake that too many of them pull. Kept up to date
// node by node, since it is asked before each restart: in a storm, which it is for, counting all of
// them each time would take the square of their number. Safe from many threads.
class FaultyNodes {
 public:
  // More than so many, whatever their share is, before nothing is restarted.
  static constexpr size_t kFew = 2;
  // How long nothing begins while more and more nodes become faulty.
  static constexpr std::chrono::seconds kLongestSettling{10};

  // Of one node, as the watches report it at this moment.
  struct Seen {
    bool exists = false;  // there is such a Node
    bool ready = false;
    bool reported = false;  // unhealthy, or with an unhealthy chip
    // With a pod there that a scheduler bound and nobody deletes.
    std::vector<JobKey> jobs{};
  };

  // Whether so many of all nodes are faulty that nothing is restarted.
  static bool TooMany(size_t faulty, size_t all, int64_t max_percent) {
    return faulty > kFew && faulty * 100 > all * static_cast<size_t>(max_percent);
  }

  struct Counts {
    size_t faulty = 0;
    // Of them: pods are there, and the Node is gone. Whoever may create pods may name any node, so
    // of nodes that nobody has seen as a Node no more count than there are jobs with pods on them.
    size_t vanished = 0;
  };

  struct Options {
    std::function<Seen(const std::string& node)> see;
    // How long no more nodes may become faulty before a restart begins.
    std::function<std::chrono::seconds()> settle = [] { return std::chrono::seconds(0); };
  };

  // `clock` must outlive it.
  FaultyNodes(const Clock& clock, Options options) : clock_(clock), options_(std::move(options)) {}

  // To be called after each change of what `see` answers: of all nodes of one report at once, so
  // that nothing follows from half of it. `report` names it: "ConfigMap kube-system/...".
  void Changed(const std::vector<std::string>& nodes, const std::string& report = "");
  // The Node was there and is gone. Changed must follow.
  void Left(const std::string& node);
  // Whether it was there, and has not come back.
  bool HasLeft(const std::string& node) const;
  // Whether Kubernetes lost the node of the task, about which this is seen: one that is not there
  // counts if it ever was.
  bool IsLost(const Task& task, bool exists, bool ready) const;

  Counts counts() const;
  // Why nothing may be restarted, as more than `max_percent` of all nodes are faulty; empty: it
  // may. `nodes`: that there are.
  std::string WhyStopped(size_t nodes, int64_t max_percent) const;
  // The same for the gate, which also waits until the count has settled.
  Refusal Brake(size_t nodes, int64_t max_percent) const;

 private:
  // Many nodes that one report called faulty.
  struct Burst {
    std::string report;
    size_t nodes = 0;
  };

  // Whether the node has become faulty, and was not a minute ago.
  bool Count(const std::string& node, Clock::Instant now) REQUIRES(mutex_);
  void ForgetVanished(const std::string& node) REQUIRES(mutex_);
  Counts CountsLocked() const REQUIRES(mutex_);
  std::string WhyStoppedLocked(size_t nodes, int64_t max_percent) const REQUIRES(mutex_);

  // A node that is faulty again within this time was never well: nothing waits for it once more.
  static constexpr std::chrono::minutes kFlapping{1};

  const Clock& clock_;
  const Options options_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> faulty_ GUARDED_BY(mutex_);  // that exist
  std::set<std::string> left_ GUARDED_BY(mutex_);                 // Nodes that are gone
  // Nodes that are gone, or never were, with the jobs of their pods.
  std::map<std::string, std::vector<JobKey>> vanished_ GUARDED_BY(mutex_);
  // Of those that nobody has seen as a Node.
  size_t unseen_ GUARDED_BY(mutex_) = 0;
  std::map<JobKey, size_t> jobs_of_unseen_ GUARDED_BY(mutex_);
  // That recovered within kFlapping, oldest first; a node that did so twice is there twice.
  std::deque<std::pair<Clock::Instant, std::string>> recovered_ GUARDED_BY(mutex_);
  std::multiset<std::string> flapping_ GUARDED_BY(mutex_);
  // When nodes became faulty: the first one of those that settle now, and the last one.
  std::optional<std::pair<Clock::Instant, Clock::Instant>> grew_ GUARDED_BY(mutex_);
  std::optional<Burst> burst_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
