#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/rule.h"

namespace mindgate::policies {

// All rules, by id.
const std::vector<const Rule*>& Catalogue();

// By id ("MG001", any case) or name; null pointer when there is none.
const Rule* FindRule(std::string_view id_or_name);

// The same among these and the policies of the site.
const Rule* FindRule(std::string_view id_or_name, const schemas::Config& config);

// One violation or error, as answers report it.
struct Finding {
  const Rule* rule = nullptr;
  bool error = false;  // the rule could not be evaluated
  schemas::Mode mode = schemas::Mode::kEnforce;
  std::string path;   // RFC 6901 pointer
  std::string field;  // the same as Kubernetes prints it
  std::string message;
  std::string fix;
  json::Position within = {};  // in the text at `path`, when that is a document of its own
  bool existed = false;        // the object had it before the update: it does not deny
  std::optional<RightValue> right = {};  // at `path`: what the fix says to write, for programs
  // Of Kubernetes' Status, where a policy of the site gives one: "Invalid". Lives as long as
  // `rule`.
  std::string_view reason = {};
  bool rest = false;  // stands for places that are not named
};

// How one rule fared with one object; for `explain`.
struct RuleTrace {
  enum class Result { kNotApplicable, kOff, kExcepted, kSkipped, kPassed, kViolated, kError };
  const Rule* rule = nullptr;
  Result result = Result::kPassed;
  schemas::Mode mode = schemas::Mode::kEnforce;
  std::string reason;  // why it does not apply, was skipped or is excepted
};

// A policy of the site that was not evaluated, or not all of it, since something is not known.
struct Skipped {
  const Rule* rule;
  std::string reason;
};

struct Evaluation {
  std::vector<Finding> findings;                  // by rule id, then in the order found
  std::vector<Skipped> skipped;                   // by rule id
  std::vector<Findings::Annotation> annotations;  // for the audit log of the API server
  bool denied = false;                            // a finding of mode enforce
  bool gave_up = false;                           // the request was over before every rule had run
};

// Runs every rule that applies, and the policies of the site after those of the catalogue. All
// violations at once. A rule that throws is an error finding of that rule. `traces`, when wanted,
// gets one entry per rule.
Evaluation Evaluate(const RuleContext& asked, std::vector<RuleTrace>* traces = nullptr);

// The same with these rules alone.
Evaluation Evaluate(const RuleContext& asked, std::span<const Rule* const> rules,
                    std::vector<RuleTrace>* traces);

// The mode in force for a rule in a namespace: namespace override, else global, else the rule's
// default, and never more than maxMode.
schemas::Mode ModeFor(const Rule& rule, const schemas::Config& config, std::string_view ns);

}  // namespace mindgate::policies
