#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/snapshot.h"
#include "kube/informer.h"
#include "watcher/faults/node_faults.h"
#include "watcher/faults/reports.h"
#include "watcher/faults/told.h"

namespace mindgate::watcher::faults {

// Where faults are read from. With kAuto ClusterD's ConfigMaps count, since it filters what the
// nodes report, and adds public faults and those of several nodes. Those of the nodes count while
// it does not speak: there is none of its ConfigMaps, all are empty, or it is gone and left them.
enum class Source : uint8_t { kAuto, kClusterD, kNodes };

// Follows the ConfigMaps that report faults. What is clean costs no memory. Safe from many threads.
class Feed {
 public:
  // ClusterD's reports carry the times of the device plugins', which write at least every 5 minutes
  // also when nothing changes (mind-cluster: component/ascend-device-plugin). When the newest of
  // all nodes is older than this, the reports of the nodes are read as well; when those are newer
  // by more than the second, ClusterD is gone. Until then its reports count: our clock may be
  // wrong, and both may be old.
  static constexpr std::chrono::minutes kOld{10};
  static constexpr std::chrono::minutes kBehind{1};

  struct Options {
    std::function<Source()> source = [] { return Source::kAuto; };
    // Nodes of which something else is reported now; in a thread of Run.
    std::function<void(const std::vector<std::string>& nodes)> changed;
    // What could not be understood of a ConfigMap, when it changes.
    std::function<void(const std::string& problem)> misread{};
    // Others' reports count from now on.
    std::function<void(bool by_clusterd)> switched{};
    std::function<void()> became_current{};
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // All must outlive it.
  Feed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread and some of its own.
  void Run(const std::stop_token& stop);

  std::shared_ptr<const FaultsByNode> faults() const { return faults_.Get(); }
  // What `faults` says of the node rests on these, as far as the watches have told.
  std::vector<ReportVersion> ReportsOf(const std::string& node) const;
  // Whether reports were read, and are as new as one can know.
  bool current() const;
  bool by_clusterd() const;
  size_t left_out() const;

 private:
  using Informer = kube::Informer<Told>;

  std::unique_ptr<Informer> MakeInformer(Writer writer, std::string_view ns,
                                         std::string_view selector);
  std::vector<std::unique_ptr<Informer>> MakePublicInformers();
  void Changed(Writer writer, const std::string& config_map, const Told* before, const Told* after);
  void RunOfNodes(const std::stop_token& stop);
  bool WantsNodes() const;
  bool IsOld(const std::optional<Time>& newest) const;
  ToldByAll::Counting Counts() const REQUIRES(mutex_);
  // Whose reports count may have changed, be it by the time alone.
  void Recount();
  std::vector<std::string> Publish(const std::set<std::string>& nodes) REQUIRES(mutex_);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;
  const std::unique_ptr<Informer> cluster_;
  const std::unique_ptr<Informer> devices_;
  const std::unique_ptr<Informer> machines_;
  const std::vector<std::unique_ptr<Informer>> public_;

  mutable Mutex mutex_;
  ToldByAll told_ GUARDED_BY(mutex_);
  ToldByAll::Counting counting_ GUARDED_BY(mutex_){.clusterd = true, .nodes = false};
  Snapshot<FaultsByNode> faults_{std::make_shared<const FaultsByNode>()};
};

}  // namespace mindgate::watcher::faults
