#pragma once

#include <optional>
#include <string_view>

#include "json/decode.h"
#include "json/issues.h"

namespace mindgate::json {

// For texts that are taken apart without being decoded. Offsets are in bytes; npos: the text ends
// before what is asked for does. Nothing is checked but where strings and brackets end.

inline bool IsAt(std::string_view text, size_t at, char c) {
  return at < text.size() && text[at] == c;
}
// Of the first character that is not white space; the size of the text when there is none.
size_t SkipSpace(std::string_view text, size_t at);
// Behind the string whose opening quote is at `at`.
size_t EndOfString(std::string_view text, size_t at);
// Behind the value that begins at `at`; npos for one without an end, and where none begins.
size_t EndOfValue(std::string_view text, size_t at);

namespace internal {

// One pass over JSON text by the letter of RFC 8259 that builds no tree and does not recurse. Gives
// the first fault, with its place; nothing when Decode would take the text. Slower than Decode by
// far: it is asked where a fault is, after Decode found that there is one. When `places` is given,
// it gets the places of all values before the fault, and so does `outline` of what it is made of
// (`begin` is left out).
std::optional<Issue> Scan(std::string_view text, const Limits& limits, Positions* places,
                          Outline* outline = nullptr);

// The first value beyond the limits of values and depth, of a text that need not be JSON in any
// other way. Faster than Scan by far, and takes no memory.
std::optional<Issue> CountValues(std::string_view text, const Limits& limits);

// The sentences for limits, which the YAML decoder says too.
std::string TooLarge(size_t limit);
std::string TooDeep(const Limits& limits);
std::string TooMany(const Limits& limits);

}  // namespace internal
}  // namespace mindgate::json
