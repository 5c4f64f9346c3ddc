#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "watcher/gang_repair/state.h"

namespace mindgate::watcher::gang_repair {

// What the API server makes of a decision.
inline void Apply(const Decision& decision, PodGroup& group) {
  if (decision.act == Act::kLower) {
    group.k = decision.k;
    group.marker = decision.marker;
  } else if (decision.act == Act::kRestore) {
    group.k.reset();
    group.marker.reset();
  }
}

enum class Repair { kOff, kOn };

// One rolling update from a template whose pods all run to one that asks for a gang of K, in a
// cluster with room for all. Each step is one sync of the deployment controller (kubernetes:
// pkg/controller/deployment/rolling.go), one of the ReplicaSets, one look of gang repair and one
// session of a scheduler that places no pod of a gang that is not whole.
class RolloutModel {
 public:
  RolloutModel(int64_t replicas, schemas::RollingUpdate rolling, int64_t k)
      : replicas_(replicas), rolling_(rolling), k_(k), old_(replicas) {
    group_ = {.ns = "ns",
              .name = "podgroup-s2",
              .uid = "g2",
              .owner = "s2",
              .version = "1",
              .min_member = 1,
              .k = {},
              .marker = {}};
  }

  // Called with the PodGroup at the end of each step.
  std::function<void(PodGroup&)> after_each_step;

  void RunToTheEnd(Repair repair) {
    // A step that changes nothing is followed by more of them. The last writes of a scheduler are
    // answered within one.
    const int64_t most = 8 * (replicas_ + 2);
    for (int64_t i = 0; i < most; ++i) Step(repair);
  }

  bool done() const { return old_ == 0 && new_ == replicas_ && available_ == replicas_; }
  const std::vector<int64_t>& written() const { return written_; }

  Deployment deployment() const {
    return {.ns = "ns",
            .name = "chat",
            .uid = "d",
            .replicas = replicas_,
            .rolling = rolling_,
            .generation = 2,
            .observed_generation = 2,
            .revision = 2,
            .all = old_ + pods_,
            .updated = pods_,
            .available = old_ + available_};
  }
  Gang gang() const {
    return {
        .set =
            {.name = "chat-2", .uid = "s2", .owner = "d", .revision = 2, .replicas = new_, .k = k_},
        .group = group_,
        .pods = pods_};
  }

 private:
  void Step(Repair repair) {
    SyncDeployment();
    pods_ = new_;
    available_ = std::min(available_, pods_);
    if (repair == Repair::kOn) {
      const Decision decision = Decide(deployment(), gang());
      if (decision.act == Act::kLower) written_.push_back(ParseGoInt(decision.k).value());
      Apply(decision, group_);
    }
    const int64_t gang_size = group_.k ? ParseGoInt(*group_.k).value() : k_;
    if (pods_ >= gang_size) available_ = pods_;
    if (after_each_step) after_each_step(group_);
  }

  void SyncDeployment() {
    const int64_t most = replicas_ + rolling_.max_surge;
    if (const int64_t room = most - old_ - new_; new_ < replicas_ && room > 0) {
      new_ += std::min(room, replicas_ - new_);
      return;
    }
    const int64_t least = replicas_ - std::min(rolling_.max_unavailable, replicas_);
    if (old_ + new_ - least - (new_ - available_) <= 0) return;
    old_ -= std::clamp<int64_t>(old_ + available_ - least, 0, old_);
  }

  const int64_t replicas_;
  const schemas::RollingUpdate rolling_;
  const int64_t k_;
  int64_t old_;      // pods of the old template, all available
  int64_t new_ = 0;  // that the new ReplicaSet is to make
  int64_t pods_ = 0;
  int64_t available_ = 0;
  PodGroup group_;
  std::vector<int64_t> written_;
};

}  // namespace mindgate::watcher::gang_repair
