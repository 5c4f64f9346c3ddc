#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/manual_clock.h"
#include "simulation/player.h"
#include "simulation/timeline.h"

namespace mindgate::simulation {

// Writes down a play as it goes, within its limits.
class Recorder {
 public:
  // Both must outlive it.
  Recorder(const ManualClock& clock, const PlayLimits& limits) : clock_(clock), limits_(limits) {}

  std::chrono::seconds at() const { return clock_.WallNow().time_since_epoch(); }
  bool stopped() const { return playback_.stopped; }

  // `of`: the service or job; empty: it concerns the cluster.
  void Note(EventKind kind, std::string of, std::string subject, std::string reason);
  void Stop(std::string reason);
  void Check(CheckResult check);
  void ChangeShape(ShapeChange change) { playback_.shapes.push_back(std::move(change)); }

  // What an instance does from now on, without its times; nothing: it has no pods.
  void FollowInstance(size_t number, std::optional<Span> next) {
    Follow({number + 1, ""}, std::move(next));
  }
  // What is wrong with a node from now on; empty: nothing.
  void FollowNode(const std::string& node, std::string what);
  // What all pods of jobs do, by their names.
  void FollowJobs(std::map<std::string, Span> next);

  // What there is at the end is to be added.
  Playback Finish();

 private:
  using Key = std::pair<size_t, std::string>;  // of a row; 0 and the pod for those of jobs

  void Follow(const Key& key, std::optional<Span> next);

  const ManualClock& clock_;
  const PlayLimits& limits_;
  std::map<Key, Span> open_;
  std::map<std::string, Outage> outages_;  // those that last, by node
  Playback playback_;
};

}  // namespace mindgate::simulation
