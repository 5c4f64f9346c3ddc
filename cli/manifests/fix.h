#pragma once

#include "base/result.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "offline/evaluate.h"
#include "offline/fix.h"

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

// Replaces a file by its fixed text, whole or not at all, with its mode and owner. Of a symbolic
// link the file that it leads to is replaced. Fails when the file has changed since it was read, is
// read-only, or is not a regular file.
Result<void> WriteFixed(const offline::FixedFile& file);

}  // namespace mindgate::cli
