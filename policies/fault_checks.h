#pragma once

#include "policies/rule.h"

// The checks of the fault-label family; policies/fault_labels.cc holds their documentation.
namespace mindgate::policies {

// fault_values.cc: values that are compared literally.
void CheckFaultSchedulingValue(const RuleContext& context, Findings& findings);
void CheckPodReschedulingValue(const RuleContext& context, Findings& findings);
void CheckSubHealthyStrategyValue(const RuleContext& context, Findings& findings);
void CheckFaultRetryTimesValue(const RuleContext& context, Findings& findings);
void CheckProcessRecoverValue(const RuleContext& context, Findings& findings);
void CheckRecoverPolicyValue(const RuleContext& context, Findings& findings);
void CheckWaitRescheduleTimeout(const RuleContext& context, Findings& findings);
void CheckFaultFilters(const RuleContext& context, Findings& findings);
void CheckRecoverStrategy(const RuleContext& context, Findings& findings);
void CheckTorAffinityValue(const RuleContext& context, Findings& findings);

// recovery.cc: settings that need each other.
void CheckRetryRestartPolicy(const RuleContext& context, Findings& findings);
void CheckNeedsFaultScheduling(const RuleContext& context, Findings& findings);
void CheckConflictingLabels(const RuleContext& context, Findings& findings);
void CheckPodReschedulingPlacement(const RuleContext& context, Findings& findings);
void CheckRecoverPolicyAlone(const RuleContext& context, Findings& findings);
void CheckExternalScheduling(const RuleContext& context, Findings& findings);
void CheckRedundantPodRescheduling(const RuleContext& context, Findings& findings);

// fault_placement.cc: settings in places where nothing reads them.
void CheckSchedulerOwned(const RuleContext& context, Findings& findings);
void CheckMisspelledKeys(const RuleContext& context, Findings& findings);
void CheckUnreachable(const RuleContext& context, Findings& findings);

}  // namespace mindgate::policies
