#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "offline/documents.h"
#include "schemas/config.h"
#include "schemas/field_types.h"

namespace mindgate::offline {

// The expectation of a test case. Fields that are not set are not compared.
struct Expectation {
  std::optional<std::string> outcome;
  std::optional<json::Json> patch;
  std::optional<std::vector<json::Json>> changes;  // {mutator, path}: all changes, in any order
  std::optional<std::vector<json::Json>>
      findings;  // {rule, field, mode}: all findings, in any order, rules by ID
  std::optional<std::vector<std::string>> warnings;
};

struct TestCase {
  std::string name;
  int line = 0;
  InputObject input;  // includes the object of `old`
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
  std::vector<std::unique_ptr<Source>> files;  // referenced by cases
};

// A suite file: its suites, or the reasons why it cannot run.
struct SuiteFile {
  std::unique_ptr<Source> source;
  std::vector<Suite> suites;
  json::Issues issues;
  json::Issues warnings;  // what the suites should write differently
};

// Reads suites from files, from `in` for "-", and from every .yaml, .yml and .json in a folder that
// is not a manifest (apiVersion and kind) and not named mindgate.yaml. File names in a suite are
// relative to its folder, or to the working directory for standard input.
// Suites evaluate the policies that their configuration names, and those in `policies` (files and
// folders), too.
std::vector<SuiteFile> ReadSuites(const std::vector<std::string>& paths, std::istream& in,
                                  const std::vector<std::string>& policies = {});

// A suite as written: objects and files are not read yet. Values point into the document.

struct WrittenCase {
  TestCase test;  // all but the objects
  const json::Json* input = nullptr;
  std::optional<int64_t> document;
  const json::Json* old = nullptr;
  std::vector<const json::Json*> others;
};

// What the suite says, or the name of a file.
using WrittenConfig = std::variant<schemas::Config, std::string>;

struct WrittenSuite {
  std::string name;
  WrittenConfig config;
  std::optional<Time> now;
  std::vector<WrittenCase> cases;
};

// The keys of a suite: how each is read, and its documentation.
const schemas::Type<WrittenSuite>& SuiteTable();

// The JSON Schema (draft 7) of a suite.
schemas::OrderedJson SuiteSchema();

}  // namespace mindgate::offline
