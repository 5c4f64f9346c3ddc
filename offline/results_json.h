#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "offline/decide.h"

namespace mindgate::offline {

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
