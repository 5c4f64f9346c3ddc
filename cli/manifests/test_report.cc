#include "cli/manifests/test_report.h"

#include <algorithm>
#include <ostream>

#include "base/text.h"

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

// For text and attributes. XML 1.0 cannot represent most control characters.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
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

void PrintJunit(const std::vector<SuiteResult>& suites, std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const SuiteResult& suite : suites) {
    const bool unusable = !suite.unusable.empty();
    out << "  <testsuite name=\"" << Escaped(suite.name) << "\" file=\"" << Escaped(suite.file)
        << "\" tests=\"" << suite.cases.size() + (unusable ? 1 : 0) << "\" failures=\""
        << suite.Failures() << "\" errors=\"" << (unusable ? 1 : 0) << "\">\n";
    if (unusable) {
      out << "    <testcase name=\"" << Escaped(suite.file) << "\" classname=\""
          << Escaped(suite.name) << "\"><error message=\"" << Escaped(suite.unusable)
          << "\"/></testcase>\n";
    }
    for (const CaseResult& result : suite.cases) {
      out << "    <testcase name=\"" << Escaped(result.name) << "\" classname=\""
          << Escaped(suite.name) << "\" file=\"" << Escaped(suite.file) << "\" line=\""
          << result.line << "\"";
      if (result.failures.empty()) {
        out << "/>\n";
        continue;
      }
      out << ">\n";
      for (const CaseFailure& failure : result.failures) {
        out << "      <failure message=\"" << Escaped(failure.what) << "\">"
            << Escaped(failure.text) << "</failure>\n";
      }
      out << "    </testcase>\n";
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace mindgate::cli
