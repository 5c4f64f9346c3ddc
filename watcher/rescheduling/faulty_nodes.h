#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace mindgate::watcher::rescheduling {

// Counts the nodes that take pods away, for the brake that too many of them pull. Kept up to date
// node by node, since it is asked before each restart: in a storm, which it is for, counting all of
// them each time would take the square of their number. Safe from many threads.
class FaultyNodes {
 public:
  // More than so many, whatever their share is, before nothing is restarted.
  static constexpr size_t kFew = 2;

  // Of one node, as the watches tell it at this moment.
  struct Seen {
    bool exists = false;  // there is such a Node
    bool ready = false;
    bool reported = false;  // unhealthy, or with an unhealthy chip
    bool has_pods = false;  // of a job
  };

  struct Counts {
    size_t faulty = 0;
    size_t vanished = 0;  // of them: pods are there, and the Node is gone
  };

  explicit FaultyNodes(std::function<Seen(const std::string& node)> see) : see_(std::move(see)) {}

  // To be called after each change of what `see` answers.
  void Changed(const std::string& node);
  Counts counts() const;
  // Why nothing may be restarted, as more than `max_percent` of all nodes are faulty; empty: it
  // may. `nodes`: that there are.
  std::string WhyStopped(size_t nodes, int64_t max_percent) const;

 private:
  const std::function<Seen(const std::string& node)> see_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> faulty_ GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> vanished_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
