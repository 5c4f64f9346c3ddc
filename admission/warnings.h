#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/engine.h"

namespace mindgate::admission {

// "MG055 retry-restart-policy: <message>" for each finding of mode warn, cut at a word to
// kMaxWarning bytes with "...", repeats dropped. Of more than kMaxWarnings the last says how
// many are left out.
std::vector<std::string> Warnings(std::span<const policies::Finding> findings);

}  // namespace mindgate::admission
