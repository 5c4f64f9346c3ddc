// Any bytes as a scaling rule, up to the first byte 0, and instances of two bytes each after it: no
// crash, every fault with a message, the same decision in whatever order the instances come, an
// outcome for each, and a second look after the grants grants nothing more.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "watcher/scaling/decision.h"

namespace {

using namespace mindgate;
using namespace mindgate::watcher::scaling;
using testing::Require;

constexpr size_t kMaxInstances = 40;

Instance InstanceOf(size_t number, uint8_t first, uint8_t second,
                    const schemas::ScalingRule& rule) {
  Instance instance;
  instance.name = "Pod/p" + std::to_string(number);
  instance.phase = static_cast<Phase>(first % 4);
  instance.since = Time(std::chrono::seconds(first / 4));
  if ((second & 1) != 0 &&
      (instance.phase == Phase::kStarting || instance.phase == Phase::kQueued)) {
    instance.unschedulable = Time{};
  }
  instance.ready = (second >> 1) & 3;
  instance.placed = instance.ready;
  // Of the first tier, of none, or unknown.
  const size_t group = second >> 3;
  if (!rule.tiers.empty() && group < rule.tiers[0].groups.size()) {
    instance.group = rule.tiers[0].groups[group].group_name;
  } else if (group % 2 == 0) {
    instance.group = "unknown";
  }
  return instance;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  auto reading = schemas::ReadScalingRule(bytes.substr(0, end));
  Require(reading.rule.has_value() == reading.refused.empty());
  for (const auto* issues : {&reading.refused, &reading.unworkable, &reading.doubtful}) {
    for (const auto& issue : issues->items()) {
      Require(!issue.message.empty() && issue.at.line >= 0);
    }
  }
  Service service{reading.rule, reading.rule ? "" : "it is refused", {}};
  const schemas::ScalingRule rule = reading.rule.value_or(schemas::ScalingRule{});
  for (size_t at = end + 1; at + 1 < size && service.instances.size() < kMaxInstances; at += 2) {
    service.instances.push_back(InstanceOf(service.instances.size(), data[at], data[at + 1], rule));
  }
  Options options;
  options.rebalance = schemas::EnforcementMode::kEnforce;
  const Time now(std::chrono::hours(1));
  const Decision decision = Decide(service, options, now);
  std::ranges::reverse(service.instances);
  Require(Decide(service, options, now) == decision);
  Require(decision.outcomes.size() == service.instances.size());

  for (Instance& instance : service.instances) {
    const auto outcome = std::ranges::find(decision.outcomes, instance.name, &Outcome::instance);
    if (outcome == decision.outcomes.end()) continue;
    Require(!outcome->reason.empty());
    if (outcome->verdict == Verdict::kGrant) instance.phase = Phase::kStarting;
  }
  for (const Outcome& outcome : Decide(service, options, now).outcomes) {
    Require(outcome.verdict != Verdict::kGrant);
  }
  return 0;
}
