#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/documents.h"
#include "schemas/config.h"

namespace mindgate::cli {

// What a test case expects; what is left out is not compared.
struct Expectation {
  std::optional<std::string> outcome;
  std::optional<json::Json> patch;
  std::optional<std::vector<json::Json>> changes;   // {mutator, path}: all of them, in any order
  std::optional<std::vector<json::Json>> findings;  // {rule, field, mode}: likewise, rules by id
  std::optional<std::vector<std::string>> warnings;
};

struct TestCase {
  std::string name;
  int line = 0;
  InputObject input;  // with the object of `old`
  std::optional<schemas::Operation> operation;
  std::string ns;
  std::map<std::string, std::string, std::less<>> namespace_labels;
  std::vector<InputObject> others;
  Expectation expect;
};

// One document of a suite file, ready to run. Cases point into `files` and into the document.
struct Suite {
  std::string file;
  std::string name;
  schemas::Config config;
  std::optional<Time> now;
  std::vector<TestCase> cases;
  std::vector<std::unique_ptr<Source>> files;  // that cases name
};

// A suite file: its suites, or why it cannot be run.
struct SuiteFile {
  std::unique_ptr<Source> source;
  std::vector<Suite> suites;
  json::Issues issues;
};

// Reads suites: the files themselves, "-" for `in`, and of folders every .yaml, .yml and .json that
// is not a manifest (apiVersion and kind) and not named mindgate.yaml. Files named in a suite are
// relative to its folder, of standard input to the current one.
std::vector<SuiteFile> ReadSuites(const std::vector<std::string>& paths, std::istream& in);

// The JSON Schema of a suite.
const json::Json& SuiteSchema();

}  // namespace mindgate::cli
