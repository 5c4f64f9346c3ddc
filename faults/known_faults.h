#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "faults/node_faults.h"
#include "faults/told.h"

namespace mindgate::faults {

// What is wrong with each node, by what all ConfigMaps say and by whose of them count. Not safe
// from many threads, apart from what faults() returned.
class KnownFaults {
 public:
  using Nodes = std::vector<std::string>;

  explicit KnownFaults(Serials serials = {}) : told_(std::move(serials)) {}

  // Each returns the nodes of which something else is known now.
  Nodes Put(Writer writer, const std::string& config_map, const Told* told) {
    return Look(told_.Put(writer, config_map, told));
  }
  Nodes ForgetReplaced() { return Look(told_.ForgetReplaced()); }
  // At these again.
  Nodes Look(const std::set<std::string>& nodes);
  // Nothing when the same reports count as before.
  std::optional<Nodes> Recount(Source source, Time now);

  const ToldByAll& told() const { return told_; }
  ToldByAll::Counting counting() const { return counting_; }
  const std::shared_ptr<const FaultsByNode>& faults() const { return faults_; }

 private:
  ToldByAll told_;
  ToldByAll::Counting counting_{.clusterd = true, .nodes = false};
  std::shared_ptr<const FaultsByNode> faults_ = std::make_shared<const FaultsByNode>();
};

}  // namespace mindgate::faults
