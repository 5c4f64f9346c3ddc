#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "json/issues.h"
#include "json/value.h"
#include "offline/evaluate.h"
#include "offline/report.h"

// What admission would write, and corrections of findings that leave no choice, written into the
// texts of manifests.
namespace mindgate::offline {

// One field that was written.
struct FixedField {
  std::string object;  // "Deployment default/llm"
  std::string field;   // as Kubernetes prints it
  json::Position at;   // in the text before; of what is nearest to a field that was missing
  std::optional<json::Json> old;  // nothing: it was missing
  json::Json now;
  std::string by;         // the id of a rule, or the name of a mutator
  bool injected = false;  // by a mutator
  std::string why;        // one sentence
};

// One place that its user must change, or may.
struct LeftField {
  std::string object;
  std::string field;
  json::Position at;  // with its column in characters
  FindingLevel level = FindingLevel::kDenied;
  bool unwritten = false;  // what admission writes, which the text does not allow
  std::string by;          // "MG050 fault-scheduling-value", or the name of a mutator
  std::string message;
  std::string fix;

  // Whether there is something to do before the file is right as it stands.
  bool MustChange() const { return unwritten || level >= FindingLevel::kDenied; }
};

struct FixedFile {
  std::string name;
  std::string before;
  std::string after;
  std::vector<FixedField> fixed;
  std::vector<LeftField> left;

  bool IsChanged() const { return before != after; }
};

struct FixOptions {
  InputOptions input;
  bool strict = false;  // warnings must be corrected as well
  // The places of what is left are those in the texts before, as they are still in the files.
  bool places_before = false;
};

struct Fixes {
  std::vector<FixedFile> files;  // in the order of the input
  Evaluation after;              // of the texts after
};

// Nothing if the arguments are invalid; `err` says why. Nothing is written into a text with a
// document that is invalid. A change is made only when the text, decoded again, has the intended
// value and no other differs. Fixing the result changes nothing.
std::optional<Fixes> Fix(const FixOptions& options, std::istream& in, std::ostream& err);

}  // namespace mindgate::offline
