#include "json/text_places.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/text.h"

namespace mindgate::json::internal {
std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

size_t OffsetOfLine(std::string_view text, int line) {
  size_t offset = 0;
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n', offset);
    if (end == std::string_view::npos) return text.size();
    offset = end + 1;
  }
  return offset;
}

std::string_view LineOf(std::string_view text, int line) {
  text = WithoutByteOrderMark(text);
  text.remove_prefix(OffsetOfLine(text, line));
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::string_view ForeignEncoding(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) {
    return "the text is UTF-32";
  }
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "the text is UTF-16";
  return {};
}

size_t FindBadUtf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string_view::npos;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

Issue NotUtf8(std::string_view text, size_t bad) {
  constexpr std::string_view kHint = "save the file as UTF-8";
  if (const auto encoding = ForeignEncoding(text); !encoding.empty()) {
    return Issue{{1, 1}, "", std::string(encoding), std::string(kHint)};
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(text[bad]);
  const std::string hex = {kHex[byte >> 4], kHex[byte & 15]};
  return Issue{PositionAt(text, bad), "", "byte 0x" + hex + " is not UTF-8 text",
               std::string(kHint)};
}

Lines::Lines(std::string_view text) : starts_{0} {
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    starts_.push_back(at + 1);
  }
}

Position Lines::At(size_t offset) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const size_t line = static_cast<size_t>(next - starts_.begin());
  return {static_cast<int>(line), static_cast<int>(offset - starts_[line - 1] + 1)};
}

Position PositionAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t last = before.rfind('\n');
  const size_t start = last == std::string_view::npos ? 0 : last + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n') + 1),
          static_cast<int>(before.size() - start + 1)};
}

}  // namespace mindgate::json::internal

namespace mindgate::json {
namespace {

bool IsScalarSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A place that moves forward in a text.
struct Cursor {
  std::string_view text;
  size_t offset = 0;
  Position at{};

  bool ended() const { return offset >= text.size(); }
  char letter() const { return text[offset]; }
  void Advance() {
    at = letter() == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
    ++offset;
  }
};

// To where the content of a scalar begins: behind a quote, or below the line of | or >.
void EnterScalar(Cursor& cursor) {
  if (cursor.ended()) return;
  const char style = cursor.letter();
  if (style == '"' || style == '\'') cursor.Advance();
  if (style != '|' && style != '>') return;
  while (!cursor.ended() && cursor.letter() != '\n') cursor.Advance();
  if (!cursor.ended()) cursor.Advance();
}

}  // namespace

std::vector<Position> PlacesInScalar(std::string_view text, Position at, std::string_view value,
                                     std::span<const size_t> offsets) {
  const Position begin{std::max(at.line, 1), std::max(at.column, 1)};
  Cursor cursor{text,
                internal::OffsetOfLine(text, begin.line) + static_cast<size_t>(begin.column) - 1,
                begin};
  EnterScalar(cursor);
  std::vector<Position> places;
  const auto next = [&] { return offsets[places.size()]; };
  // Styles differ in white space alone.
  for (size_t i = 0; i < value.size() && places.size() < offsets.size(); ++i) {
    if (IsScalarSpace(value[i])) continue;
    while (!cursor.ended() && IsScalarSpace(cursor.letter())) cursor.Advance();
    if (cursor.ended() || cursor.letter() != value[i]) {
      places.resize(offsets.size(), at);
      return places;
    }
    while (places.size() < offsets.size() && next() <= i) places.push_back(cursor.at);
    cursor.Advance();
  }
  while (places.size() < offsets.size()) {
    places.push_back(next() >= value.size() && cursor.offset <= text.size() ? cursor.at : at);
  }
  return places;
}

Position PlaceInScalar(std::string_view text, Position at, std::string_view value,
                       Position within) {
  const size_t offset = internal::OffsetOfLine(value, within.line) +
                        static_cast<size_t>(std::max(within.column, 1)) - 1;
  return PlacesInScalar(text, at, value, {&offset, 1}).front();
}

}  // namespace mindgate::json
