#include "what_if/board.h"

#include <algorithm>
#include <utility>

namespace mindgate::what_if {
namespace {

std::vector<bool> AllThatHaveANode(const Inventory& inventory) {
  std::vector<bool> stays;
  for (const Pod& pod : inventory.pods) stays.push_back(pod.on.has_value());
  return stays;
}

size_t CountOthers(const std::vector<PodLoss>& losses, std::span<const size_t> pods) {
  return static_cast<size_t>(
      std::count_if(pods.begin(), pods.end(), [&](size_t pod) { return losses[pod].is_other; }));
}

}  // namespace

Board::Board(const Ground& ground)
    : ground_(ground),
      losses_(ground.inventory.pods.size()),
      stays_(AllThatHaveANode(ground.inventory)),
      scheduler_({ground.inventory, ground.reported, ground.reported, {}, stays_}) {}

std::set<GroupName> Board::Decide(const Situation& situation, std::span<const size_t> pods,
                                  std::span<const size_t> nodes) {
  others_ -= CountOthers(losses_, pods);
  std::set<GroupName> may_widen =
      DecideLosses(ground_.inventory, ground_.jobs, situation, pods, losses_);
  others_ += CountOthers(losses_, pods);
  RenewNodes(situation, pods, nodes);
  return may_widen;
}

std::vector<PodLoss> Board::Save(std::span<const size_t> pods) const {
  std::vector<PodLoss> saved;
  for (const size_t pod : pods) saved.push_back(losses_[pod]);
  return saved;
}

void Board::Restore(const Situation& situation, std::span<const size_t> pods,
                    std::vector<PodLoss> saved, std::span<const size_t> nodes) {
  others_ -= CountOthers(losses_, pods);
  for (size_t i = 0; i < pods.size(); ++i) losses_[pods[i]] = std::move(saved[i]);
  others_ += CountOthers(losses_, pods);
  RenewNodes(situation, pods, nodes);
}

void Board::RenewNodes(const Situation& situation, std::span<const size_t> pods,
                       std::span<const size_t> nodes) {
  scheduler_.Clear();
  renewed_.clear();
  renewed_.insert(nodes.begin(), nodes.end());
  for (const size_t pod : pods) {
    const bool stays = KeepsItsPlace(losses_[pod].loss);
    if (stays == stays_[pod]) continue;
    stays_[pod] = stays;
    if (ground_.inventory.pods[pod].on) renewed_.insert(*ground_.inventory.pods[pod].on);
  }
  for (const size_t node : renewed_) {
    scheduler_.Renew(
        node, {ground_.inventory, situation.faults, ground_.reported, situation.drained, stays_});
  }
}

}  // namespace mindgate::what_if
