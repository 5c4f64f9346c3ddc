#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/console/jsonpath.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The -o flag of commands that print values, as in kubectl.
namespace mindgate::cli {

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

}  // namespace mindgate::cli
