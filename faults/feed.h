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

#include "base/snapshot.h"
#include "base/threads.h"
#include "base/time.h"
#include "faults/fault_store.h"
#include "faults/node_faults.h"
#include "faults/reports.h"
#include "kube/informer.h"
#include "schemas/config.h"

namespace mindgate::faults {

// Follows the ConfigMaps that report faults. What is clean costs no memory. Safe from many threads.
class Feed {
 public:
  struct Options {
    std::function<Source()> source = [] { return Source::kAuto; };
    // Whose public faults count. Asked again once a second; from threads of Run.
    std::function<std::set<std::string>()> public_namespaces = [] {
      return schemas::PublicFaults().namespaces;
    };
    // Nodes of which something else is reported now, all of one report at once; in a thread of Run.
    // `report`: "ConfigMap kube-system/..."; empty when others' reports count from now on.
    std::function<void(const std::vector<std::string>& nodes, const std::string& report)> changed;
    // For public faults that name a node by its serial number; from threads of Run and of
    // SerialsChanged.
    Serials serials{};
    // What could not be understood of a ConfigMap, when it changes.
    std::function<void(const std::string& problem)> misread{};
    // Others' reports count from now on.
    std::function<void(bool by_clusterd)> switched{};
    std::function<void()> on_synced{};  // current() has become true; from threads of Run
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // All must outlive it.
  Feed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread and some of its own.
  void Run(const std::stop_token& stop);

  // Of these nodes, or of others that now have the serial number of one.
  void SerialsChanged(const std::set<std::string>& nodes);

  std::shared_ptr<const FaultsByNode> faults() const { return faults_.Get(); }
  // The ConfigMaps on which it rests that this is known of the node; nothing when something else is
  // known by now.
  std::optional<std::vector<ReportVersion>> ReportsOf(const std::string& node,
                                                      const NodeFaults& known) const;
  // Whether reports were read, and are as new as one can know.
  bool current() const;
  bool by_clusterd() const;
  size_t left_out() const;

 private:
  using Informer = kube::Informer<ReportSummary>;

  std::unique_ptr<Informer> MakeInformer(Writer writer, std::string_view ns,
                                         std::string_view selector);
  void Changed(Writer writer, const std::string& config_map, const ReportSummary* before,
               const ReportSummary* after);
  void RunOfNodes(const std::stop_token& stop);
  enum class Ended { kNotNeeded, kOtherNamespaces };
  Ended FollowNodes(const std::stop_token& stop);
  // Has an informer for each namespace that counts now, and forgets what the others said.
  void UsePublic(const std::set<std::string>& namespaces);
  void ForgetReplaced();
  bool WantsNodes() const;
  void NotifyIfCurrent() const;
  FaultStore::TrustedSources Counts() const REQUIRES(mutex_);
  // Whose reports count may have changed, be it by the time alone.
  void Recount();
  // Shows to readers what is known now.
  KnownFaults::Nodes Publish(KnownFaults::Nodes nodes) REQUIRES(mutex_);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;
  const std::unique_ptr<Informer> cluster_;
  const std::unique_ptr<Informer> devices_;
  const std::unique_ptr<Informer> machines_;

  mutable Mutex mutex_;
  // By namespace. Only the thread that runs them changes the map.
  std::map<std::string, std::unique_ptr<Informer>> public_ GUARDED_BY(mutex_);
  KnownFaults known_ GUARDED_BY(mutex_){options_.serials};
  size_t left_out_ GUARDED_BY(mutex_) = 0;  // public faults; the number that was logged last
  Snapshot<FaultsByNode> faults_{std::make_shared<const FaultsByNode>()};
};

}  // namespace mindgate::faults
