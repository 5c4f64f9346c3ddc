#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/decide.h"
#include "cli/paint.h"

namespace mindgate::cli {

// Of decisions made with Options::explain: every change, everything withheld and the rules that did
// not pass, each with its reason; the others are counted, or with `all` named too. Lines have at
// most `width` columns as far as words allow. Inputs with a fault are only named.
void PrintExplanation(const std::vector<Decision>& decisions, bool all, const Paint& paint,
                      size_t width, std::ostream& out);

nlohmann::ordered_json ExplanationJson(const std::vector<Decision>& decisions,
                                       const Skipped& skipped);

}  // namespace mindgate::cli
