#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/console/output.h"

// Rows that are printed both as a table and as JSON, from one list of columns.
namespace mindgate::cli {

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
