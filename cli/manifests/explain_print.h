#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/console/paint.h"
#include "offline/decide.h"

namespace mindgate::cli {

// For decisions made with Options::explain: prints every change, every withheld edit and every rule
// that did not pass, each with its reason. Other rules are counted or, with `all`, listed. Lines
// are wrapped at `width` columns. Inputs with a fault are left out.
void PrintExplanation(const std::vector<offline::Decision>& decisions, bool all, const Paint& paint,
                      size_t width, std::ostream& out);

nlohmann::ordered_json ExplanationJson(const std::vector<offline::Decision>& decisions,
                                       const offline::Skipped& skipped);

}  // namespace mindgate::cli
