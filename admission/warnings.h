#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/engine.h"

namespace mindgate::admission {

// "MG055 retry-restart-policy: <message>" for each finding of mode warn, cut at a word to
// kMaxWarning bytes with "...", repeats dropped; then where the whole of it can be read. Of more
// than kMaxWarnings lines the last says how many are left out.
std::vector<std::string> Warnings(std::span<const policies::Finding> findings);

// "kubectl mindgate explain MG050 MG053": each rule once, in their order, as many as fit into
// `limit` bytes, and the first in any case.
std::string ExplainCommand(const std::vector<const policies::Rule*>& rules, size_t limit);

}  // namespace mindgate::admission
