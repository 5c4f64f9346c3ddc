#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "watcher/scaling/reconciler.h"

namespace mindgate::watcher::scaling {

// How a verdict is told: as a word in the decision log, and as the reason and action of an Event.
struct Wording {
  const char* what;
  const char* reason;
  const char* action;
  kube::EventRecord::Type type = kube::EventRecord::Type::kNormal;
};

inline constexpr Wording kGranted{"granted", "InstanceGranted", "Grant"};
inline constexpr Wording kHeld{"held", "InstanceHeld", "Hold"};
inline constexpr Wording kQueued{"not enqueued", "InstanceNotEnqueued", "Wait"};
inline constexpr Wording kWithdrawn{"withdrawn", "InstanceWithdrawn", "Withdraw"};
inline constexpr Wording kGivenUp{"given up", "InstanceGivenUp", "GiveUp",
                                  kube::EventRecord::Type::kWarning};
inline constexpr Wording kUnusable{"held", "ScalingRuleUnusable", "Hold",
                                   kube::EventRecord::Type::kWarning};
inline constexpr Wording kWouldGrant{"would be granted", "InstanceWouldBeGranted", "Observe"};
inline constexpr Wording kWouldHold{"would be held", "InstanceWouldBeHeld", "Observe"};
inline constexpr Wording kWouldWithdraw{"would be withdrawn", "InstanceWouldBeWithdrawn",
                                        "Observe"};
inline constexpr Wording kWouldGiveUp{"would be given up", "InstanceWouldBeGivenUp", "Observe"};

// What one reconciliation of a service knows. Only the Reconciler's own files include this.
struct Reconciler::Run {
  const ServiceKey& key;
  const Inputs& inputs;
  ServiceState& state;
  LeaderClient client;
  const schemas::ElasticScaling settings;
  const Time now;
  std::vector<ObservedInstance> observed{};
  Decision decision{};
  ReconcileResult failure{};  // of calls about its pods

  bool enforced() const { return settings.mode == schemas::EnforcementMode::kEnforce; }
  const ObservedInstance* Find(const std::string& name) const {
    const auto found =
        std::lower_bound(observed.begin(), observed.end(), name,
                         [](const ObservedInstance& instance, const std::string& wanted) {
                           return instance.instance.name < wanted;
                         });
    return found != observed.end() && found->instance.name == name ? &*found : nullptr;
  }
};

}  // namespace mindgate::watcher::scaling
