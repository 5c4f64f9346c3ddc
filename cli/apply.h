#pragma once

#include <vector>

#include "cli/output.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "offline/evaluate.h"

namespace mindgate::cli {

struct ApplyOptions {
  offline::InputOptions input;
  OutputFormat output = "yaml";  // or "json", "name", "jsonpath", "patch", "diff", "table"
  bool strict = false;
  bool print_denied =
      false;  // in yaml, name and patch output, which otherwise hold admitted objects only
  ColorMode color = ColorMode::kAuto;
};

// Runs admission on manifests. Results on `io.out`; faults, denials and warnings on `io.err` where
// the output does not hold them itself. Returns the exit code.
int RunApply(const ApplyOptions& options, Streams& io);

// kExitUnusable if an input has a fault, else kExitDenied if something was denied or failed.
int ExitCode(const std::vector<offline::Decision>& decisions);

}  // namespace mindgate::cli
