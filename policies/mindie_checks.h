#pragma once

#include "policies/rule.h"

// The checks behind MindieRules, by the object they check. Only policies/mindie.cc puts them into
// rules.
namespace mindgate::policies::mindie {

// --- AscendJobs of a MindIE service (mindie_jobs.cc) ---

void CheckApp(const RuleContext& context, Findings& findings);
void CheckTemplateLabels(const RuleContext& context, Findings& findings);
void CheckIdentity(const RuleContext& context, Findings& findings);
void CheckRankTableExists(const RuleContext& context, Findings& findings);
// Of every workload.
void CheckRingController(const RuleContext& context, Findings& findings);

// --- rank-table ConfigMaps (rank_tables.cc) ---

void CheckBothDeployServers(const RuleContext& context, Findings& findings);
void CheckDeployServer(const RuleContext& context, Findings& findings);
void CheckRankTableLabels(const RuleContext& context, Findings& findings);
void CheckRankTableContent(const RuleContext& context, Findings& findings);

}  // namespace mindgate::policies::mindie
