#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "cli/manifests/test.h"

namespace mindgate::cli {
namespace {

constexpr std::string_view kMargin = "          ";

std::vector<std::string_view> LinesOfFailure(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return Split(text, '\n');
}

void PrintFailure(const CaseFailure& failure, const Paint& paint, std::ostream& out) {
  out << kMargin << failure.what << ":\n";
  for (std::string_view line : LinesOfFailure(failure.text)) {
    out << kMargin << "  ";
    if (line.starts_with('-')) {
      out << paint(Color::kRed, line);
    } else if (line.starts_with('+')) {
      out << paint(Color::kGreen, line);
    } else {
      out << line;
    }
    out << "\n";
  }
}

}  // namespace

size_t SuiteResult::Failures() const {
  return static_cast<size_t>(std::count_if(
      cases.begin(), cases.end(), [](const CaseResult& c) { return !c.failures.empty(); }));
}

void PrintResults(const std::vector<SuiteResult>& suites, const Paint& paint, std::ostream& out) {
  size_t total = 0;
  size_t failed = 0;
  size_t unusable = 0;
  for (const SuiteResult& suite : suites) {
    out << paint(Color::kBold, suite.name);
    if (suite.name != suite.file) out << " (" << suite.file << ")";
    out << "\n";
    if (!suite.unusable.empty()) {
      out << "  " << paint(Color::kRed, "BAD") << "     " << suite.unusable << "\n";
      ++unusable;
    }
    for (const CaseResult& result : suite.cases) {
      const bool passed = result.failures.empty();
      out << "  "
          << (passed ? paint(Color::kGreen, "ok") + "      " : paint(Color::kRed, "FAILED") + "  ")
          << result.name;
      if (!passed) out << " (" << suite.file << ":" << result.line << ")";
      out << "\n";
      for (const CaseFailure& failure : result.failures) PrintFailure(failure, paint, out);
    }
    total += suite.cases.size();
    failed += suite.Failures();
  }
  out << total << (total == 1 ? " case: " : " cases: ") << total - failed << " passed, " << failed
      << " failed";
  if (unusable > 0) out << "; " << Counted(unusable, "suite") << " not run";
  out << "\n";
}

std::vector<JunitSuite> JunitOf(const std::vector<SuiteResult>& suites) {
  std::vector<JunitSuite> all;
  for (const SuiteResult& suite : suites) {
    JunitSuite& junit = all.emplace_back();
    junit.name = suite.name;
    junit.file = suite.file;
    if (!suite.unusable.empty()) {
      JunitCase& test = junit.cases.emplace_back();
      test.name = suite.file;
      test.class_name = suite.name;
      test.errors.push_back({suite.unusable, ""});
    }
    for (const CaseResult& result : suite.cases) {
      JunitCase& test = junit.cases.emplace_back();
      test.name = result.name;
      test.class_name = suite.name;
      test.file = suite.file;
      test.line = result.line;
      for (const CaseFailure& failure : result.failures) {
        test.failures.push_back({failure.what, failure.text});
      }
    }
  }
  return all;
}

}  // namespace mindgate::cli
