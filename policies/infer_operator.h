#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/rule.h"

// What the rules over infer-operator's kinds share (mind-cluster: component/infer-operator/pkg).
namespace mindgate::policies::infer {

inline constexpr std::string_view kServiceNameLabel = "infer.huawei.com/inferservice-name";
inline constexpr std::string_view kSetNameLabel = "infer.huawei.com/instanceset-name";
inline constexpr std::string_view kGangLabel = "infer.huawei.com/gang-schedule";

// One role of an InferServiceSet or InferService, or an InstanceSet, which is a role by itself.
// Most rules find nothing to say of it, so its texts are made when they are asked for.
struct Role {
  std::string_view holder;             // "/spec/roles"; of an InstanceSet "/spec"
  std::optional<size_t> index;         // nothing for an InstanceSet
  const json::Value* value = nullptr;  // an object

  std::string Path(std::string_view below = {}) const;
  std::string Title() const;  // for messages: `role "prefill"`, "role 0", "the InstanceSet"
};

std::vector<Role> Roles(const RuleContext& context);

// InferServices that the object makes or belongs to: a set's replicas (absent 1), else 1. Never
// less than 1.
int64_t ServiceCount(const RuleContext& context);

// Checks of the service as a whole.
void CheckSetReplicas(const RuleContext& context, Findings& findings);
void CheckRoleCount(const RuleContext& context, Findings& findings);
void CheckRoleNames(const RuleContext& context, Findings& findings);
void CheckStrategy(const RuleContext& context, Findings& findings);
void CheckStrategySequential(const RuleContext& context, Findings& findings);
void CheckPriority(const RuleContext& context, Findings& findings);
void CheckInstanceSetLabels(const RuleContext& context, Findings& findings);
void CheckDerivedNames(const RuleContext& context, Findings& findings);

// Checks of each role's workload.
void CheckWorkloadKind(const RuleContext& context, Findings& findings);
void CheckWorkloadSpec(const RuleContext& context, Findings& findings);
void CheckRoleReplicas(const RuleContext& context, Findings& findings);
void CheckRoleReplicasLimit(const RuleContext& context, Findings& findings);
void CheckWorkloadReplicas(const RuleContext& context, Findings& findings);
void CheckGangOrder(const RuleContext& context, Findings& findings);
void CheckScalingPolicy(const RuleContext& context, Findings& findings);
void CheckFaultScheduling(const RuleContext& context, Findings& findings);

// Checks of the roles' NodePort services.
void CheckNodePorts(const RuleContext& context, Findings& findings);
void CheckNodePortClash(const RuleContext& context, Findings& findings);
void CheckNodePortRange(const RuleContext& context, Findings& findings);
void CheckNodePortName(const RuleContext& context, Findings& findings);

}  // namespace mindgate::policies::infer
