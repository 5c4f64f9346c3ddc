#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "faults/fault_store.h"
#include "faults/node_faults.h"

namespace mindgate::faults {

// What is wrong with each node, by what all ConfigMaps say and by whose of them count. Not safe
// from many threads, apart from what faults() returned.
class KnownFaults {
 public:
  using Nodes = std::vector<std::string>;

  explicit KnownFaults(Serials serials = {}) : told_(std::move(serials)) {}

  // Each returns the nodes of which something else is known now.
  Nodes Put(Writer writer, const std::string& config_map, const ReportSummary* told) {
    return Look(told_.Put(writer, config_map, told));
  }
  Nodes ForgetReplaced() { return Look(told_.ForgetReplaced()); }
  // At these again.
  Nodes Look(const std::set<std::string>& nodes);
  // Nothing when the same reports count as before.
  std::optional<Nodes> Recount(Source source, Time now);

  const FaultStore& told() const { return told_; }
  FaultStore::TrustedSources counting() const { return sources_; }
  const std::shared_ptr<const FaultsByNode>& faults() const { return faults_; }

 private:
  FaultStore told_;
  FaultStore::TrustedSources sources_{.clusterd = true, .nodes = false};
  std::shared_ptr<const FaultsByNode> faults_ = std::make_shared<const FaultsByNode>();
};

}  // namespace mindgate::faults
