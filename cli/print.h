#pragma once

#include <iosfwd>
#include <vector>

#include "cli/decide.h"
#include "cli/paint.h"

namespace mindgate::cli {

// The outputs of `apply`. What concerns a file that holds a bad document is left out of yaml, patch
// and diff.

// Objects after mutation, documents in input order, Lists kept as Lists.
void PrintYaml(const std::vector<Decision>& decisions, std::ostream& out);

// The RFC 6902 patch of a single object; of several, a list of {file, document, line, kind,
// namespace, name, patch}.
void PrintPatch(const std::vector<Decision>& decisions, std::ostream& out);

// Unified differences of the objects that are changed.
void PrintDiff(const std::vector<Decision>& decisions, const Paint& paint, std::ostream& out);

// For people: every object, what it leads to, and every finding with its place.
void PrintTable(const std::vector<Decision>& decisions, const Paint& paint, std::ostream& out);

// Inputs that cannot be used, with an excerpt of the text and a caret.
void PrintFaults(const std::vector<Decision>& decisions, std::ostream& err);

// Denials, errors and warnings, likewise. With `strict` warnings are denials.
void PrintFindings(const std::vector<Decision>& decisions, bool strict, const Paint& paint,
                   std::ostream& err);

}  // namespace mindgate::cli
