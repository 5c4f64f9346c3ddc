#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "watcher/scaling/decision.h"

// Services, rules and decisions as short texts, for tests of elastic scaling.
namespace mindgate::testing {

using schemas::EnforcementMode;
using watcher::scaling::Decide;
using watcher::scaling::Decision;
using watcher::scaling::Instance;
using watcher::scaling::Options;
using watcher::scaling::Outcome;
using watcher::scaling::Phase;
using watcher::scaling::Service;
using watcher::scaling::Verdict;

inline constexpr Time kStart = Time(std::chrono::seconds(1767225600));  // 2026-01-01T00:00:00Z

inline Options Rebalancing(EnforcementMode mode = EnforcementMode::kEnforce) {
  Options options;
  options.rebalance = mode;
  return options;
}

// "g0=2 g1=1" as pairs.
inline std::vector<std::pair<std::string, int64_t>> CountsOf(std::string_view text) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const std::string_view word : Split(text, ' ')) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    counts.emplace_back(word.substr(0, equals), ParseGoInt(word.substr(equals + 1)).value_or(0));
  }
  return counts;
}

// "g0=2 g1=1 | g0=1 g1=1": the largest shape first; empty: no shape.
inline schemas::ScalingRule RuleOf(std::string_view shapes) {
  schemas::ScalingRule rule;
  if (shapes.empty()) return rule;
  for (const std::string_view shape : Split(shapes, '|')) {
    auto& tier = rule.tiers.emplace_back();
    for (const auto& [group, number] : CountsOf(shape)) tier.groups.push_back({group, number, 1});
  }
  return rule;
}

// The same rule as a ConfigMap holds it.
inline std::string RuleText(std::string_view shapes) {
  std::string tiers;
  for (const auto& tier : RuleOf(shapes).tiers) {
    std::string groups;
    for (const auto& group : tier.groups) {
      groups += std::string(groups.empty() ? "" : ",") + R"({"group_name":")" + group.group_name +
                R"(","group_num":")" + std::to_string(group.group_num) +
                R"(","server_num_per_group":"1"})";
    }
    tiers += std::string(tiers.empty() ? "" : ",") + R"({"group_list":[)" + groups + "]}";
  }
  return R"({"version":"1.0","elastic_scaling_list":[)" + tiers + "]}";
}

// "p-0" is of group "p".
inline Instance Of(std::string name, Phase phase) {
  Instance instance;
  instance.group = name.substr(0, name.rfind('-'));
  instance.name = std::move(name);
  instance.phase = phase;
  instance.since = kStart;
  return instance;
}

inline Instance Held(std::string name) { return Of(std::move(name), Phase::kHeld); }
inline Instance Starting(std::string name) { return Of(std::move(name), Phase::kStarting); }
inline Instance Running(std::string name) { return Of(std::move(name), Phase::kRunning); }

inline Instance Granted(std::string name, Time when = kStart) {
  Instance instance = Held(std::move(name));
  instance.granted = when;
  return instance;
}

// One of which a gate may be open: a call was not answered.
inline Instance Unanswered(std::string name, Time when = kStart) {
  Instance instance = Granted(std::move(name), when);
  instance.unanswered = true;
  return instance;
}

// One that starts and finds no room.
inline Instance Stuck(std::string name, Time when = kStart) {
  Instance instance = Starting(std::move(name));
  instance.unschedulable = when;
  return instance;
}

inline Instance Since(Instance instance, Time since) {
  instance.since = since;
  return instance;
}

inline Instance Ready(Instance instance, int64_t pods) {
  instance.ready = pods;
  return instance;
}

inline Instance Placed(Instance instance, int64_t pods) {
  instance.placed = pods;
  return instance;
}

// Instances of each group from number `first` on, as many as `counts` says.
inline void Add(Service& service, std::string_view counts, Phase phase, int64_t first = 0) {
  for (const auto& [group, number] : CountsOf(counts)) {
    for (int64_t i = first; i < first + number; ++i) {
      service.instances.push_back(Of(group + "-" + std::to_string(i), phase));
    }
  }
}

inline const char* Show(watcher::scaling::Verdict verdict) {
  using watcher::scaling::Verdict;
  switch (verdict) {
    case Verdict::kGrant:
      return "grant";
    case Verdict::kHold:
      return "hold";
    case Verdict::kKeep:
      return "keep";
    case Verdict::kWithdraw:
      return "withdraw";
    case Verdict::kGiveUp:
      return "give up";
  }
  return "?";
}

// The shape that is aimed at as people count them, from 1; "-" when none is.
inline std::string ShowAim(const watcher::scaling::Decision& decision) {
  return decision.aim ? std::to_string(*decision.aim + 1) : "-";
}

// "p-0 keep, p-1 grant".
inline std::string ShowOutcomes(const watcher::scaling::Decision& decision) {
  std::string text;
  for (const auto& outcome : decision.outcomes) {
    text += (text.empty() ? "" : ", ") + outcome.instance + " " + Show(outcome.verdict);
  }
  return text;
}

// The names of those that would be taken back.
inline std::string ShowWould(const watcher::scaling::Decision& decision) {
  std::string text;
  for (const auto& outcome : decision.proposed)
    text += (text.empty() ? "" : " ") + outcome.instance;
  return text;
}

// The names with one verdict, by name.
inline std::string With(const watcher::scaling::Decision& decision,
                        watcher::scaling::Verdict verdict) {
  std::string text;
  for (const auto& outcome : decision.outcomes) {
    if (outcome.verdict == verdict) text += (text.empty() ? "" : " ") + outcome.instance;
  }
  return text;
}

// What a group has: instances, and the slots that each of them needs.
struct Supply {
  int64_t instances = 0;
  int64_t need = 1;
};

// The largest shape for which there are instances and slots enough.
inline std::optional<size_t> BestShape(const schemas::ScalingRule& rule,
                                       const std::map<std::string, Supply>& supplies,
                                       int64_t slots) {
  for (size_t i = 0; i < rule.tiers.size(); ++i) {
    int64_t needed = 0;
    bool enough = true;
    for (const auto& group : rule.tiers[i].groups) {
      const auto found = supplies.find(group.group_name);
      const Supply supply = found == supplies.end() ? Supply{} : found->second;
      enough = enough && supply.instances >= group.group_num;
      needed += supply.need * group.group_num;
    }
    if (enough && needed <= slots) return i;
  }
  return std::nullopt;
}

}  // namespace mindgate::testing
