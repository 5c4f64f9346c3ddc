#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/issues.h"
#include "schemas/config.h"
#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::policies {

using schemas::KindSet;
using schemas::Mode;

// How bad it is when the rule is broken, whatever the mode in force.
enum class Severity {
  kError,    // it cannot work, or a feature the user asked for is silently off
  kWarning,  // it works in some versions only, or not as its author expects
  kInfo,     // harmless, but misleading
};

std::string_view SeverityName(Severity severity);  // "error", "warning", "info"

// The one value that is right at a place, for programs that write it.
struct RightValue {
  std::string text;
  bool is_number = false;  // an integer, else a text
  bool operator==(const RightValue&) const = default;
};

// What to write instead of what is there: for people, and where one value alone is right and no
// choice of the user's is left, for programs.
struct Fix {
  Fix(std::string sentence) : words(std::move(sentence)) {}  // NOLINT(google-explicit-constructor)
  Fix(const char* sentence) : words(sentence) {}             // NOLINT(google-explicit-constructor)
  Fix(std::string sentence, RightValue right)
      : words(std::move(sentence)), value(std::move(right)) {}

  std::string words;
  std::optional<RightValue> value;  // at the place of the violation
};

// "write KEY: "TEXT"", for people and for programs. Without `certain`, for people alone.
Fix WriteText(std::string_view key, std::string_view text, bool certain = true);
// The same without quotes, for values that no one takes for anything but text.
Fix WriteWord(std::string_view key, std::string_view text, bool certain = true);

// What one rule found in one object. Messages are one sentence without final full stop.
class Findings {
 public:
  struct Violation {
    std::string path;     // RFC 6901 pointer of the field at fault; where a missing field belongs
    std::string message;  // what is wrong and what happens because of it, the essential part first
    Fix fix;              // what to write instead
    // Where in the text at `path` the fault is, when that text is a document of its own.
    json::Position within = {};
    Mode at_most = Mode::kEnforce;
    std::string_view reason = {};  // as `reason` of a policy's validation; empty: it has none
    bool rest = false;             // stands for places that are not named
  };
  // The rule could not be evaluated though it applies.
  struct Failure {
    std::string message;
    Mode at_most = Mode::kEnforce;
  };
  // For the audit log of the API server.
  struct Annotation {
    std::string key;
    std::string value;
    bool operator==(const Annotation&) const = default;
  };

  // More than anybody corrects at once; keeps the cost of an object with 100,000 bad labels
  // bounded.
  static constexpr size_t kMax = 64;

  // A second violation of the same place with the same message is dropped, and so is what comes
  // after kMax. `reason` lives as long as the rule.
  void Violate(std::string path, std::string message, Fix fix, json::Position within = {},
               std::string_view reason = {});
  // More places break the rule than were named: any place may be one of them.
  void ViolateElsewhere(std::string message, Fix fix);
  // The rule could not be evaluated though it applies; never a pass.
  void Error(std::string message) { errors_.push_back({std::move(message), at_most_}); }
  // What is found from now on leads to no more than this.
  void SetAtMost(Mode mode) { at_most_ = mode; }
  // The rule is not about this object, for a reason that its kinds do not show.
  void DoesNotApply(std::string reason) { not_applicable_ = std::move(reason); }
  void Annotate(std::string key, std::string value) {
    annotations_.push_back({std::move(key), std::move(value)});
  }
  // The rule needs another object that is not known here; shown by `explain`.
  void Skip(std::string reason) { skipped_.push_back(std::move(reason)); }

  const std::vector<Violation>& violations() const { return violations_; }
  size_t dropped() const { return dropped_; }
  // The most that any of those leads to.
  Mode dropped_at_most() const { return dropped_at_most_; }
  const std::vector<Failure>& errors() const { return errors_; }
  const std::vector<std::string>& skipped() const { return skipped_; }
  const std::optional<std::string>& not_applicable() const { return not_applicable_; }
  const std::vector<Annotation>& annotations() const { return annotations_; }

 private:
  std::vector<Violation> violations_;
  size_t dropped_ = 0;
  Mode dropped_at_most_ = Mode::kOff;
  std::vector<Failure> errors_;
  std::vector<std::string> skipped_;
  std::optional<std::string> not_applicable_;
  std::vector<Annotation> annotations_;
  Mode at_most_ = Mode::kEnforce;
};

class ChipTable;
class SiteFacts;

struct RuleContext {
  const schemas::WorkloadView& view;
  const schemas::WorkloadView* old_view;  // on UPDATE, when the old object is known
  const schemas::AdmissionRequest& request;
  const schemas::Config& config;
  const ChipTable* chips = nullptr;  // of the view's PodGroups; Evaluate sets it
  SiteFacts* site = nullptr;         // for policies of a site's own; Evaluate sets it

  // Of the object, else of the request.
  std::string_view ns() const { return view.ns.empty() ? std::string_view(request.ns) : view.ns; }
};

// What a rule checks that is made at run time.
class Check {
 public:
  virtual ~Check() = default;
  // Safe from many threads.
  virtual void Run(const RuleContext& context, Findings& findings) const = 0;
};

// One check: its documentation and its function. The documentation is what `mindgate explain` and
// docs/rules.md show.
struct Rule {
  std::string_view id;    // "MG001", never reused; "policy/NAME" of a site's own
  std::string_view name;  // kebab-case, says what is checked
  Severity severity;
  Mode default_mode;
  KindSet kinds;
  std::string_view summary;  // what must hold, one sentence
  std::string_view why;      // what happens when it does not, at fault time or before
  std::string_view fix;      // what to write
  // Where the fact comes from: upstream component and file, or Kubernetes documentation. Where
  // upstream's code and documents disagree, says so and why the default mode is what it is.
  std::string_view source;
  void (*check)(const RuleContext& context, Findings& findings);
  bool of_any_size = false;  // also evaluates an object that has more parts than are handled
  bool of_object = false;    // evaluates what stands in the object itself, not what its pods become
  const Check* site = nullptr;  // of a policy of a site's own: takes the place of `check`
};

// "MG001 wrong-type", or "policy/NAME".
std::string TitleOf(const Rule& rule);

}  // namespace mindgate::policies
