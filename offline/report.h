#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "offline/decide.h"
#include "policies/engine.h"

namespace mindgate::offline {

// Columns of a text in characters, which is what editors and CI servers show; json::Position counts
// bytes. The text must outlive it. It is read once, and a look-up costs no more than a part of a
// line.
class Columns {
 public:
  explicit Columns(std::string_view text);

  // The same place with its column in characters (code points). A place that is not in the text, or
  // not known, stays as it is.
  json::Position InCharacters(json::Position at) const;

 private:
  // Characters that begin before `offset`.
  size_t CharactersBefore(size_t offset) const;

  std::string_view text_;
  std::vector<size_t> lines_;   // where each line begins
  std::vector<size_t> before_;  // characters before each block; empty when all is ASCII
};

// What decisions found, for outputs that list findings. All of them are made from this list.

// What a finding means for its object, the mildest first.
enum class FindingLevel : uint8_t { kAudit, kNote, kWarning, kDenied, kError };

// "audit", "note", "warning", "denied", "error".
std::string_view FindingLevelName(FindingLevel level);

// With `strict`, warnings deny; what an object had before an update never does.
FindingLevel FindingLevelOf(const policies::Finding& finding, bool strict);

// Stand for a rule where a finding has none.
inline constexpr std::string_view kInvalidInput = "invalid-input";  // a document without a decision
inline constexpr std::string_view kUnhandledKind = "unhandled-kind";  // Decision::Note
inline constexpr std::string_view kInternalError = "internal-error";  // a bug of ours

struct ReportedFinding {
  const policies::Rule* rule = nullptr;  // null: `id` is one of those above
  std::string id;
  FindingLevel level = FindingLevel::kError;
  std::string field;  // as Kubernetes prints it, may be empty
  std::string message;
  std::string fix;    // may be empty
  json::Position at;  // in the file, with its column in characters; 0 if unknown
  // Of the file, the object, the rule and the field, with a number where several findings have all
  // of them in common: the same in the next run, also when lines were inserted above. No two
  // findings of a report share it.
  std::string fingerprint;
};

// An object, or a document or file that could not be read as one.
struct ReportedObject {
  std::string file;   // as the user named it
  std::string title;  // "Deployment default/llm"; "document 2" for what is no object
  std::string name;   // of the object alone; empty for what is no object
  int line = 0;
  admission::Outcome outcome = admission::Outcome::kAdmitted;
  std::string ignored_because;
  size_t changes = 0;
  std::vector<ReportedFinding> findings;

  // Whether it has a finding of this level.
  bool Has(FindingLevel level) const;
};

struct OutcomeCounts {
  size_t admitted = 0;
  size_t denied = 0;
  size_t errors = 0;
  size_t ignored = 0;

  void Add(admission::Outcome outcome);
};

OutcomeCounts CountsOf(const std::vector<Decision>& decisions);
std::string CountsText(const OutcomeCounts& counts);  // "2 admitted, 1 denied, 0 errors, 0 ignored"

struct Report {
  std::vector<ReportedObject> objects;  // in the order of the input
  OutcomeCounts counts;                 // of all objects, also of those that are left out
  Skipped skipped;
};

struct ReportOptions {
  bool strict = false;
  bool only_findings = false;  // leave objects without findings out
};

// Reports decisions that come one after the other. One thread at a time.
class Reporter {
 public:
  // With `strict`, warnings deny.
  explicit Reporter(bool strict);
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  ReportedObject Of(const Decision& decision);
  // Of an object that is in no file; `place` stands for one.
  ReportedObject Of(const Decision& decision, std::string place);
  // Adds a finding that no decision made, and gives it its fingerprint.
  void Add(ReportedFinding finding, const std::string& api_version, ReportedObject& object);

 private:
  struct State;

  const bool strict_;
  std::unique_ptr<State> state_;
};

// Whether a report has something about it: a finding, a fault of its input, or a note.
bool HasFindings(const Decision& decision);

Report ReportOf(const std::vector<Decision>& decisions, const Skipped& skipped,
                const ReportOptions& options = {});

// "MG050 fault-scheduling-value", or the id alone.
std::string RuleTitle(const ReportedFinding& finding);

// "spec.replicas: must be 1", the field left out where there is none.
std::string FieldMessage(const ReportedFinding& finding);

// The file as programs name it that know a repository: without "./" and "dir/..".
std::string PlainPath(const std::string& file);

// Serializes all JSON output. Bytes that are not UTF-8 (in file names) are replaced.
std::string Dump(const nlohmann::ordered_json& value, int indent = 2);

// file, document, line, apiVersion, kind, namespace, name, operation, outcome.
nlohmann::ordered_json HeaderJson(const Decision& decision);

// The findings of a decision; the fault of an invalid input is one too.
nlohmann::ordered_json FindingsJson(const Decision& decision);

nlohmann::ordered_json ChangesJson(const Decision& decision);

// The one object that `apply -o json` prints. With `only_findings`, objects without findings are
// left out of its results, but not out of its summary.
nlohmann::ordered_json ResultsJson(const std::vector<Decision>& decisions, const Skipped& skipped,
                                   bool only_findings = false);

// {"admitted": 0, "denied": 0, "errors": 0, "ignored": 0, "skipped": 0}
nlohmann::ordered_json SummaryJson(const std::vector<Decision>& decisions, const Skipped& skipped);

}  // namespace mindgate::offline
