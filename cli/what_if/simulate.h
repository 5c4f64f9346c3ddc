#pragma once

#include <string>
#include <vector>

#include "cli/console/streams.h"

namespace mindgate::cli {

struct SimulateOptions {
  std::vector<std::string> paths;  // files, folders, globs or "-"
  std::string output = "text";     // or "json"
};

// Runs scenarios against the watcher's decision logic and prints their timelines. Returns 1 if an
// expectation is not met, 2 if a scenario is invalid; the others still run.
int RunSimulate(const SimulateOptions& options, Streams& io);

}  // namespace mindgate::cli
