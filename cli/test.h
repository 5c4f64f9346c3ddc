#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/paint.h"
#include "cli/streams.h"

namespace mindgate::cli {

struct TestOptions {
  std::vector<std::string> paths;
  std::string output = "text";  // or "junit"
  ColorMode color = ColorMode::kAuto;
  Time now{};  // for suites that name no time
};

// Runs policy test suites. 1 when a case fails, 2 when a suite cannot be read; the others run all
// the same.
int RunTest(const TestOptions& options, Streams& io);

}  // namespace mindgate::cli
