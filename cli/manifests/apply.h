#pragma once

#include <vector>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "offline/evaluate.h"

namespace mindgate::cli {

struct ApplyOptions {
  offline::InputOptions input;
  // Or "json", "name", "jsonpath", "patch", "diff", "table", or one of ReportFormats.
  OutputFormat output = "yaml";
  bool strict = false;
  bool print_denied =
      false;  // in yaml, name and patch output, which otherwise hold admitted objects only
  bool only_findings = false;  // in outputs that list findings, without objects that have none
  bool summary = false;        // the table counts findings instead of listing them
  ColorMode color = ColorMode::kAuto;
};

// Runs admission on manifests. Results on `io.out`; faults, denials and warnings on `io.err` where
// the output does not hold them itself. Returns the exit code.
int RunApply(const ApplyOptions& options, Streams& io);

}  // namespace mindgate::cli
