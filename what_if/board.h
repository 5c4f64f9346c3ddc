#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "what_if/ground.h"
#include "what_if/losses.h"
#include "what_if/scheduler.h"

namespace mindgate::what_if {

// What becomes of each pod of a cluster before anything is placed, and the room that this leaves.
// One board serves one question after the other: each decides again only about what it concerns,
// and puts that back.
class Board {
 public:
  // Nothing is decided yet, and nothing is placed. `ground` must outlive it.
  explicit Board(const Ground& ground);

  const std::vector<PodLoss>& losses() const { return losses_; }  // by pod
  size_t others() const { return others_; }                       // Forecast::others
  Scheduler& scheduler() { return scheduler_; }
  // Nodes that were read again for the last decision: their room may be another one.
  const std::set<size_t>& renewed() const { return renewed_; }

  // Decides about `pods` as DecideLosses does, and takes away what was placed. `nodes` are those
  // whose faults or drains differ from those of the decision before.
  std::set<GroupName> Decide(const Situation& situation, std::span<const size_t> pods,
                             std::span<const size_t> nodes);

  // For putting back: what Decide changes of these pods.
  std::vector<PodLoss> Save(std::span<const size_t> pods) const;
  void Restore(const Situation& situation, std::span<const size_t> pods, std::vector<PodLoss> saved,
               std::span<const size_t> nodes);

 private:
  // Reads the nodes again, and those on which one of the pods stays no longer, or again.
  void RenewNodes(const Situation& situation, std::span<const size_t> pods,
                  std::span<const size_t> nodes);

  const Ground& ground_;
  std::vector<PodLoss> losses_;
  std::vector<bool> stays_;  // as losses_ says
  size_t others_ = 0;
  std::set<size_t> renewed_;
  Scheduler scheduler_;
};

}  // namespace mindgate::what_if
