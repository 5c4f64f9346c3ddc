#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/console/terminal.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mindgate::cli::jsonpath {

using OrderedJson = nlohmann::ordered_json;

// A JSONPath template, parsed.

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

namespace mindgate::cli {

namespace jsonpath {
struct Piece;
}  // namespace jsonpath

// A JSONPath template as in `kubectl -o jsonpath=`
// (https://kubernetes.io/docs/reference/kubectl/jsonpath/): text outside braces, and in them
// `.a.b`, `['a']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `..`, unions, filters `[?(@.x=="y")]`, `"\n"`,
// `range` and `end`. As in kubectl, `@` and `$` both mean the start of the path, and a missing
// field prints nothing.
class JsonPath {
 public:
  static constexpr size_t kMaxTemplate = 4096;                    // bytes
  static constexpr size_t kMaxDepth = 32;                         // nesting of ranges and filters
  static constexpr size_t kMaxOutput = size_t{64} * 1024 * 1024;  // bytes

  // Errors name the column, from 1.
  static Result<JsonPath> Parse(std::string_view text);

  // The output for a value; no newline is added. Fails if the template does not fit the value (an
  // index out of range) or a limit is exceeded.
  Result<std::string> Print(const nlohmann::ordered_json& value) const;

 private:
  explicit JsonPath(std::shared_ptr<const std::vector<jsonpath::Piece>> pieces);

  std::shared_ptr<const std::vector<jsonpath::Piece>> pieces_;
};

// The -o flag of commands that print values, as in kubectl.

// The value of -o. Commands compare `word` with formats of their own ("table", "diff").
struct OutputFormat {
  std::string word;              // "json"; "jsonpath" for jsonpath=TEMPLATE
  std::optional<JsonPath> path;  // for jsonpath

  // For defaults of options, and for tests.
  OutputFormat(const char* name) : word(name) {}  // NOLINT(google-explicit-constructor)

  bool Is(std::string_view name) const { return word == name; }
};

// Parses one of `formats`; "jsonpath" means jsonpath=TEMPLATE. The error lists the valid formats.
Result<OutputFormat> ParseOutputFormat(std::string_view text,
                                       const std::vector<std::string>& formats);

// Adds "-o,--output" with the variable MINDGATE_`variable`; `format` holds the default. Help and
// completion list the formats.
CLI::Option* AddOutputOption(CLI::App& command, OutputFormat& format,
                             const std::vector<std::string>& formats, const std::string& variable);

// How a command prints each format. Formats that a command does not support may be empty.
struct Printers {
  std::function<nlohmann::ordered_json()> document;    // json, yaml, jsonpath: the documented JSON
  std::function<std::vector<std::string>()> names;     // name: one "pod/a" per line
  std::function<void(std::ostream&, bool wide)> text;  // wide and all others
};

// Returns kExitDone, or kExitUnusable if a JSONPath template does not fit the document; `io.err`
// says why.
int PrintOutput(const OutputFormat& format, const Printers& printers, Streams& io);

// A cell of a table.
struct TableCell {
  std::string text;
  std::optional<Color> color{};

  TableCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  TableCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  TableCell(std::string words, Color paint) : text(std::move(words)), color(paint) {}
};

// Columns as wide as their widest cell, separated by three spaces, as in kubectl.
class Table {
 public:
  explicit Table(std::vector<TableCell> header) : rows_({std::move(header)}) {}

  void Add(std::vector<TableCell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  void Print(const Paint& paint, std::ostream& out) const;

 private:
  std::vector<std::vector<TableCell>> rows_;
};

// Rows that are printed both as a table and as JSON, from one list of columns.

// What one column shows of a row. A new column is one entry.
template <typename Row>
struct Column {
  const char* title;  // null: only in the JSON
  const char* key;    // null: only in the table
  nlohmann::ordered_json (*value)(const Row& row);
  bool wide = false;  // only with -o wide
};

// A value of the JSON in a table: texts as they are, nothing for null.
inline std::string CellText(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

template <typename Row>
void AddTitles(std::span<const Column<Row>> columns, bool wide, std::vector<TableCell>& header) {
  for (const Column<Row>& column : columns) {
    if (column.title != nullptr && (wide || !column.wide)) header.emplace_back(column.title);
  }
}

template <typename Row>
void AddCells(std::span<const Column<Row>> columns, bool wide, const Row& from,
              std::vector<TableCell>& cells) {
  for (const Column<Row>& column : columns) {
    if (column.title == nullptr || (column.wide && !wide)) continue;
    cells.emplace_back(CellText(column.value(from)));
  }
}

template <typename Row>
nlohmann::ordered_json MembersOf(std::span<const Column<Row>> columns, const Row& from) {
  nlohmann::ordered_json members = nlohmann::ordered_json::object();
  for (const Column<Row>& column : columns) {
    if (column.key != nullptr) members[column.key] = column.value(from);
  }
  return members;
}

}  // namespace mindgate::cli
