#pragma once

#include <string>
#include <vector>

#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "cli/what_if/what_if_each.h"
#include "kube/access.h"
#include "what_if/hypothesis.h"

namespace mindgate::cli {

struct WhatIfOptions {
  kube::AccessFlags cluster = {};
  what_if::Question question = {};
  EachOptions each = {};                    // asked instead of `question`
  std::vector<std::string> manifests = {};  // files, folders, globs or "-"
  std::string snapshot = {};                // a file, or "-"; empty: the live cluster
  std::string config_file = {};             // for the admission of the manifests
  std::string output = "text";              // or "wide", "json", "html"
  ColorMode color = ColorMode::kAuto;
};

// Says what would become of a cluster. Returns kExitDenied if something stays down, is broken or
// shrinks, kExitUnusable if the question, the snapshot or a manifest is invalid.
int RunWhatIf(const WhatIfOptions& options, Streams& io);

struct SimulateOptions {
  std::vector<std::string> paths;  // files, folders, globs or "-"
  std::string output = "text";     // or "json"
};

// Runs scenarios against the watcher's decision logic and prints their timelines. Returns 1 if an
// expectation is not met, 2 if a scenario is invalid; the others still run.
int RunSimulate(const SimulateOptions& options, Streams& io);

}  // namespace mindgate::cli
