#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "faults/node_faults.h"
#include "json/value.h"
#include "kube/client.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/policy.h"

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

// The NPUs of a node.
struct NodeNpus {
  std::string node{};
  int64_t offered = 0;  // that work; 0 where no new pods may go
  int64_t used = 0;     // of these, by pods of any job
  bool operator==(const NodeNpus&) const = default;
};

// What its Node and the reports say of a node. `allocatable` and `capacity` are the kubelet's,
// whose numbers follow a report by some seconds. `jobs` knows who uses chips: pods that no
// scheduler put into a PodGroup are not known, and their chips count as free.
NodeNpus NpusOf(const std::string& node, int64_t allocatable, int64_t capacity, bool usable,
                const faults::FaultsByNode& faults, const JobIndex& jobs);

// Why not all of these would find a place: `going`, pods of the job by their index that a restart
// takes, and the pods of it that wait. Empty: they would, or nobody knows how many NPUs they need.
// A pod counts as the largest of its job. Labels, taints and super pods are not considered: the
// scheduler may find less room, never more, so that a job is kept from a restart only when the
// restart would certainly leave pods without a place.
std::string WhyNoRoom(const Job& job, const std::vector<size_t>& going,
                      const faults::FaultsByNode& faults, std::span<const NodeNpus> nodes);

// A node, as the key of a work queue.
struct NodeKey {
  std::string name{};
  friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
  friend const std::string& NamespaceOf(const NodeKey&) {
    static const std::string none;  // all nodes take turns
    return none;
  }
};

// The JSON Patch that gives a node our taint (mindgate.io/faulty:NoSchedule) or takes it away;
// nothing: it is as it should be. It holds only for the resourceVersion that was read.
std::optional<json::Json> TaintPatch(const json::Value& node, bool faulty);

// Keeps our taint on nodes that are unhealthy as a whole, and takes it away when they are healthy
// again, or nobody wants it any more. Taints of others are never touched. Safe from many threads,
// one at a time to a node.
class Isolation {
 public:
  struct Options {
    std::function<bool()> writes;   // otherwise it only reports what it would do
    std::function<bool()> enabled;  // the option; without it taints are only taken away
    std::function<bool(const std::string& node)> is_unhealthy;
  };

  struct Counts {
    uint64_t added = 0;
    uint64_t removed = 0;
    uint64_t failed = 0;  // calls
  };

  // All must outlive it. Taints are added through the gate.
  Isolation(Writer writer, const Clock& clock, log::Logger& logger, DecisionListener& decisions,
            DisruptionGate& gate, Options options)
      : writer_(writer),
        clock_(clock),
        logger_(logger),
        decisions_(decisions),
        gate_(gate),
        options_(std::move(options)) {}

  ReconcileResult Reconcile(const NodeKey& node, const Term& term);

  Counts counts() const;

 private:
  Refusal StillUnhealthy(const std::string& node) const;
  ReconcileResult Waits(const std::string& node, const std::string& uid, const Refusal& refusal);
  static bool IsStale(LeaderClient& client, const std::string& node, const std::string& version,
                      const kube::Fault& fault);
  ReconcileResult NotChanged(const NodeKey& key, const kube::Fault& fault);
  bool IsNew(const std::string& node, const std::string& report);
  void Report(const std::string& node, const std::string& uid, DecisionKind kind,
              const std::string& reason, bool done);

  const Writer writer_;
  const Clock& clock_;
  log::Logger& logger_;
  DecisionListener& decisions_;
  DisruptionGate& gate_;
  const Options options_;
  mutable Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
  // What was reported of a node the last time; only of those that are unhealthy or have our taint.
  std::map<std::string, std::string> reported_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
