#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/mutators/edits.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/value.h"
#include "policies/engine.h"
#include "schemas/children.h"
#include "schemas/config.h"
#include "schemas/request.h"

namespace mindgate::admission {

// Whether what is wrong with an updated object was wrong before.

// Follows the message of a finding that the object had before.
inline constexpr std::string_view kExisted = " (it was so before this change)";

// A place that stays the same when the elements of a list move: elements that have a name are
// called by it.
std::string StablePlace(const json::Value& object, std::string_view path);

// What was found in an object.
struct Evaluated {
  const json::Value& object;
  std::span<const policies::Finding> findings;
};

// One call path for `apply`, `test`, `explain`, the webhook and the audit: mutate, then evaluate
// the mutated object.

enum class Outcome { kAdmitted, kDenied, kError, kIgnored };

std::string_view OutcomeName(Outcome outcome);  // "admitted", "denied", "error", "ignored"

struct Verdict {
  Outcome outcome = Outcome::kAdmitted;
  std::string ignored_because;  // for kIgnored
  bool gave_up = false;         // for kError: AdmissionRequest::is_over said so
  json::Patch patch;
  std::vector<mutators::Change> changes;
  std::vector<policies::Finding> findings;
  std::vector<policies::Skipped> skipped;                   // policies of a site's own
  std::vector<policies::Findings::Annotation> annotations;  // for the API server's audit log
  std::vector<std::string> warnings;  // as a kubectl user reads them: at most kMaxWarnings, each
                                      // at most kMaxWarning bytes
  // What `findings`, `skipped` and `traces` point into, of policies of a site's own.
  std::shared_ptr<const policies::SitePolicies> policies;
  // After mutation; null when no patch was made. It shares what is unchanged with the request's
  // object and lives no longer.
  std::shared_ptr<const json::Document> mutated;
  // With Options::explain only.
  std::vector<mutators::Withheld> withheld;
  std::vector<policies::RuleTrace> traces;
  std::vector<schemas::ChildRow> children;  // what the controllers will make of it
};

// The API server cuts every warning to 256 runes once all of them together pass 4,096, and advises
// 120 characters each (apiserver: pkg/admission/plugin/webhook).
inline constexpr size_t kMaxWarnings = 5;
inline constexpr size_t kMaxWarning = 120;

struct Options {
  bool mutate = true;
  bool evaluate = true;
  bool apply = true;     // `evaluate` being false: fill Verdict::mutated all the same
  bool strict = false;   // a finding of mode warn denies as well
  bool explain = false;  // fill withheld, traces and children
};

// Decides one request. Never throws and has no side effects; safe from many threads. kError when a
// bug of ours was caught: then `findings` says which, and nothing is patched.
Verdict Admit(const schemas::AdmissionRequest& request, const schemas::Config& config,
              const Options& options = {});

// "MG055 retry-restart-policy: <message>" for each finding of mode warn, cut at a word to
// kMaxWarning bytes with "...", repeats dropped; then where the whole of it can be read, if
// ExplainCommand has that. Of more than kMaxWarnings lines the last says how many are left out.
std::vector<std::string> Warnings(std::span<const policies::Finding> findings);

// "kubectl mindgate explain MG050 MG053": each rule once, in their order, as many as fit into
// `limit` bytes, and the first in any case. Of policies of a site's own the command knows nothing
// without their files, which its reader may not have: they are left out. Empty when none is left.
std::string ExplainCommand(const std::vector<const policies::Rule*>& rules, size_t limit);

}  // namespace mindgate::admission
