#pragma once

#include <rapidcheck.h>

#include <iostream>
#include <string>
#include <vector>

#include "support/scaling.h"

// Random services under random rules, for properties of elastic scaling. To be called inside a
// rapidcheck property.
namespace mindgate::testing {

// Ten times as often as by default, for a service has many parts.
template <typename Property>
bool Holds(Property property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess *= 10;
  const auto result = rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params);
  rc::detail::printResultMessage(result, std::cerr);
  std::cerr << std::endl;
  return result.template is<rc::detail::SuccessResult>();
}

// Taken modulo, since shrinking replays draws into code that may by then ask for another range.
inline int64_t AnyBelow(int64_t n) { return *rc::gen::inRange(0, 1'000'000) % n; }

inline const std::string& AnyGroup() {
  static const std::vector<std::string> kNames = {"p", "d", "x"};
  return kNames[static_cast<size_t>(AnyBelow(3))];
}

// As the operator accepts it: what a shape has, the one before it has too, and not less of it.
inline schemas::ScalingRule AnyRule() {
  schemas::ScalingRule rule;
  schemas::ScalingTier tier;
  for (const char* group : {"p", "d", "x"}) {
    if (AnyBelow(4) > 0) tier.groups.push_back({group, AnyBelow(5), 1});
  }
  const int64_t tiers = AnyBelow(5);
  for (int64_t i = 0; i < tiers; ++i) {
    rule.tiers.push_back(tier);
    for (auto& group : tier.groups) group.group_num = AnyBelow(group.group_num + 1);
    if (!tier.groups.empty() && AnyBelow(5) == 4) tier.groups.pop_back();
  }
  return rule;
}

inline Instance AnyInstance(int64_t number) {
  using std::chrono::seconds;
  Instance instance;
  instance.group = AnyBelow(20) == 19 ? "unknown" : AnyGroup();
  instance.name = instance.group + "-" + std::to_string(number);
  instance.phase = static_cast<Phase>(AnyBelow(4));
  instance.since = kStart - seconds(AnyBelow(4));
  if (AnyBelow(3) == 2) {
    instance.granted = kStart - seconds(AnyBelow(40)) + seconds(3);
    instance.unanswered = AnyBelow(2) == 1;
  }
  if (instance.phase == Phase::kQueued) {
    if (AnyBelow(2) == 1) instance.unschedulable = kStart - seconds(AnyBelow(100));
    return instance;
  }
  if (instance.phase == Phase::kStarting) {
    if (AnyBelow(2) == 1) {
      instance.unschedulable = kStart - seconds(AnyBelow(100));
    }
    instance.placed = AnyBelow(3);
  }
  instance.ready = AnyBelow(3);
  return instance;
}

inline Service AnyService() {
  Service service;
  if (AnyBelow(12) > 0) {
    service.rule = AnyRule();
  } else {
    service.no_rule = "the rule cannot be read";
  }
  const int64_t instances = AnyBelow(14);
  for (int64_t i = 0; i < instances; ++i) service.instances.push_back(AnyInstance(i));
  if (AnyBelow(15) == 14 && !service.instances.empty()) service.instances.front().group = "";
  return service;
}

inline watcher::scaling::Options AnyOptions() {
  watcher::scaling::Options options;
  options.upstream_counts = AnyBelow(2) == 1;
  options.rebalance = static_cast<schemas::EnforcementMode>(AnyBelow(3));
  return options;
}

inline void Log(const Service& service) {
  RC_LOG() << "rule";
  if (service.rule) {
    for (const auto& tier : service.rule->tiers) {
      for (const auto& group : tier.groups) {
        RC_LOG() << " " << group.group_name << "=" << group.group_num;
      }
      RC_LOG() << " |";
    }
  }
  for (const Instance& instance : service.instances) {
    RC_LOG() << "\n" << instance.name << " phase " << static_cast<int>(instance.phase);
    if (instance.granted) RC_LOG() << " granted " << (*instance.granted - kStart).count();
    if (instance.unanswered) RC_LOG() << " unanswered";
    if (instance.unschedulable) RC_LOG() << " stuck " << (*instance.unschedulable - kStart).count();
    if (instance.placed > 0) RC_LOG() << " placed " << instance.placed;
  }
  RC_LOG() << "\n";
}

}  // namespace mindgate::testing
