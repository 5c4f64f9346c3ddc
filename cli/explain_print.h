#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/decide.h"
#include "cli/paint.h"

namespace mindgate::cli {

// Of decisions made with Options::explain: every change, everything withheld and every rule, each
// with its reason. Inputs with a fault are only named.
void PrintExplanation(const std::vector<Decision>& decisions, const Paint& paint,
                      std::ostream& out);

nlohmann::ordered_json ExplanationJson(const std::vector<Decision>& decisions);

}  // namespace mindgate::cli
