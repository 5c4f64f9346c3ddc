#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "json/issues.h"

namespace mindgate::json::internal {

// The text after its UTF-8 byte order mark, if it has one. The mark counts in no column.
std::string_view WithoutByteOrderMark(std::string_view text);

// Where the line with this number begins, 1-based; the size of the text when there is none.
size_t OffsetOfLine(std::string_view text, int line);

// That line without its end, of the text without its byte order mark; empty when there is none.
std::string_view LineOf(std::string_view text, int line);

// "the text is UTF-16": what the first bytes say when the text is in an encoding that we do not
// read, else empty.
std::string_view ForeignEncoding(std::string_view text);

// Offset of the first byte that is not part of a well-formed UTF-8 sequence, npos when all are.
size_t FindBadUtf8(std::string_view text);

// The fault that text is not UTF-8, at its place; `bad` is the offset of the first wrong byte.
Issue NotUtf8(std::string_view text, size_t bad);

// Offsets to lines and columns. Lines end with '\n'. Refers to nothing after construction.
class Lines {
 public:
  explicit Lines(std::string_view text);
  Position At(size_t offset) const;

 private:
  std::vector<size_t> starts_;
};

// The same for a single offset.
Position PositionAt(std::string_view text, size_t offset);

}  // namespace mindgate::json::internal

namespace mindgate::json {

// The places in `text` of what is at these offsets, in their order, of a scalar's value that begins
// at `at`, in whatever style it is written; `at` where it cannot be found, as behind an escape in
// quotes. Costs one walk over the scalar.
std::vector<Position> PlacesInScalar(std::string_view text, Position at, std::string_view value,
                                     std::span<const size_t> offsets);
// The same of one place, by line and column of the value.
Position PlaceInScalar(std::string_view text, Position at, std::string_view value, Position within);

}  // namespace mindgate::json
