#include "json/issues.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/foreign_text.h"
#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/scanner.h"
#include "json/yaml.h"
#include "json/yaml_reader.h"

namespace mindgate::json {
namespace {

using internal::LineOf;

constexpr size_t kMaxWidth = 160;
constexpr size_t kAhead = 60;  // of the column, when a line is cut

bool IsTail(char c) { return (c & 0xC0) == 0x80; }

// The line, cut to kMaxWidth bytes around the column, and below it a caret.
std::string Excerpt(std::string_view line, int column) {
  size_t at = column < 1 ? 0 : static_cast<size_t>(column - 1);
  at = std::min(at, line.size());
  size_t begin = 0;
  if (line.size() > kMaxWidth) {
    begin = at > kMaxWidth - kAhead ? at - (kMaxWidth - kAhead) : 0;
    begin = std::min(begin, line.size() - kMaxWidth);
  }
  size_t end = std::min(line.size(), begin + kMaxWidth);
  // Whole characters only.
  while (begin < end && IsTail(line[begin])) ++begin;
  while (end < line.size() && end > begin && IsTail(line[end])) --end;

  std::string shown;
  std::string caret;
  for (size_t i = begin; i < end;) {
    const size_t length = Utf8Length(line.substr(i, end - i));
    const std::string_view character = line.substr(i, std::max<size_t>(length, 1));
    const bool tab = character == "\t";
    const bool printable = length > 0 && (tab || !IsControl(character));
    shown += printable ? character : "?";
    i += character.size();
    // A tab under a tab and one space under a character keep the caret in its column.
    if (i <= at) caret += tab ? '\t' : ' ';
  }
  return shown + "\n" + caret + "^\n";
}

}  // namespace

void Issues::Add(Issue issue) {
  if (items_.size() < kMax) {
    items_.push_back(std::move(issue));
  } else {
    ++dropped_;
  }
}

void Issues::Append(const Issues& other) {
  for (const Issue& issue : other.items_) Add(issue);
  dropped_ += other.dropped_;
}

std::string LookalikeHint(const Issue& issue, std::string_view text) {
  if (issue.at.line < 1) return "";
  const auto hint = [](const FoundLookalike& found, const std::string& place) {
    return place + "column " + std::to_string(found.offset + 1) + " is " + found.character.name +
           (found.character.instead.empty() ? "; remove it"
                                            : "; write " + Quote(found.character.instead));
  };
  const auto column = static_cast<size_t>(std::max(issue.at.column, 1) - 1);
  if (const auto here = FindLookalike(LineOf(text, issue.at.line), column)) return hint(*here, "");
  if (!issue.field.empty()) return "";
  // The line before it that is not blank.
  std::string_view before = text.substr(0, internal::OffsetOfLine(text, issue.at.line));
  for (int line = issue.at.line - 1; line > 0 && !before.empty(); --line) {
    before.remove_suffix(1);
    const size_t begin = before.rfind('\n') + 1;
    const std::string_view above = before.substr(begin);
    before = before.substr(0, begin);
    if (above.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto there = FindLookalike(above, above.size());
    return there ? hint(*there, "line " + std::to_string(line) + ", ") : "";
  }
  return "";
}

std::string PositionText(std::string_view file, Position at) {
  std::string text(file);
  if (at.line > 0) text += ":" + std::to_string(at.line);
  if (at.line > 0 && at.column > 0) text += ":" + std::to_string(at.column);
  return text;
}

std::string LineText(Position at) {
  return "line " + std::to_string(at.line) + ", column " + std::to_string(at.column);
}

std::string Render(const Issue& issue, std::string_view file, std::string_view text) {
  std::string out = PositionText(file, issue.at) + ": " + issue.message + "\n";
  if (issue.at.line > 0) {
    const std::string_view line = LineOf(text, issue.at.line);
    if (!line.empty()) out += Excerpt(line, issue.at.column);
  }
  if (!issue.hint.empty()) out += "hint: " + issue.hint + "\n";
  if (const std::string hint = LookalikeHint(issue, text); !hint.empty()) {
    out += "hint: " + hint + "\n";
  }
  return out;
}

std::string Render(const Issues& issues, std::string_view file, std::string_view text) {
  std::string out;
  for (const Issue& issue : issues.items()) out += Render(issue, file, text);
  if (issues.dropped() > 0) {
    out += std::string(file) + ": " + std::to_string(issues.dropped()) + " more not shown\n";
  }
  return out;
}

}  // namespace mindgate::json

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

size_t Positions::Add(size_t parent, std::string token, Position at) {
  places_.push_back(at);
  children_.try_emplace(Name{parent, std::move(token)}, places_.size() - 1);
  return places_.size() - 1;
}

size_t Positions::ChildOf(size_t parent, std::string_view token) const {
  const auto found = children_.find(NameView(parent, token));
  return found == children_.end() ? kRoot : found->second;
}

void Positions::Set(std::string_view pointer, Position at) {
  auto tokens = Tokens(pointer);
  if (!tokens) return;
  size_t node = kRoot;
  for (std::string& token : *tokens) {
    const size_t child = ChildOf(node, token);
    node = child != kRoot ? child : Add(node, std::move(token), Position{});
  }
  places_[node] = at;
}

Position Positions::At(std::string_view pointer) const {
  Position nearest = places_[kRoot];
  const auto tokens = Tokens(pointer);
  if (!tokens) return nearest;
  size_t node = kRoot;
  for (const std::string& token : *tokens) {
    node = ChildOf(node, token);
    if (node == kRoot) break;
    if (places_[node] != Position{}) nearest = places_[node];
  }
  return nearest;
}

namespace {

using internal::YamlNode;
using internal::YamlNodes;
using internal::YamlTag;

TextNode::Kind KindOf(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kMapping:
      return TextNode::Kind::kMapping;
    case YamlNode::Kind::kSequence:
      return TextNode::Kind::kSequence;
    case YamlNode::Kind::kAlias:
      return TextNode::Kind::kAlias;
    case YamlNode::Kind::kScalar:
      break;
  }
  return TextNode::Kind::kScalar;
}

// Where the content begins of a node that has anchor or tag before it.
size_t ContentOf(std::string_view text, size_t at, size_t end) {
  constexpr std::string_view kSpace = " \t\r\n";
  while (at < end && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(kSpace, at), end);
    while (at < end && (kSpace.find(text[at]) != std::string_view::npos || text[at] == '#')) {
      at = text[at] == '#' ? std::min(text.find('\n', at), end) : at + 1;
    }
  }
  return at;
}

// Keys that are not text become it. Those of floats are left empty: nobody asks for them.
std::string KeyOf(const YamlNode& node) {
  if (!node.plain || node.tag != YamlTag::kNone) return node.text;
  const Json value = ResolvePlainScalar(node.text);
  if (const auto* text = value.get_ptr<const Json::string_t*>()) return *text;
  return value.is_number_float() ? "" : value.dump();
}

Outline OutlineOf(std::string_view text, const YamlNodes& nodes, size_t offset) {
  Outline outline(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const YamlNode& node = nodes[i];
    TextNode& made = outline[i];
    made.kind = KindOf(node.kind);
    made.flow = node.flow;
    made.next = node.end;
    made.target = node.target;
    made.first_byte = node.first_byte + offset;
    made.end = node.end_byte + offset;
    made.begin = ContentOf(text, node.first_byte, node.end_byte) + offset;
    if (node.kind == YamlNode::Kind::kAlias) outline[node.target].shared = true;
    if (node.kind != YamlNode::Kind::kMapping) continue;
    for (uint32_t key = static_cast<uint32_t>(i) + 1; key < node.end;) {
      const YamlNode& written = nodes[key];
      const YamlNode& meant =
          written.kind == YamlNode::Kind::kAlias ? nodes[written.target] : written;
      outline[key].key = KeyOf(meant);
      outline[key].merge = internal::IsMergeKey(written);
      key = nodes[written.end].end;
    }
  }
  return outline;
}

}  // namespace

tl::expected<std::vector<Outline>, Issue> OutlineYaml(std::string_view text) {
  const std::string_view read = internal::WithoutByteOrderMark(text);
  if (const size_t bad = internal::FindBadUtf8(read); bad != std::string_view::npos) {
    return tl::unexpected(internal::NotUtf8(read, bad));
  }
  const Limits limits;
  std::vector<Outline> outlines;
  internal::YamlReader reader(read, limits);
  for (;;) {
    const auto nodes = reader.Next();
    if (!nodes) return tl::unexpected(nodes.error());
    if (nodes->empty()) return outlines;
    outlines.push_back(OutlineOf(read, *nodes, text.size() - read.size()));
  }
}

Outline OutlineJson(std::string_view text) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  const std::string_view read = internal::WithoutByteOrderMark(text);
  Outline outline;
  // The text was accepted before.
  (void)internal::Scan(read, Limits{kAny, Limits().depth, kAny}, nullptr, &outline);
  for (TextNode& node : outline) {
    node.first_byte += text.size() - read.size();
    node.begin = node.first_byte;
    node.end += text.size() - read.size();
  }
  return outline;
}

std::vector<uint32_t> ChildrenOf(const Outline& outline, uint32_t index) {
  std::vector<uint32_t> children;
  const TextNode& node = outline[index];
  const bool mapping = node.kind == TextNode::Kind::kMapping;
  if (!mapping && node.kind != TextNode::Kind::kSequence) return children;
  for (uint32_t at = index + 1; at < node.next;) {
    children.push_back(at);
    at = mapping ? outline[outline[at].next].next : outline[at].next;
  }
  return children;
}

}  // namespace mindgate::json
