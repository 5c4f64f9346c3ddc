#pragma once

#include <string>
#include <string_view>

#include "mutators/mutator.h"
#include "policies/engine.h"
#include "schemas/config.h"

namespace mindgate::cli {

// The kinds that a rule checks: "AscendJob, Job (batch.volcano.sh)", "all workloads except Pod".
std::string KindsOf(const policies::Rule& rule);

// The documentation of one rule or mutator for a terminal, with its settings in `config`.
std::string RuleDocument(const policies::Rule& rule, const schemas::Config& config, size_t width);
std::string MutatorDocument(const mutators::Mutator& mutator, const schemas::Config& config,
                            size_t width);

// The same as a page of docs/rules, and the index page.
std::string RulePage(const policies::Rule& rule);
std::string RuleIndexPage();
std::string RulePageName(const policies::Rule& rule);  // "MG001.md"

}  // namespace mindgate::cli
