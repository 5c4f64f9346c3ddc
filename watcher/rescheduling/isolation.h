#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "json/json.h"
#include "json/value.h"
#include "kube/client.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/reconcile_loop.h"

namespace mindgate::watcher::rescheduling {

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
    std::function<bool()> writes;  // otherwise it only tells what it would do
    std::function<bool()> wanted;  // the option; without it taints are only taken away
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
  ReconcileResult NotChanged(const NodeKey& key, const kube::Fault& fault);
  bool IsNew(const std::string& node, const std::string& saying);
  void Tell(const std::string& node, const std::string& uid, std::string_view what,
            const std::string& reason, bool done);

  const Writer writer_;
  const Clock& clock_;
  log::Logger& logger_;
  DecisionListener& decisions_;
  DisruptionGate& gate_;
  const Options options_;
  mutable Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
  // What was told of a node the last time; only of those that are unhealthy or have our taint.
  std::map<std::string, std::string> said_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher::rescheduling
