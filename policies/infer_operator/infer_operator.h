#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/rule.h"

// What the rules over infer-operator's kinds share (mind-cluster: component/infer-operator/pkg).
// The operator has no admission webhook: it validates when it reconciles, writes an error to its
// log (for an InstanceSet also an Event) and creates nothing. These rules report the same mistakes
// at once.
namespace mindgate::policies::infer_operator {

inline constexpr std::string_view kServiceNameLabel = "infer.huawei.com/inferservice-name";
inline constexpr std::string_view kSetNameLabel = "infer.huawei.com/instanceset-name";
inline constexpr std::string_view kGangLabel = "infer.huawei.com/gang-schedule";

// For messages: `role "prefill"`, `role 0`, `the InstanceSet`.
std::string Title(const schemas::PartView& role);

// InferServices that the object makes or belongs to: a set's replicas (absent 1), else 1. Never
// less than 1.
int64_t ServiceCount(const RuleContext& context);

inline constexpr int64_t kMaxServices = 64;

}  // namespace mindgate::policies::infer_operator
