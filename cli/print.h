#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/decide.h"
#include "cli/paint.h"

namespace mindgate::cli {

// The outputs of `apply`. What concerns a file that holds a bad document is left out of yaml, patch
// and diff.

// Objects after mutation, documents in input order, Lists kept as Lists. What is denied is left
// out unless `print_denied`: the output is meant for `kubectl apply -f -`.
void PrintYaml(const std::vector<Decision>& decisions, bool print_denied, std::ostream& out);

// The RFC 6902 patch of a single object, nothing when it is denied; of several, a list of {file,
// document, line, kind, namespace, name, patch} of those that are not.
void PrintPatch(const std::vector<Decision>& decisions, bool print_denied, std::ostream& out);

// "deployment.apps/chat" of each object, of denied ones only with `print_denied`.
std::vector<std::string> NamesOf(const std::vector<Decision>& decisions, bool print_denied);

// Unified differences of the objects that are changed.
void PrintDiff(const std::vector<Decision>& decisions, const Paint& paint, std::ostream& out);

// For people: every object, what it leads to, and every finding with its place, in lines of at most
// `width` columns as far as words allow.
void PrintTable(const std::vector<Decision>& decisions, const Paint& paint, size_t width,
                std::ostream& out);

// Inputs that cannot be used, with an excerpt of the text and a caret.
void PrintFaults(const std::vector<Decision>& decisions, std::ostream& err);

// Denials, errors and warnings, likewise. With `strict` warnings are denials.
void PrintFindings(const std::vector<Decision>& decisions, bool strict, const Paint& paint,
                   std::ostream& err);

}  // namespace mindgate::cli
