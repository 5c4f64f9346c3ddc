#pragma once

#include <string>
#include <vector>

#include "cli/console/paint.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

// What fault codes of MindCluster mean, and what they lead to by the labels of a job. Output "text"
// or "json". Returns kExitUnusable for a code that MindCluster does not ship.
int ExplainFaults(const std::vector<std::string>& codes, const std::string& output, ColorMode color,
                  Streams& io);

}  // namespace mindgate::cli
