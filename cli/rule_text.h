#pragma once

#include <string>
#include <string_view>

#include "policies/engine.h"
#include "schemas/config.h"

namespace mindgate::cli {

// Text broken at words to lines of at most `width`, each begun with `margin`; ends with a newline.
std::string Wrapped(std::string_view text, size_t width, std::string_view margin = "");

// The kinds that a rule looks at: "AscendJob, Job (batch.volcano.sh)", "all workloads except Pod".
std::string KindsOf(const policies::Rule& rule);

// The documentation of one rule for a terminal, with the mode that `config` gives it.
std::string RuleDocument(const policies::Rule& rule, const schemas::Config& config);

// The same as a page of docs/rules, and the list of all pages.
std::string RulePage(const policies::Rule& rule);
std::string RuleIndexPage();
std::string RulePageName(const policies::Rule& rule);  // "MG001.md"

}  // namespace mindgate::cli
