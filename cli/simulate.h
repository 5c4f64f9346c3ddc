#pragma once

#include <string>
#include <vector>

#include "cli/streams.h"

namespace mindgate::cli {

struct SimulateOptions {
  std::vector<std::string> paths;  // files, folders, globs or "-"
  std::string output = "text";     // or "json"
};

// Plays scenarios against the watcher's decision and prints their timelines. 1 when something that
// is expected is not so, 2 when a scenario cannot be read; the others are played all the same.
int RunSimulate(const SimulateOptions& options, Streams& io);

}  // namespace mindgate::cli
