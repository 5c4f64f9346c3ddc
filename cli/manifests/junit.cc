#include "cli/manifests/junit.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "base/html.h"
#include "base/text.h"

namespace mindgate::cli {
namespace {

// The two characters above the controls that XML 1.0 has no place for: U+FFFE and U+FFFF.
bool IsNoncharacter(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// For text; tabs and ends of lines stay.
std::string XmlText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (character == "\n" || character == "\t") {
      out += character;
    } else if (Utf8Length(character) == 0 || IsControl(character) || IsNoncharacter(character)) {
      out += HexEscaped(character);
    } else if (const auto entity = MarkupEntity(character); !entity.empty()) {
      out += entity;
    } else {
      out += character;
    }
  }
  return out;
}

// A reader makes a blank of an end of line that stands in an attribute as it is.
std::string XmlAttribute(std::string_view name, std::string_view value) {
  std::string out = " " + std::string(name) + "=\"";
  for (const char c : XmlText(value)) {
    if (c == '\n') {
      out += "&#10;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string XmlNumber(std::string_view name, size_t number) {
  return XmlAttribute(name, std::to_string(number));
}

size_t CountCases(const JunitSuite& suite, bool (*has)(const JunitCase&)) {
  return static_cast<size_t>(std::count_if(suite.cases.begin(), suite.cases.end(), has));
}

void PrintProblems(std::string_view element, const std::vector<JunitProblem>& problems,
                   std::ostream& out) {
  for (const JunitProblem& problem : problems) {
    out << "      <" << element << XmlAttribute("message", problem.message);
    if (problem.text.empty()) {
      out << "/>\n";
    } else {
      out << ">" << XmlText(problem.text) << "</" << element << ">\n";
    }
  }
}

void PrintCase(const JunitCase& test, std::ostream& out) {
  out << "    <testcase" << XmlAttribute("name", test.name)
      << XmlAttribute("classname", test.class_name);
  if (!test.file.empty()) out << XmlAttribute("file", test.file);
  if (test.line > 0) out << XmlNumber("line", static_cast<size_t>(test.line));
  if (test.errors.empty() && test.failures.empty() && !test.skipped && test.output.empty()) {
    out << "/>\n";
    return;
  }
  out << ">\n";
  if (test.skipped) out << "      <skipped" << XmlAttribute("message", *test.skipped) << "/>\n";
  PrintProblems("error", test.errors, out);
  PrintProblems("failure", test.failures, out);
  if (!test.output.empty()) {
    out << "      <system-out>" << XmlText(test.output) << "</system-out>\n";
  }
  out << "    </testcase>\n";
}

}  // namespace

void PrintJunit(const std::vector<JunitSuite>& suites, std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const JunitSuite& suite : suites) {
    const auto failures = [](const JunitCase& test) { return !test.failures.empty(); };
    const auto errors = [](const JunitCase& test) { return !test.errors.empty(); };
    const auto is_skipped = [](const JunitCase& test) { return test.skipped.has_value(); };
    out << "  <testsuite" << XmlAttribute("name", suite.name) << XmlAttribute("file", suite.file)
        << XmlNumber("tests", suite.cases.size())
        << XmlNumber("failures", CountCases(suite, failures))
        << XmlNumber("errors", CountCases(suite, errors));
    if (const size_t skipped = CountCases(suite, is_skipped); skipped > 0) {
      out << XmlNumber("skipped", skipped);
    }
    out << ">\n";
    for (const JunitCase& test : suite.cases) PrintCase(test, out);
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace mindgate::cli
