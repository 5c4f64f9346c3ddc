#pragma once

#include <string>
#include <string_view>

#include "mutators/mutator.h"
#include "policies/engine.h"
#include "schemas/config.h"
#include "schemas/keys.h"

namespace mindgate::cli {

// The kinds that a rule checks: "AscendJob, Job (batch.volcano.sh)", "all workloads except Pod".
std::string KindsOf(const policies::Rule& rule);

// The documentation of one rule or mutator for a terminal, with its settings in `config`.
std::string RuleDocument(const policies::Rule& rule, const schemas::Config& config, size_t width);
std::string MutatorDocument(const mutators::Mutator& mutator, const schemas::Config& config,
                            size_t width);

// What is known of a label or annotation, for a terminal.
std::string KeyDocument(const schemas::KeyFact& fact, size_t width);
// Of all of them, as a page of docs/rules.
std::string KeyPage();

// The same as a page of docs/rules, and the index page.
std::string RulePage(const policies::Rule& rule);
std::string RuleIndexPage();
std::string RulePageName(const policies::Rule& rule);  // "MG001.md"

}  // namespace mindgate::cli
