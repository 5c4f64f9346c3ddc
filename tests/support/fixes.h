#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/promises.h"

// Fixes that a program can read, applied: what a rule advises must end its finding and must not
// bring another denial.
namespace mindgate::testing {

struct FixedObject {
  json::Json object;
  std::vector<std::string> paths;  // of the findings whose fix is in it
  std::string written;             // for messages
};

// One object for each alternative that the fixes offer. An alternative is written for every finding
// of the rule at once, as its user would.
inline std::vector<FixedObject> FixedObjects(const std::vector<policies::Finding>& of_rule,
                                             const json::Json& broken) {
  std::vector<std::vector<Suggestion>> suggestions;
  size_t alternatives = 0;
  for (const policies::Finding& finding : of_rule) {
    suggestions.push_back(SuggestionsOf(finding));
    alternatives = std::max(alternatives, suggestions.back().size());
  }
  std::vector<FixedObject> fixed;
  for (size_t i = 0; i < alternatives; ++i) {
    FixedObject one{broken, {}, ""};
    for (size_t f = 0; f < of_rule.size(); ++f) {
      if (suggestions[f].empty()) continue;
      const Suggestion& suggestion = suggestions[f][std::min(i, suggestions[f].size() - 1)];
      if (!internal::Write(suggestion, one.object)) continue;
      one.paths.push_back(of_rule[f].path);
      one.written += suggestion.path + ": " + suggestion.value.dump() + "; ";
    }
    if (!one.paths.empty()) fixed.push_back(std::move(one));
  }
  return fixed;
}

// Whether what a finding has for programs is what its fix says to people.
inline bool AgreesWithItself(const policies::Finding& finding) {
  if (!finding.right) return true;
  const std::string_view fix = finding.fix;
  const std::string& text = finding.right->text;
  return fix.starts_with("write ") && fix.find(" or ") == std::string_view::npos &&
         (fix.ends_with(": " + Quote(text)) ||
          (fix.ends_with(": " + text) && (finding.right->is_number || !ParseGoInt(text))));
}

// The object with all that the findings have for programs; no paths when that is nothing.
inline FixedObject CorrectedObject(const std::vector<policies::Finding>& of_rule,
                                   const json::Json& broken) {
  FixedObject fixed{broken, {}, ""};
  for (const policies::Finding& finding : of_rule) {
    if (!finding.right) continue;
    const json::Json value = finding.right->is_number ? json::Json::parse(finding.right->text)
                                                      : json::Json(finding.right->text);
    if (!internal::Write({finding.path, value}, fixed.object)) continue;
    fixed.paths.push_back(finding.path);
    fixed.written += finding.path + ": " + value.dump() + " by a program; ";
  }
  return fixed;
}

inline std::vector<policies::Finding> FindingsOf(const policies::Rule* rule,
                                                 const std::vector<policies::Finding>& findings) {
  std::vector<policies::Finding> of_rule;
  for (const policies::Finding& finding : findings) {
    if (finding.rule == rule) of_rule.push_back(finding);
  }
  return of_rule;
}

// What is wrong with the fixes of one rule for one object: its own finding comes again, or another
// rule denies what it did not deny before. Nothing is injected.
inline std::vector<std::string> BadFixes(const policies::Rule* rule,
                                         const schemas::AdmissionRequest& request,
                                         const schemas::Config& config) {
  std::vector<std::string> bad;
  const auto before = internal::EvaluateOnly(request, *request.object, config);
  const auto of_rule = FindingsOf(rule, before);
  const json::Json broken = json::TreeOf(*request.object);
  std::vector<FixedObject> alternatives = FixedObjects(of_rule, broken);
  alternatives.push_back(CorrectedObject(of_rule, broken));
  if (alternatives.back().paths.empty()) alternatives.pop_back();
  for (const policies::Finding& finding : of_rule) {
    if (!AgreesWithItself(finding)) {
      bad.push_back("\"" + finding.fix + "\" is not " + finding.right->text + " for programs");
    }
  }
  for (const FixedObject& fixed : alternatives) {
    const json::Document document(fixed.object);
    for (const policies::Finding& now : internal::EvaluateOnly(request, document.root(), config)) {
      const bool all = fixed.paths.size() == of_rule.size();
      const bool again =
          now.rule == rule &&
          (all || std::find(fixed.paths.begin(), fixed.paths.end(), now.path) != fixed.paths.end());
      const bool denies =
          now.mode == schemas::Mode::kEnforce && !internal::Has(before, internal::IdOf(now));
      if (!again && !denies) continue;
      bad.push_back("with " + fixed.written + std::string(internal::IdOf(now)) + " at " + now.path +
                    ": " + now.message);
    }
  }
  return bad;
}

}  // namespace mindgate::testing
