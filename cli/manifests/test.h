#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "cli/manifests/junit.h"

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

struct CaseFailure {
  std::string what;  // "outcome", "patch", ...
  std::string text;  // lines; a unified diff from expected to actual where possible
};

struct CaseResult {
  std::string name;
  int line = 0;
  std::vector<CaseFailure> failures;
};

struct SuiteResult {
  std::string file;
  std::string name;
  std::vector<CaseResult> cases;
  std::string unusable;  // why the suite cannot run

  size_t Failures() const;
};

void PrintResults(const std::vector<SuiteResult>& suites, const Paint& paint, std::ostream& out);

// For PrintJunit.
std::vector<JunitSuite> JunitOf(const std::vector<SuiteResult>& suites);

}  // namespace mindgate::cli
