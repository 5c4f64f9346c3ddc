#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/config.h"

namespace mindgate::exported {

// The rules that CEL can express, a row each. A row has what the rule finds in an object, as an
// expression over the variables of admission/export/scope.cc. Whoever changes a rule in policies/
// changes its row: the tables of cases of the rule are evaluated by both (tests/support/rules.h).

// What the expression gives. A place is a text that names what is at fault and where, so that an
// update which leaves it alone is known by it.
enum class Shape {
  kPlaces,  // a list of places; empty where the rule is kept
  kNested,  // a list of such lists, since CEL cannot join them
  kBroken,  // a bool, for rules about one place
};

struct ExportedRule {
  std::string_view id;
  Shape shape = Shape::kPlaces;
  std::string found;
  // Kinds of the rule for which it never finds anything without another object.
  schemas::KindSet without = {};
};

// All rows by id. What the configuration says (scheduler, resource names of the site) is in their
// texts.
std::vector<ExportedRule> ExportedRules(const schemas::Config& config);

// Why the rule has no row, as a clause; empty when it has one. A new rule has none yet.
std::string_view WhyNotExported(std::string_view id);

// The families of other files; those of exported_rules.cc are there alone.
using Rows = std::vector<ExportedRule>;
Rows AscendJobRows(const schemas::Config& config);  // rules_jobs.cc
Rows VolcanoRows(const schemas::Config& config);
Rows MindieRows();  // rules_inference.cc
Rows OmeRows();
Rows AibrixRows();
Rows InferOperatorRows();

}  // namespace mindgate::exported
