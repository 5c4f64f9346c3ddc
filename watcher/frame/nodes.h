#pragma once

#include <functional>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "kube/informer.h"

namespace mindgate::watcher {

// The condition Ready of a node; one that has not told anything yet is ready. Reads
// status.conditions.
bool IsReady(const json::Value& node);

// Nodes on which nothing can be placed now: not Ready, cordoned or being deleted. Others cost no
// memory. Without permission to read nodes none is known.
class NodeInformer {
 public:
  struct Options {
    std::function<void()> changed{};  // in the thread of Run
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // All must outlive it.
  NodeInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) { informer_.Run(stop); }

  std::set<std::string, std::less<>> unusable() const;  // from any thread

 private:
  struct Unusable {};

  static kube::Informer<Unusable>::Options InformerOptions(Options options);

  kube::Informer<Unusable> informer_;
};

}  // namespace mindgate::watcher
