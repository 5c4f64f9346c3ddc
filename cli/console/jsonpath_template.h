#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// A JSONPath template, parsed. See cli/jsonpath.h.
namespace mindgate::cli::jsonpath {

using OrderedJson = nlohmann::ordered_json;

struct Step;

// Steps that start at the current value.
struct Path {
  std::vector<Step> steps;
};

struct Operand {
  Path path;
  std::optional<OrderedJson> literal;  // instead of a path
};

enum class Compare { kExists, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };

struct Step {
  enum class Kind { kField, kWildcard, kSlice, kUnion, kFilter, kRecursive } kind = Kind::kField;
  size_t column = 0;
  std::string field = {};  // of kField
  // Of kSlice; `single` is the one element at `start`.
  bool single = false;
  std::optional<int64_t> start = {};
  std::optional<int64_t> end = {};
  int64_t stride = 1;
  std::vector<Step> members = {};  // of kUnion
  // Of kFilter.
  Compare compare = Compare::kExists;
  Operand left = {};
  Operand right = {};
};

struct Piece {
  enum class Kind { kText, kPath, kRange } kind = Kind::kText;
  std::string text = {};
  Path path = {};                  // of kPath and kRange
  std::vector<Piece> pieces = {};  // of kRange: until its end
};

// `max_depth` limits the nesting of ranges and filters.
Result<std::vector<Piece>> ParseTemplate(std::string_view text, size_t max_depth);

// "jsonpath template, column 7: ..."
Error FaultAt(size_t column, const std::string& what);

}  // namespace mindgate::cli::jsonpath
