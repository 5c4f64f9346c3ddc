#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "json/decode.h"
#include "watcher/rescheduling/decision.h"

namespace mindgate::watcher::rescheduling {

using std::chrono::seconds;
using Map = JobMetadata::Map;

inline constexpr Time kStart{std::chrono::sys_days{std::chrono::January / 1 / 2026}};

inline const Map kForce = {{"fault-scheduling", "force"}};
inline const Map kGrace = {{"fault-scheduling", "grace"}};
inline const Map kPods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};

// A job of four pods on four nodes, and who looks at it.
struct World {
  explicit World(const Map& labels, const Map& annotations = {}, const Map& more_labels = {}) {
    JobMetadata metadata;
    metadata.AddLabels(labels);
    metadata.AddLabels(more_labels);
    metadata.AddAnnotations(annotations);
    job.uid = "g";
    job.started = true;
    job.min_available = 4;
    job.policy = metadata.Policy(true);
    for (int i = 0; i < 4; ++i) {
      Put(i);
      task(i).created = kStart - std::chrono::hours(1);
    }
  }

  Task& task(int i) { return job.tasks.at(static_cast<size_t>(i)); }

  // Another pod in the place of the i-th.
  void Put(int i) {
    const std::string number = std::to_string(i);
    const Task made{.pod = "p" + number,
                    .node = "n" + number,
                    .chips = {"Ascend910-0"},
                    .uid = "u" + number + "-" + std::to_string(++made_),
                    .created = now};
    if (static_cast<size_t>(i) < job.tasks.size()) {
      task(i) = made;
    } else {
      job.tasks.push_back(made);
    }
  }
  void BreakChip(int i) { faults["n" + std::to_string(i)].devices.unhealthy = {"Ascend910-0"}; }
  void Repair() { faults.clear(); }

  // What it does, with who it is done to.
  std::string Reconcile() {
    const Decision decision = Decide(job, {faults, not_ready}, state, options, now);
    state = decision.next;
    requeue = decision.requeue_at ? std::optional(*decision.requeue_at - now) : std::nullopt;
    why = decision.why;
    counts_against_budget = decision.counts_against_budget;
    std::string text;
    switch (decision.step) {
      case Step::kNothing:
        return decision.is_pending ? "waits" : "nothing";
      case Step::kFails:
        return "fails";
      case Step::kDelete:
        text = "delete";
        break;
      case Step::kEvict:
        text = "evict";
        break;
      case Step::kAnnotate:
        if (decision.tasks.empty()) return "marked";
        text = "annotate";
        break;
    }
    for (const size_t i : decision.tasks) text += " " + job.tasks[i].pod;
    return text;
  }
  std::string LookAfter(seconds pause) {
    now += pause;
    return Reconcile();
  }
  // Another watcher leads, and knows what was written down.
  void Restart() {
    const std::string text = Encode({{{"ns", "group"}, state}}, 10).dump();
    state = Decode(json::Document::Decode(text)->root(), now)[{"ns", "group"}];
  }

  Job job;
  faults::FaultsByNode faults;
  std::set<std::string, std::less<>> not_ready;
  JobState state;
  DecisionOptions options;
  Time now = kStart;
  std::optional<seconds> requeue;
  std::string why;
  bool counts_against_budget = false;

 private:
  int made_ = 0;
};

}  // namespace mindgate::watcher::rescheduling
