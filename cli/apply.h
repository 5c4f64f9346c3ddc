#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "schemas/config.h"

namespace mindgate::cli {

// What `apply` and `explain -f` are asked to look at.
struct InputOptions {
  std::vector<std::string> files;
  std::string operation;  // "CREATE", "UPDATE", empty: UPDATE of what --old holds, else CREATE
  std::string old_file;   // the states before an update
  std::string ns;
  std::string namespace_labels;  // "k=v,..."
  std::string config_file;       // empty: the defaults
  Time now{};
};

struct ApplyOptions {
  InputOptions input;
  std::string output = "yaml";  // or "json", "patch", "diff", "table"
  bool strict = false;
  ColorMode color = ColorMode::kAuto;
};

// Runs admission on manifests. Results on `io.out`; faults, denials and warnings on `io.err` where
// the output does not hold them itself. Returns the exit code.
int RunApply(const ApplyOptions& options, Streams& io);

}  // namespace mindgate::cli
