#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "json/json.h"
#include "json/value.h"
#include "kube/client.h"
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
// again. Taints of others are never touched. Safe from many threads, one at a time to a node.
class Isolation {
 public:
  struct Options {
    std::function<bool()> wanted;  // taints are taken away also when it no longer is
    std::function<bool(const std::string& node)> is_unhealthy;
  };

  // `writer` as for LeaderClient. Both must outlive it.
  Isolation(kube::Client& writer, log::Logger& logger, Options options)
      : writer_(writer), logger_(logger), options_(std::move(options)) {}

  ReconcileResult Reconcile(const NodeKey& node, const Term& term);

  uint64_t failed() const { return failed_; }

 private:
  kube::Client& writer_;
  log::Logger& logger_;
  const Options options_;
  std::atomic<uint64_t> failed_ = 0;
};

}  // namespace mindgate::watcher::rescheduling
