#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/snapshot.h"
#include "kube/informer.h"
#include "watcher/faults/node_faults.h"
#include "watcher/faults/reports.h"

namespace mindgate::watcher::faults {

// Where faults are read from. With kAuto ClusterD's ConfigMaps count, and those of the nodes only
// while there is none of ClusterD's: it filters what the nodes report.
enum class Source : uint8_t { kAuto, kClusterD, kNodes };

// Follows the ConfigMaps that report faults. What is clean costs no memory. Safe from many threads.
class Feed {
 public:
  struct Options {
    std::function<Source()> source = [] { return Source::kAuto; };
    // Nodes of which something else is reported now; in a thread of Run.
    std::function<void(const std::vector<std::string>& nodes)> changed;
    // What could not be understood of a ConfigMap, when it changes.
    std::function<void(const std::string& problem)> misread{};
    std::function<void()> became_current{};
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // All must outlive it.
  Feed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread and some of its own.
  void Run(const std::stop_token& stop);

  std::shared_ptr<const FaultsByNode> faults() const { return faults_.Get(); }
  // Whether reports were read, and are as new as one can know.
  bool current() const;
  bool by_clusterd() const;
  size_t left_out() const;

 private:
  using Informer = kube::Informer<Report>;

  std::unique_ptr<Informer> MakeInformer(std::string_view ns, std::string_view selector);
  void Changed(const std::string& config_map, const Report* before, const Report* after);
  void RunOfNodes(const std::stop_token& stop);
  // Of those that the nodes write themselves.
  void ForEachReport(
      const std::function<void(const std::string& key, const Report& report)>& visit) const;
  bool WantsNodes() const;

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;
  const std::unique_ptr<Informer> cluster_;
  const std::unique_ptr<Informer> devices_;
  const std::unique_ptr<Informer> machines_;

  Mutex mutex_;
  // By node, and by the ConfigMap that says so.
  std::map<std::string, std::map<std::string, NodeReport>, std::less<>> told_ GUARDED_BY(mutex_);
  Snapshot<FaultsByNode> faults_{std::make_shared<const FaultsByNode>()};
};

}  // namespace mindgate::watcher::faults
