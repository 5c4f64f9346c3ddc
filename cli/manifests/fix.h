#pragma once

#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "offline/evaluate.h"

namespace mindgate::cli {

struct FixCommandOptions {
  offline::InputOptions input;
  bool in_place = false;
  DryRun dry_run = DryRun::kNone;  // with in_place: write nothing, print the difference
  bool strict = false;
  OutputFormat output = "diff";  // or "json", "jsonpath"
  ColorMode color = ColorMode::kAuto;
};

// Writes into manifests what admission would add, and corrections that leave no choice. What is
// left to do by hand is on `io.err`, or in the JSON. Returns the exit code.
int RunFix(const FixCommandOptions& options, Streams& io);

}  // namespace mindgate::cli
