#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace mindgate::cli {

// What CI servers read as the result of tests. Texts may hold anything: what XML cannot hold is
// escaped as HtmlEscaped does it.
struct JunitProblem {
  std::string message;  // one line
  std::string text;     // lines, may be empty
};

struct JunitCase {
  std::string name;
  std::string class_name;
  std::string file;  // empty: not known
  int line = 0;      // 0: not known
  std::vector<JunitProblem> errors;
  std::vector<JunitProblem> failures;
  std::optional<std::string> skipped;  // why
  std::string output;                  // what else there is to read, may be empty
};

struct JunitSuite {
  std::string name;
  std::string file;
  std::vector<JunitCase> cases;
};

void PrintJunit(const std::vector<JunitSuite>& suites, std::ostream& out);

}  // namespace mindgate::cli
