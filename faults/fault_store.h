#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "faults/node_faults.h"
#include "faults/public_faults.h"
#include "faults/reports.h"
#include "json/value.h"
#include "schemas/config.h"

namespace mindgate::faults {

// Where faults are read from. With kAuto ClusterD's ConfigMaps count, since it filters what the
// nodes report, and adds public faults and those of several nodes. Those of the nodes count while
// it reports nothing: there is none of its ConfigMaps, all are empty, or it is gone and left them.
using Source = schemas::FaultSource;

// Who writes a ConfigMap.
enum class Writer : uint8_t { kClusterD, kNodes, kPublic };

// By its name, or by its key: a public fault may have any name. For ConfigMaps of which the labels
// are not known.
Writer WriterOf(const json::Value& config_map);

// A ConfigMap as it was when its report was read.
struct ReportVersion {
  std::string ns;
  std::string name;
  std::string version;  // metadata.resourceVersion
  friend auto operator<=>(const ReportVersion&, const ReportVersion&) = default;
};

// What a ConfigMap says that is worth keeping: of a node that is healthy, only when that was.
struct ReportSummary {
  std::vector<NodeReport> nodes{};  // with a fault; without their times
  std::vector<std::string> problems{};
  // By name of the node: when the device plugin or a switch reported it, by the clock of that node.
  std::vector<std::pair<std::string, Time>> times{};
  std::optional<Time> newest{};
  std::string chip_type{};
  std::string version{};  // metadata.resourceVersion; only of one that reports a fault, or public
  bool has_content = false;
  bool operator==(const ReportSummary&) const = default;
};

// Nothing for a ConfigMap that is no report. Of one with public faults, what its message says.
std::optional<ReportSummary> Summarize(const json::Value& config_map, Writer writer);

// Which node has a serial number, as the Nodes say. Both are empty when there is none, or when
// several nodes have the same: a fault must not reach a node that it is not about.
struct Serials {
  std::function<std::string(const std::string& serial)> node_of;
  std::function<std::string(const std::string& node)> serial_of;
};

// What all ConfigMaps say together. Not safe from many threads.
class FaultStore {
 public:
  // ClusterD's reports carry the times of the device plugins', which write at least every 5 minutes
  // also when nothing changes (mind-cluster: component/ascend-device-plugin). When none of them is
  // younger than this by our clock, the reports of the nodes are read as well. Then each node is
  // compared with itself, since nodes have clocks of their own: ClusterD is gone when the report of
  // a node is newer than what ClusterD has of that node by more than kMaxLag. Until then its
  // reports count: our clock may be wrong, and both may be old.
  static constexpr std::chrono::minutes kStaleAfter{10};
  static constexpr std::chrono::minutes kMaxLag{1};
  // A time that is further ahead of our clock shows nothing.
  static constexpr std::chrono::minutes kAhead{1};

  // Whose ConfigMaps count.
  struct TrustedSources {
    bool clusterd = true;
    bool nodes = true;  // and public ones, which ClusterD adds to its own
    bool operator==(const TrustedSources&) const = default;
  };

  // Without `serials` public faults that name a node by its serial number are of no node.
  explicit FaultStore(Serials serials = {}) : serials_(std::move(serials)) {}

  // `config_map` is "namespace/name". Null: there is no such ConfigMap any more. Returns the nodes
  // of which something else may be true now.
  std::set<std::string> Put(Writer writer, const std::string& config_map,
                            const ReportSummary* summary);
  std::set<std::string> nodes() const;

  NodeFaults Merged(const std::string& node, TrustedSources counting) const;
  // The ConfigMaps that report a fault of the node and count.
  std::vector<ReportVersion> ReportsOf(const std::string& node, TrustedSources counting) const;

  // Whose ConfigMaps count, and whether those of the nodes are needed to say so.
  TrustedSources ChooseSources(Source source, Time now) const;
  bool WantsNodes(Source source, Time now) const;

  const PublicFaultStore& public_faults() const { return public_; }
  // As PublicFaultStore does; returns what Put does.
  std::set<std::string> ForgetReplaced() { return Named(public_.ForgetReplaced()); }

  // Whether one of ClusterD's is not empty, and the newest time in them that is not after `latest`.
  bool ClusterdIsActive() const;
  std::optional<Time> clusterd_newest(Time latest = Time::max()) const;

 private:
  struct Part {
    std::string kind;  // "mindx-dl/cluster-info-device-"
    std::vector<std::pair<std::string, Time>> times;
    std::optional<Time> newest;
    bool has_content = false;
  };
  struct OfNode {
    Writer writer{};
    NodeReport report;
    std::string version;
  };

  std::set<std::string> PutPublic(const std::string& config_map, const ReportSummary* summary);
  std::set<std::string> PutNodes(Writer writer, const std::string& config_map,
                                 const ReportSummary* summary);
  void PutNodeTimes(const std::string& config_map, const ReportSummary* summary,
                    std::set<std::string>& changed);
  void PutPart(const std::string& config_map, const ReportSummary* summary,
               std::set<std::string>& changed);
  bool IsOld(Time now) const;
  bool IsBehind(Time now) const;
  bool IsOutdated(const std::string& config_map, const std::string& node) const;
  std::set<std::string> Named(const std::set<std::string>& nodes) const;
  void AddPublic(const std::string& node, DeviceFaults& devices) const;
  static bool Counts(Writer writer, TrustedSources counting) {
    return writer == Writer::kClusterD ? counting.clusterd : counting.nodes;
  }

  std::map<std::string, Part> parts_;                           // of ClusterD, by ConfigMap
  std::map<std::string, std::map<std::string, OfNode>> nodes_;  // by node and ConfigMap
  std::map<std::string, std::set<std::string>> of_config_map_;  // the nodes that it reports
  Serials serials_;
  PublicFaultStore public_;
  std::map<std::string, std::string> public_versions_;  // by ConfigMap
  std::set<std::string> chip_types_;
  // By ConfigMap of a node, as ReportSummary::times.
  std::map<std::string, std::vector<std::pair<std::string, Time>>> node_times_;
};

// What is wrong with each node, by what all ConfigMaps say and by whose of them count. Not safe
// from many threads, apart from what faults() returned.
class KnownFaults {
 public:
  using Nodes = std::vector<std::string>;

  explicit KnownFaults(Serials serials = {}) : store_(std::move(serials)) {}

  // Each returns the nodes of which something else is known now.
  Nodes Put(Writer writer, const std::string& config_map, const ReportSummary* summary) {
    return Refresh(store_.Put(writer, config_map, summary));
  }
  Nodes ForgetReplaced() { return Refresh(store_.ForgetReplaced()); }
  // At these again.
  Nodes Refresh(const std::set<std::string>& nodes);
  // Nothing when the same reports count as before.
  std::optional<Nodes> Recount(Source source, Time now);

  const FaultStore& store() const { return store_; }
  FaultStore::TrustedSources counting() const { return sources_; }
  const std::shared_ptr<const FaultsByNode>& faults() const { return faults_; }

 private:
  FaultStore store_;
  FaultStore::TrustedSources sources_{.clusterd = true, .nodes = false};
  std::shared_ptr<const FaultsByNode> faults_ = std::make_shared<const FaultsByNode>();
};

}  // namespace mindgate::faults
