#pragma once

#include "policies/rule.h"

// The checks behind ScalingRules, by the object they check. Only policies/scaling.cc puts them into
// rules.
namespace mindgate::policies::scaling {

// --- AscendJobs under a rule (scaling_jobs.cc) ---

void CheckLabels(const RuleContext& context, Findings& findings);
void CheckRuleExists(const RuleContext& context, Findings& findings);
void CheckGroup(const RuleContext& context, Findings& findings);
void CheckServerCount(const RuleContext& context, Findings& findings);
void CheckPlacement(const RuleContext& context, Findings& findings);

// --- ConfigMaps with a rule (scaling_configmap.cc) ---

void CheckReadable(const RuleContext& context, Findings& findings);
void CheckWorkable(const RuleContext& context, Findings& findings);
void CheckDocumented(const RuleContext& context, Findings& findings);
void CheckJobsOfRule(const RuleContext& context, Findings& findings);
void CheckRuleKey(const RuleContext& context, Findings& findings);
void CheckRunningController(const RuleContext& context, Findings& findings);

}  // namespace mindgate::policies::scaling
