#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/output.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "schemas/config.h"

namespace mindgate::cli {

// The input of `apply` and `explain -f`.
struct InputOptions {
  std::vector<std::string> files;
  std::vector<std::string> kustomizations;  // folders
  std::vector<std::string> exclude;         // globs, of files in folders
  bool recursive = true;
  std::string selector;   // like kubectl's -l
  std::string operation;  // "CREATE", "UPDATE"; empty: UPDATE for objects in --old, else CREATE
  std::string old_file;   // the states before an update
  std::string ns;
  std::string namespace_labels;  // "k=v,..."
  std::string config_file;       // empty: the defaults
  Time now{};
};

struct ApplyOptions {
  InputOptions input;
  OutputFormat output = "yaml";  // or "json", "name", "jsonpath", "patch", "diff", "table"
  bool strict = false;
  bool print_denied =
      false;  // in yaml, name and patch output, which otherwise hold admitted objects only
  ColorMode color = ColorMode::kAuto;
};

// Runs admission on manifests. Results on `io.out`; faults, denials and warnings on `io.err` where
// the output does not hold them itself. Returns the exit code.
int RunApply(const ApplyOptions& options, Streams& io);

}  // namespace mindgate::cli
