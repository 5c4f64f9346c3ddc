#pragma once

#include <string>
#include <string_view>

#include "admission/mutators/mutator.h"
#include "policies/engine.h"
#include "schemas/config.h"
#include "schemas/names.h"

namespace mindgate::cli {

// The kinds that a rule checks: "AscendJob, Job (batch.volcano.sh)", "all workloads except Pod".
std::string KindsOf(const policies::Rule& rule);

// The documentation of one rule or mutator for a terminal, with its settings in `config`.
std::string RuleDocument(const policies::Rule& rule, const schemas::Config& config, size_t width);
std::string MutatorDocument(const mutators::Mutator& mutator, const schemas::Config& config,
                            size_t width);

// What is known of a label or annotation, for a terminal.
std::string KeyDocument(const schemas::KeyFact& fact, size_t width);
// Of all of them: docs/keys.md.
std::string KeyPage();

// All mutators: docs/mutators.md.
std::string MutatorPage();

// All rules: docs/rules.md, an index and a section for each.
std::string RulePage();
// The section of a rule on that page, as GitHub names it: "#mg001-wrong-type".
std::string RuleAnchor(const policies::Rule& rule);

}  // namespace mindgate::cli
