#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/paint.h"

namespace mindgate::cli {

struct CaseFailure {
  std::string what;  // "outcome", "patch", ...
  std::string text;  // lines; a unified difference, expected to actual, where there is one
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
  std::string unusable;  // why there are no cases

  size_t Failures() const;
};

void PrintResults(const std::vector<SuiteResult>& suites, const Paint& paint, std::ostream& out);

// The XML that CI servers read.
void PrintJunit(const std::vector<SuiteResult>& suites, std::ostream& out);

}  // namespace mindgate::cli
