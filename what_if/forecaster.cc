#include "what_if/forecaster.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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

Forecaster::Forecaster(const Ground& ground, const Hypothesis& base)
    : ground_(ground), drained_(DrainedNodes(base)), faults_(ground.reported), board_(ground) {
  Suppose(base, ground.inventory, faults_);
  const Part whole = Whole(ground);
  before_ = SettlePart(ground, whole, {faults_, drained_}, whole.pods,
                       NodesOf(base, ground.inventory), board_);
  FindThoseThatWait();
  for (const auto& [key, instance] : before_.instances) {
    const InstanceForecast& told = instance.told;
    if (told.is_new || !told.hits.empty() || !told.steps.empty()) standing_.push_back(key);
  }
}

void Forecaster::FindThoseThatWait() {
  board_.scheduler().Clear();
  std::set<size_t> waiting;
  for (size_t pod = 0; pod < ground_.inventory.pods.size(); ++pod) {
    const Loss loss = board_.losses()[pod].loss;
    if (NeedsAPlace(loss)) waiting.insert(ground_.family_of[pod]);
    if (NeedsAPlace(loss) && loss != Loss::kWaits) placing_.insert(ground_.family_of[pod]);
  }
  for (const Placed& placed : before_.placed) placing_.insert(ground_.family_of[placed.pod]);
  for (const size_t family : waiting) {
    if (placing_.contains(family)) continue;
    if (auto sleeper = SleeperOf(family)) {
      sleepers_.push_back(*std::move(sleeper));
    } else {
      placing_.insert(family);
    }
  }
}

// Nothing: there may be room for some of its pods.
std::optional<Forecaster::Sleeper> Forecaster::SleeperOf(size_t family) {
  using Likeness = std::tuple<std::string, int64_t, Labels, std::vector<Toleration>>;
  std::map<Likeness, size_t> alike;
  for (const size_t i : ground_.families[family].pods) {
    if (!NeedsAPlace(board_.losses()[i].loss)) continue;
    const Pod& pod = ground_.inventory.pods[i];
    if (pod.npus == 0) return std::nullopt;
    alike.emplace(Likeness(pod.resource, pod.npus, pod.node_selector, pod.tolerations), i);
  }
  Sleeper sleeper{family};
  for (const auto& [likeness, i] : alike) {
    const Pod& pod = ground_.inventory.pods[i];
    for (size_t node = 0; node < ground_.inventory.nodes.size(); ++node) {
      if (board_.scheduler().CouldTake(node, pod)) return std::nullopt;
    }
    sleeper.pods.push_back(i);
  }
  return sleeper;
}

Settled Forecaster::SettleWith(const Hypothesis& hypothesis, const Names& drained,
                               const std::vector<size_t>& nodes, const std::set<size_t>& families,
                               const std::vector<size_t>& also, std::set<size_t>& woken) {
  const Part part = PartOf(ground_, families);
  std::vector<size_t> pods;
  std::set_union(part.pods.begin(), part.pods.end(), also.begin(), also.end(),
                 std::back_inserter(pods));
  const auto wake = [&] {
    const auto takes_one = [&](const Sleeper& sleeper, size_t node) {
      return std::any_of(sleeper.pods.begin(), sleeper.pods.end(), [&](size_t pod) {
        return board_.scheduler().CouldTake(node, ground_.inventory.pods[pod]);
      });
    };
    for (const Sleeper& sleeper : sleepers_) {
      if (families.contains(sleeper.family)) continue;
      if (std::any_of(board_.renewed().begin(), board_.renewed().end(),
                      [&](size_t node) { return takes_one(sleeper, node); })) {
        woken.insert(sleeper.family);
      }
    }
  };
  SavedFaults saved_faults(faults_, NodesOf(hypothesis));
  std::vector<PodLoss> saved = board_.Save(pods);
  Suppose(hypothesis, ground_.inventory, faults_);
  Settled after = SettlePart(ground_, part, {faults_, drained}, pods, nodes, board_, wake);
  saved_faults.PutBack();
  board_.Restore({faults_, drained_}, pods, std::move(saved), nodes);
  return after;
}

Forecast Forecaster::Of(const Hypothesis& hypothesis) {
  Names drained = DrainedNodes(hypothesis);
  drained.insert(drained_.begin(), drained_.end());
  const Inventory& inventory = ground_.inventory;
  const std::vector<size_t> nodes = NodesOf(hypothesis, inventory);
  std::set<size_t> families = placing_;
  std::vector<size_t> also;
  for (const size_t node : nodes) {
    const bool is_drained = drained.contains(inventory.nodes[node].name);
    for (const size_t pod : inventory.pods_on[node]) {
      if (IsConcerned(inventory, inventory.pods[pod], is_drained)) {
        families.insert(ground_.family_of[pod]);
      } else {
        also.push_back(pod);
      }
    }
  }
  std::sort(also.begin(), also.end());

  std::set<size_t> woken;
  Settled after = SettleWith(hypothesis, drained, nodes, families, also, woken);
  // Who wakes takes room from others, and so does who wakes then.
  while (!woken.empty()) {
    families.merge(woken);
    woken.clear();
    after = SettleWith(hypothesis, drained, nodes, families, also, woken);
  }
  for (const InstanceKey& key : standing_) {
    after.instances.try_emplace(key, before_.instances.at(key));
  }
  std::set<watcher::scaling::ServiceKey> services;
  for (const size_t family : families) {
    const auto& of_family = ground_.families[family].services;
    services.insert(of_family.begin(), of_family.end());
  }
  return Compare(before_, after, services);
}

}  // namespace mindgate::what_if
