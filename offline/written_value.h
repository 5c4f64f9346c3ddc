#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "json/outline.h"

// New values as the text around them writes its own.
namespace mindgate::offline {

// How one document is written, as far as new values depend on it.
struct WrittenStyle {
  size_t step = 2;       // spaces from a key to the keys below it
  size_t list_step = 0;  // from a key to the dashes below it
  char quote = '\'';     // of texts that need quotes
};

// In characters from 0; a byte order mark counts none.
size_t ColumnOf(std::string_view text, size_t offset);

// As its author wrote the first of each.
WrittenStyle StyleOf(std::string_view text, const json::Outline& outline);

// The value of a scalar, or an empty object or list, on one line: 3, on in quotes.
std::string ScalarText(const json::Json& value, const WrittenStyle& style);

// "key: value" or "key:" and what is below it, in lines without their ends. They are not indented.
std::vector<std::string> MemberLines(const std::string& key, const json::Json& value,
                                     const WrittenStyle& style);

// The members or items of a value that has some, in the same way. After "- " an item begins as many
// characters on as `dash` says.
std::vector<std::string> BlockLines(const json::Json& value, const WrittenStyle& style,
                                    size_t dash = 2);

// On one line of JSON, with a space after ':' and ',' or none.
std::string JsonLine(const json::Json& value, bool spaced);

}  // namespace mindgate::offline
