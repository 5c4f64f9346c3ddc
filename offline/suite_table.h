#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "offline/suite.h"
#include "schemas/field_types.h"

namespace mindgate::offline {

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
