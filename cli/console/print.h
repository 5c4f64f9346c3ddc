#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console/terminal.h"
#include "offline/decide.h"

namespace mindgate::cli {

// The outputs of `apply`. Files with an invalid document are left out of yaml, patch and diff.

// Objects after mutation, in input order; Lists stay Lists. Denied objects are left out unless
// `print_denied`: the output is meant for `kubectl apply -f -`.
void PrintYaml(const std::vector<offline::Decision>& decisions, bool print_denied,
               std::ostream& out);

// For one object, its RFC 6902 patch, or nothing if it is denied. For several, a list of {file,
// document, line, kind, namespace, name, patch} of those that are not denied.
void PrintPatch(const std::vector<offline::Decision>& decisions, bool print_denied,
                std::ostream& out);

// "deployment.apps/chat" for each object; for denied ones only with `print_denied`.
std::vector<std::string> NamesOf(const std::vector<offline::Decision>& decisions,
                                 bool print_denied);

// Unified diffs of changed objects.
void PrintDiff(const std::vector<offline::Decision>& decisions, const Paint& paint,
               std::ostream& out);

// Human-readable: every object with its outcome, and every finding with its position, wrapped at
// `width` columns. With `only_findings`, objects without findings are counted only.
void PrintTable(const std::vector<offline::Decision>& decisions, bool only_findings,
                const Paint& paint, size_t width, std::ostream& out);

// kExitUnusable if an input has a fault, else kExitDenied if something was denied or failed.
int ExitCode(const std::vector<offline::Decision>& decisions);

// Invalid inputs, with an excerpt of the text and a caret.
void PrintFaults(const std::vector<offline::Decision>& decisions, std::ostream& err);

// Denials, errors and warnings in the same way. With `strict`, warnings are denials.
void PrintFindings(const std::vector<offline::Decision>& decisions, bool strict, const Paint& paint,
                   std::ostream& err);

// The unified difference of two texts, three lines of context, without the two header lines; empty
// when they are equal. If the texts differ too much, all lines are shown as removed and added.
std::string UnifiedDiff(std::string_view before, std::string_view after, const Paint& paint);

}  // namespace mindgate::cli
