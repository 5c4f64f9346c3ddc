#include "audit/losses.h"

#include <vector>

#include "what_if/each_loss.h"
#include "what_if/forecaster.h"
#include "what_if/ground.h"

namespace mindgate::audit {
namespace {

using what_if::Forecast;
using what_if::Ground;
using what_if::Hypothesis;
using what_if::InstanceForecast;
using what_if::Outcome;
using what_if::Pod;

bool Counts(const Pod& pod) { return pod.npus > 0 && !pod.failed && !pod.leaving; }

class Supposing {
 public:
  Supposing(const Ground& ground, const std::function<WorkloadName(const WorkloadName&)>& topmost,
            const std::function<void(size_t, size_t)>& step)
      : ground_(ground), topmost_(topmost), step_(step), forecaster_(ground) {}

  std::map<WorkloadName, Losses> Run() {
    for (const Pod& pod : ground_.inventory.pods) {
      if (!Counts(pod)) continue;
      Losses& losses = losses_[topmost_({pod.ns, pod.owner})];
      losses.npus += pod.npus;
      ++losses.pods;
      if (!pod.on) ++losses.waiting;
    }
    const auto nodes = EachNode(ground_.inventory);
    const auto cards = Cards();
    const size_t all = nodes.size() + cards.size();
    size_t done = 0;
    for (const what_if::SingleLoss& node : nodes) {
      Note(node.name, forecaster_.Of(node.hypothesis), &Losses::node);
      step_(++done, all);
    }
    for (const what_if::FaultyChip& card : cards) {
      Note(card.node + "/" + card.chip, forecaster_.Of(Hypothesis{.chips = {card}}), &Losses::card);
      step_(++done, all);
    }
    return std::move(losses_);
  }

 private:
  Losses* Find(const InstanceForecast& instance) {
    const auto found = losses_.find(topmost_({instance.ns, instance.owner}));
    return found == losses_.end() ? nullptr : &found->second;
  }

  std::vector<what_if::FaultyChip> Cards() const {
    std::vector<what_if::FaultyChip> cards;
    for (const what_if::Instance& instance : ground_.instances) {
      for (const size_t at : instance.pods) {
        const Pod& pod = ground_.inventory.pods[at];
        if (!Counts(pod) || !pod.on || pod.chips.empty()) continue;
        cards.push_back({ground_.inventory.nodes[*pod.on].name, *pod.chips.begin()});
        break;
      }
    }
    return cards;
  }

  // What the loss hits, and nothing else: who makes room for it loses by another's death.
  void Note(const std::string& loss, Forecast forecast, std::optional<LossEffect> Losses::* kind) {
    for (InstanceForecast& instance : forecast.instances) {
      if (instance.hits.empty() || instance.already) continue;
      Losses* losses = Find(instance);
      if (losses == nullptr) continue;
      const Recovery recovery = RecoveryOf(instance.outcome);
      std::optional<LossEffect>& worst = losses->*kind;
      if (worst && worst->recovery >= recovery) continue;
      worst = LossEffect{recovery, loss, std::move(instance)};
    }
  }

  const Ground& ground_;
  const std::function<WorkloadName(const WorkloadName&)>& topmost_;
  const std::function<void(size_t, size_t)>& step_;
  what_if::Forecaster forecaster_;
  std::map<WorkloadName, Losses> losses_;
};

}  // namespace

std::string_view RecoveryName(Recovery recovery) {
  switch (recovery) {
    case Recovery::kRecovers:
      return "recovers";
    case Recovery::kDegraded:
      return "degraded";
    case Recovery::kHangs:
      return "hangs";
    case Recovery::kUnattended:
      return "unattended";
    case Recovery::kLost:
      return "lost";
  }
  return "";
}

Recovery RecoveryOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMoves:
      return Recovery::kRecovers;
    case Outcome::kPartly:
      return Recovery::kDegraded;
    case Outcome::kNoRoom:
    case Outcome::kHeld:
      return Recovery::kHangs;
    case Outcome::kBroken:
      return Recovery::kUnattended;
    case Outcome::kLost:
      return Recovery::kLost;
  }
  return Recovery::kLost;
}

std::map<WorkloadName, Losses> LossesOf(
    const what_if::ClusterSnapshot& snapshot,
    const std::function<WorkloadName(const WorkloadName&)>& topmost,
    const std::function<void(size_t done, size_t of)>& step) {
  const Ground ground(snapshot);
  return Supposing(ground, topmost, step).Run();
}

}  // namespace mindgate::audit
