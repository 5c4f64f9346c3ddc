#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/jsonpath.h"
#include "cli/paint.h"
#include "cli/streams.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// What kubectl's -o is to the commands that print values: one document each, printed in one way.
namespace mindgate::cli {

// The value of -o. A command compares `word` with the formats that are its own ("table", "diff").
struct OutputFormat {
  std::string word;              // "json"; of jsonpath=TEMPLATE "jsonpath"
  std::optional<JsonPath> path;  // of that

  // For options' defaults, and for tests.
  OutputFormat(const char* name) : word(name) {}  // NOLINT(google-explicit-constructor)

  bool Is(std::string_view name) const { return word == name; }
};

// One of `formats`, where "jsonpath" stands for jsonpath=TEMPLATE. An error says what can be
// written.
Result<OutputFormat> ParseOutputFormat(std::string_view text,
                                       const std::vector<std::string>& formats);

// "-o,--output" with the variable MINDGATE_`variable`; `format` holds the default. Help and
// completion show the formats.
CLI::Option* AddOutputOption(CLI::App& command, OutputFormat& format,
                             const std::vector<std::string>& formats, const std::string& variable);

// How a command prints each format. What a command does not offer may be left out.
struct Printers {
  std::function<nlohmann::ordered_json()> document;    // json, yaml, jsonpath: its documented JSON
  std::function<std::vector<std::string>()> names;     // name: "pod/a" a line
  std::function<void(std::ostream&, bool wide)> text;  // wide, and whatever else
};

// kExitDone; kExitUnusable when a JSONPath template does not fit the document, which `io.err` then
// says.
int PrintOutput(const OutputFormat& format, const Printers& printers, Streams& io);

// A text in a table, or a line of it.
struct TableCell {
  std::string text;
  std::optional<Color> color{};

  TableCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  TableCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  TableCell(std::string words, Color paint) : text(std::move(words)), color(paint) {}
};

// Columns as wide as their widest cell, three spaces between them, as kubectl has them.
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
