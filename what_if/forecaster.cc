#include "what_if/forecaster.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"

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

Forecaster::Forecaster(const InitialState& initial, const Hypothesis& base)
    : initial_(initial), drained_(DrainedNodes(base)), faults_(initial.reported), board_(initial) {
  Suppose(base, initial.inventory, faults_);
  const Part whole = Whole(initial);
  before_ = SettlePart(initial, whole, {faults_, drained_}, whole.pods,
                       NodesOf(base, initial.inventory), board_);
  FindThoseThatWait();
  for (const auto& [key, instance] : before_.instances) {
    const InstanceForecast& reported = instance.reported;
    if (reported.is_new || !reported.hits.empty() || !reported.steps.empty())
      always_reported_.push_back(key);
  }
}

void Forecaster::FindThoseThatWait() {
  board_.scheduler().Clear();
  std::set<size_t> waiting;
  for (size_t pod = 0; pod < initial_.inventory.pods.size(); ++pod) {
    const Loss loss = board_.losses()[pod].loss;
    if (NeedsAPlace(loss)) waiting.insert(initial_.family_of[pod]);
    if (NeedsAPlace(loss) && loss != Loss::kWaits) placing_.insert(initial_.family_of[pod]);
  }
  for (const Placed& placed : before_.placed) placing_.insert(initial_.family_of[placed.pod]);
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
  for (const size_t i : initial_.families[family].pods) {
    if (!NeedsAPlace(board_.losses()[i].loss)) continue;
    const Pod& pod = initial_.inventory.pods[i];
    if (pod.npus == 0) return std::nullopt;
    alike.emplace(Likeness(pod.resource, pod.npus, pod.node_selector, pod.tolerations), i);
  }
  Sleeper sleeper{family};
  for (const auto& [likeness, i] : alike) {
    const Pod& pod = initial_.inventory.pods[i];
    for (size_t node = 0; node < initial_.inventory.nodes.size(); ++node) {
      if (board_.scheduler().CouldTake(node, pod)) return std::nullopt;
    }
    sleeper.pods.push_back(i);
  }
  return sleeper;
}

Settled Forecaster::SettleWith(const Hypothesis& hypothesis, const Names& drained,
                               const std::vector<size_t>& nodes, const std::set<size_t>& families,
                               const std::vector<size_t>& also, std::set<size_t>& woken) {
  const Part part = PartOf(initial_, families);
  std::vector<size_t> pods;
  std::set_union(part.pods.begin(), part.pods.end(), also.begin(), also.end(),
                 std::back_inserter(pods));
  const auto wake = [&] {
    const auto takes_one = [&](const Sleeper& sleeper, size_t node) {
      return std::any_of(sleeper.pods.begin(), sleeper.pods.end(), [&](size_t pod) {
        return board_.scheduler().CouldTake(node, initial_.inventory.pods[pod]);
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
  Suppose(hypothesis, initial_.inventory, faults_);
  Settled after = SettlePart(initial_, part, {faults_, drained}, pods, nodes, board_, wake);
  saved_faults.PutBack();
  board_.Restore({faults_, drained_}, pods, std::move(saved), nodes);
  return after;
}

Forecast Forecaster::Of(const Hypothesis& hypothesis) {
  Names drained = DrainedNodes(hypothesis);
  drained.insert(drained_.begin(), drained_.end());
  const Inventory& inventory = initial_.inventory;
  const std::vector<size_t> nodes = NodesOf(hypothesis, inventory);
  std::set<size_t> families = placing_;
  std::vector<size_t> also;
  for (const size_t node : nodes) {
    const bool is_drained = drained.contains(inventory.nodes[node].name);
    for (const size_t pod : inventory.pods_on[node]) {
      if (IsConcerned(inventory, inventory.pods[pod], is_drained)) {
        families.insert(initial_.family_of[pod]);
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
  for (const InstanceKey& key : always_reported_) {
    after.instances.try_emplace(key, before_.instances.at(key));
  }
  std::set<watcher::scaling::ServiceKey> services;
  for (const size_t family : families) {
    const auto& of_family = initial_.families[family].services;
    services.insert(of_family.begin(), of_family.end());
  }
  return Compare(before_, after, services);
}

namespace {

bool IsDown(Outcome outcome) {
  return outcome == Outcome::kNoRoom || outcome == Outcome::kBroken || outcome == Outcome::kLost;
}

}  // namespace

std::vector<SingleLoss> EachNode(const Inventory& inventory) {
  std::vector<SingleLoss> losses;
  for (const Node& node : inventory.nodes) losses.push_back({node.name, {.lost = {node.name}}});
  return losses;
}

std::vector<SingleLoss> EachCard(const Inventory& inventory) {
  std::vector<SingleLoss> losses;
  for (const Node& node : inventory.nodes) {
    for (const auto& [resource, chips] : node.chips) {
      for (const std::string& chip : chips) {
        losses.push_back({node.name + "/" + chip, {.chips = {{node.name, chip}}}});
      }
    }
  }
  return losses;
}

std::vector<SingleLoss> EachValue(const Inventory& inventory, std::string_view label) {
  std::map<std::string, std::vector<std::string>, NaturalOrder> nodes;  // by value
  for (const Node& node : inventory.nodes) {
    const auto found = node.labels.find(label);
    if (found != node.labels.end()) nodes[found->second].push_back(node.name);
  }
  std::vector<SingleLoss> losses;
  for (auto& [value, names] : nodes) {
    losses.push_back({std::string(label) + "=" + value, {.lost = std::move(names)}});
  }
  return losses;
}

size_t Impact::services_down() const {
  return static_cast<size_t>(std::count_if(shrunk.begin(), shrunk.end(),
                                           [](const ServiceForecast& one) { return !one.after; }));
}

Impact ImpactOf(std::string name, const Forecast& forecast) {
  Impact impact{.name = std::move(name)};
  for (const InstanceForecast& instance : forecast.instances) {
    if (instance.already) continue;
    if (instance.outcome == Outcome::kMoves) {
      ++impact.moved;
      continue;
    }
    const size_t without_place = instance.without_place();
    impact.without_place += without_place;
    if (instance.shortage && instance.shortage->npus > 0) {
      impact.missing[instance.shortage->resource] +=
          instance.shortage->pods * instance.shortage->npus;
    }
    (IsDown(instance.outcome) ? impact.down : impact.degraded)
        .push_back(
            {instance.ns, instance.owner, instance.pod_group, instance.outcome, without_place});
  }
  for (const ServiceForecast& service : forecast.services) {
    if (service.shrinks()) impact.shrunk.push_back(service);
  }
  return impact;
}

void Rank(std::vector<Impact>& impacts) {
  const auto weight = [](const Impact& impact) {
    return std::tuple(impact.services_down(), impact.down.size(), impact.shrunk.size(),
                      impact.degraded.size(), impact.without_place);
  };
  std::stable_sort(impacts.begin(), impacts.end(), [&](const Impact& a, const Impact& b) {
    const auto of_a = weight(a);
    const auto of_b = weight(b);
    return of_a != of_b ? of_a > of_b : NaturalLess(a.name, b.name);
  });
}

namespace {

// Instances that would not be there without the drain.
size_t MovedBy(const Forecast& forecast) {
  return static_cast<size_t>(std::count_if(forecast.instances.begin(), forecast.instances.end(),
                                           [](const auto& one) { return !one.already; }));
}

// A cluster at one moment of the sequence.
struct State {
  explicit State(ClusterSnapshot of) : snapshot(std::move(of)), initial(snapshot) {
    forecaster.emplace(initial);
  }

  // After a drain. Boards take memory: one at a time.
  ClusterSnapshot After(const std::string& node) {
    forecaster.reset();
    return AfterSettling(initial, Settle(initial, DrainOf(node)));
  }

  ClusterSnapshot snapshot;
  InitialState initial;
  std::optional<Forecaster> forecaster{};
};

}  // namespace

DrainOrder OrderOfDrains(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes,
                         size_t max_read_again, const std::function<void()>& step) {
  struct Turn {
    std::string node;
    size_t moved = 0;
    bool fine = false;
  };
  auto state = std::make_unique<State>(snapshot);
  const auto ask = [&](const std::string& node) {
    const Forecast forecast = state->forecaster->Of(DrainOf(node));
    step();
    return Turn{node, MovedBy(forecast), forecast.fine()};
  };
  std::vector<Turn> turns;
  for (const std::string& node : nodes) turns.push_back(ask(node));
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    if (a.fine != b.fine) return a.fine;
    return a.moved != b.moved ? a.moved < b.moved : NaturalLess(a.node, b.node);
  });
  DrainOrder result;
  size_t read_again = 0;
  for (bool moved = true; moved;) {
    moved = false;
    std::vector<Turn> stopping;
    for (Turn& turn : turns) {
      const bool is_spent = read_again + snapshot.pods.size() > max_read_again;
      if (read_again > 0 && !is_spent) turn = ask(turn.node);
      if (!turn.fine) {
        stopping.push_back(std::move(turn));
      } else if (turn.moved > 0 && is_spent) {
        ++result.untried;
      } else {
        result.order.push_back(turn.node);
        if (turn.moved == 0) continue;
        read_again += snapshot.pods.size();
        ClusterSnapshot after = state->After(turn.node);
        state.reset();
        state = std::make_unique<State>(std::move(after));
        moved = read_again + snapshot.pods.size() <= max_read_again;
      }
    }
    turns = std::move(stopping);
  }
  for (Turn& turn : turns) result.stopping.push_back(std::move(turn.node));
  std::sort(result.stopping.begin(), result.stopping.end(), NaturalLess);
  return result;
}

}  // namespace mindgate::what_if
