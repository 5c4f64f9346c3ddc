#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/console/paint.h"
#include "cli/manifests/junit.h"

namespace mindgate::cli {

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
