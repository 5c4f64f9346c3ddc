#include "what_if/forecaster.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mindgate::what_if {
namespace {

using Names = std::set<std::string, std::less<>>;

// The faults of some nodes, to put them back.
class SavedFaults {
 public:
  SavedFaults(SurveyedFaults& faults, const Names& nodes) : faults_(faults) {
    for (const std::string& name : nodes) {
      const auto node = faults.nodes.find(name);
      saved_.push_back({name, faults.not_ready.contains(name), {}});
      if (node != faults.nodes.end()) saved_.back().faults = node->second;
    }
  }

  void PutBack() {
    for (One& one : saved_) {
      if (!one.not_ready) faults_.not_ready.erase(one.name);
      if (one.faults) {
        faults_.nodes[one.name] = *std::move(one.faults);
      } else {
        faults_.nodes.erase(one.name);
      }
    }
  }

 private:
  struct One {
    std::string name;
    bool not_ready = false;
    std::optional<faults::NodeFaults> faults{};
  };

  SurveyedFaults& faults_;
  std::vector<One> saved_;
};

bool NeedsAPlace(Loss loss) {
  return loss == Loss::kGoes || loss == Loss::kLost || loss == Loss::kWaits;
}

}  // namespace

Forecaster::Forecaster(const Ground& ground)
    : ground_(ground),
      faults_(ground.reported),
      board_(ground),
      before_(SettlePart(ground, Whole(ground), {faults_, none_}, {}, {}, board_)) {
  for (size_t pod = 0; pod < ground.inventory.pods.size(); ++pod) {
    if (NeedsAPlace(board_.losses()[pod].loss)) waiting_.insert(ground.family_of[pod]);
  }
  for (const auto& [key, instance] : before_.instances) {
    const InstanceForecast& told = instance.told;
    if (told.is_new || !told.hits.empty() || !told.steps.empty()) standing_.push_back(key);
  }
}

Forecast Forecaster::Of(const Hypothesis& hypothesis) {
  const Names names = NodesOf(hypothesis);
  const Names drained = DrainedNodes(hypothesis);
  const Inventory& inventory = ground_.inventory;
  std::vector<size_t> nodes;
  std::set<size_t> families = waiting_;
  std::vector<size_t> also;
  for (const std::string& name : names) {
    const auto node = inventory.FindNode(name);
    if (!node) continue;
    nodes.push_back(*node);
    for (const size_t pod : inventory.pods_on[*node]) {
      if (IsConcerned(inventory, inventory.pods[pod], drained.contains(name))) {
        families.insert(ground_.family_of[pod]);
      } else {
        also.push_back(pod);
      }
    }
  }
  std::sort(also.begin(), also.end());
  const Part part = PartOf(ground_, families);
  std::vector<size_t> pods;
  std::set_union(part.pods.begin(), part.pods.end(), also.begin(), also.end(),
                 std::back_inserter(pods));

  SavedFaults saved_faults(faults_, names);
  std::vector<PodLoss> saved = board_.Save(pods);
  Suppose(hypothesis, inventory, faults_);
  Settled after = SettlePart(ground_, part, {faults_, drained}, also, nodes, board_);
  saved_faults.PutBack();
  board_.Restore({faults_, none_}, pods, std::move(saved), nodes);

  for (const InstanceKey& key : standing_) {
    after.instances.try_emplace(key, before_.instances.at(key));
  }
  std::set<watcher::scaling::ServiceKey> services;
  for (const size_t family : part.families) {
    const auto& of_family = ground_.families[family].services;
    services.insert(of_family.begin(), of_family.end());
  }
  return Compare(before_, after, services);
}

}  // namespace mindgate::what_if
