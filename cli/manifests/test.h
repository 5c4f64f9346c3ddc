#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

struct TestOptions {
  std::vector<std::string> paths;
  std::vector<std::string> policies{};  // beside those that suites name
  std::string output = "text";          // or "junit"
  ColorMode color = ColorMode::kAuto;
  Time now{};  // for suites without a time
};

// Runs policy test suites. Returns 1 if a case fails, 2 if a suite is invalid; the others still
// run.
int RunTest(const TestOptions& options, Streams& io);

}  // namespace mindgate::cli
