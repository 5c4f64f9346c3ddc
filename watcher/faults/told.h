#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "json/value.h"
#include "watcher/faults/node_faults.h"
#include "watcher/faults/reports.h"

namespace mindgate::watcher::faults {

// Who writes a ConfigMap.
enum class Writer : uint8_t { kClusterD, kNodes, kPublic };

// A ConfigMap as it was when its report was read.
struct ReportVersion {
  std::string ns;
  std::string name;
  std::string version;  // metadata.resourceVersion
  friend auto operator<=>(const ReportVersion&, const ReportVersion&) = default;
};

// What a ConfigMap says that is worth keeping: of a node that is healthy, only when that was.
struct Told {
  std::vector<NodeReport> nodes{};  // with a fault; without their times
  std::vector<std::string> problems{};
  // By name of the node, of ClusterD's only: when the device plugin or a switch spoke of it.
  std::vector<std::pair<std::string, Time>> times{};
  std::optional<Time> newest{};
  std::string chip_type{};
  std::string version{};  // metadata.resourceVersion; only of one that tells of a fault
  bool speaks = false;
  bool operator==(const Told&) const = default;
};

// Nothing for a ConfigMap that is no report.
std::optional<Told> Worth(const json::Value& config_map, Writer writer);

// What all ConfigMaps say together. Not safe from many threads.
class ToldByAll {
 public:
  // Whose ConfigMaps count.
  struct Counting {
    bool clusterd = true;
    bool nodes = true;  // and public ones, which ClusterD adds to its own
    bool operator==(const Counting&) const = default;
  };

  // `config_map` is "namespace/name". Null: there is no such ConfigMap any more. Returns the nodes
  // of which something else may be true now.
  std::set<std::string> Put(Writer writer, const std::string& config_map, const Told* told);
  std::set<std::string> nodes() const;

  NodeFaults Merged(const std::string& node, Counting counting) const;
  // The ConfigMaps that tell of a fault of the node and count.
  std::vector<ReportVersion> ReportsOf(const std::string& node, Counting counting) const;

  // Whether one of ClusterD's is not empty, and the newest time in them.
  bool clusterd_speaks() const;
  std::optional<Time> clusterd_newest() const;
  std::optional<Time> nodes_newest() const { return nodes_newest_; }

 private:
  struct Part {
    std::string kind;  // "mindx-dl/cluster-info-device-"
    std::vector<std::pair<std::string, Time>> times;
    std::optional<Time> newest;
    bool speaks = false;
  };
  struct OfNode {
    Writer writer{};
    NodeReport report;
    std::string version;
  };

  bool IsOutdated(const std::string& config_map, const std::string& node) const;
  static bool Counts(Writer writer, Counting counting) {
    return writer == Writer::kClusterD ? counting.clusterd : counting.nodes;
  }

  std::map<std::string, Part> parts_;                           // of ClusterD, by ConfigMap
  std::map<std::string, std::map<std::string, OfNode>> nodes_;  // by node and ConfigMap
  std::map<std::string, std::set<std::string>> of_config_map_;  // the nodes that it tells of
  std::set<std::string> chip_types_;
  std::optional<Time> nodes_newest_;
};

}  // namespace mindgate::watcher::faults
