#include "offline/splices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "json/yaml.h"

namespace mindgate::offline {
namespace {

using json::Json;
using json::Outline;
using json::TextNode;

// The members or items of a value that has some, in the same way. After "- " an item begins as many
// characters on as `dash` says.
std::vector<std::string> BlockLines(const json::Json& value, const WrittenStyle& style,
                                    size_t dash = 2);

// In characters from 0; a byte order mark counts none.
size_t ColumnOf(std::string_view text, size_t offset);

bool HasParts(const Json& value) { return value.is_structured() && !value.empty(); }

// Spaces from the first key whose value is of this kind, and begins on a line below it, to the
// value.
std::optional<size_t> FirstStep(std::string_view text, const Outline& outline,
                                TextNode::Kind kind) {
  for (uint32_t i = 0; i < outline.size(); ++i) {
    if (outline[i].kind != TextNode::Kind::kMapping || outline[i].flow) continue;
    for (const uint32_t key : json::ChildrenOf(outline, i)) {
      const TextNode& value = outline[outline[key].next];
      if (value.kind != kind || value.flow) continue;
      const size_t outer = ColumnOf(text, outline[key].first_byte);
      const size_t inner = ColumnOf(text, value.begin);
      if (inner >= outer) return inner - outer;
    }
  }
  return std::nullopt;
}

// "key: value" of a value without parts; text of several lines is a literal block.
std::string OneMember(const std::string& key, const Json& value) {
  std::string text = json::EncodeYaml(Json{{key, value}});
  text.pop_back();
  return text;
}

std::string KeyText(const std::string& key) {
  constexpr std::string_view kValue = " 1";
  std::string text = OneMember(key, 1);
  return text.erase(text.size() - kValue.size());
}

void AppendIndented(const std::vector<std::string>& lines, size_t spaces,
                    std::vector<std::string>& out) {
  for (const std::string& line : lines) {
    out.push_back(line.empty() ? line : std::string(spaces, ' ') + line);
  }
}

size_t ColumnOf(std::string_view text, size_t offset) {
  std::string_view line = text.substr(0, offset);
  line.remove_prefix(line.rfind('\n') + 1);  // npos + 1 is 0
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// As its author wrote the first of each.
WrittenStyle StyleOf(std::string_view text, const Outline& outline) {
  WrittenStyle style;
  if (const auto step = FirstStep(text, outline, TextNode::Kind::kMapping); step && *step > 0) {
    style.step = *step;
  }
  style.list_step = FirstStep(text, outline, TextNode::Kind::kSequence).value_or(0);
  for (const TextNode& node : outline) {
    if (node.kind != TextNode::Kind::kScalar || node.IsEmpty()) continue;
    const char first = text[node.begin];
    if (first != '\'' && first != '"') continue;
    style.quote = first;
    break;
  }
  return style;
}

// The value of a scalar, or an empty object or list, on one line: 3, on in quotes.
std::string ScalarText(const Json& value, const WrittenStyle& style) {
  constexpr std::string_view kKey = "k: ";
  const std::string text = OneMember("k", value).substr(kKey.size());
  if (text.find('\n') != std::string::npos) return json::EncodeFlowYaml(value);
  return style.quote == '"' && text.starts_with('\'') ? value.dump() : text;
}

// "key: value" or "key:" and what is below it, in lines without their ends. They are not indented.
std::vector<std::string> MemberLines(const std::string& key, const Json& value,
                                     const WrittenStyle& style) {
  std::vector<std::string> lines;
  if (HasParts(value)) {
    lines.push_back(KeyText(key));
    AppendIndented(BlockLines(value, style), value.is_array() ? style.list_step : style.step,
                   lines);
    return lines;
  }
  const bool several =
      value.is_string() && value.get_ref<const std::string&>().find('\n') != std::string::npos;
  const std::string text =
      several ? OneMember(key, value) : KeyText(key) + " " + ScalarText(value, style);
  for (const std::string_view line : Split(text, '\n')) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> BlockLines(const Json& value, const WrittenStyle& style, size_t dash) {
  std::vector<std::string> lines;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      const auto below = MemberLines(key, member, style);
      lines.insert(lines.end(), below.begin(), below.end());
    }
    return lines;
  }
  for (const Json& item : value) {
    const size_t first = lines.size();
    if (HasParts(item)) {
      AppendIndented(BlockLines(item, style), dash, lines);
      lines[first].replace(0, 1, "-");
    } else {
      lines.push_back("-" + std::string(dash - 1, ' ') + ScalarText(item, style));
    }
  }
  return lines;
}

}  // namespace

std::string JsonLine(const Json& value, bool spaced) {
  if (!spaced || !HasParts(value)) return value.dump();
  std::string text(1, value.is_object() ? '{' : '[');
  for (const auto& [key, part] : value.items()) {
    if (text.size() > 1) text += ", ";
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += JsonLine(part, spaced);
  }
  return text += value.is_object() ? '}' : ']';
}

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kSpaces = " \t\r\n";

// Dashes are followed by one space, or by as many as align an item with four or eight.
constexpr size_t kMostDash = 8;

bool IsCollection(const TextNode& node) {
  return node.kind == TextNode::Kind::kMapping || node.kind == TextNode::Kind::kSequence;
}

// Behind the last line that is not empty, without its break.
size_t EndOfContent(std::string_view text, size_t begin, size_t end) {
  const auto before_break = [text, begin](size_t at) {
    if (at > begin && text[at - 1] == '\n') --at;
    if (at > begin && text[at - 1] == '\r') --at;
    return at;
  };
  size_t at = before_break(end);
  while (at > begin && text[at - 1] == '\n') at = before_break(at);
  return at;
}

}  // namespace

SpliceWriter::SpliceWriter(std::string_view text, const Outline& outline, TextFormat format)
    : text_(text), outline_(outline), format_(format), style_(StyleOf(text, outline)) {}

std::string SpliceWriter::AliasOf(const TextNode& node) const {
  return std::string(text_.substr(node.begin, node.end - node.begin));
}

std::string SpliceWriter::AnchorOf(const TextNode& node) const {
  const std::string_view written = text_.substr(node.first_byte, node.begin - node.first_byte);
  const size_t at = written.find('&');
  if (at == std::string_view::npos) return "";
  const std::string_view anchor = written.substr(at);
  return std::string(anchor.substr(0, anchor.find_first_of(kSpaces)));
}

// --- places ---

size_t SpliceWriter::LineEnd(size_t offset) const {
  const size_t end = std::min(text_.find('\n', offset), text_.size());
  return end > offset && end < text_.size() && text_[end - 1] == '\r' ? end - 1 : end;
}

std::string_view SpliceWriter::LineBefore(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  return before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
}

std::string_view SpliceWriter::LineBreakAt(size_t line_end) const {
  size_t at = line_end;
  if (at >= text_.size()) at = std::min(LineEnd(0), text_.size());
  return text_.substr(at).starts_with("\r\n") ? "\r\n" : "\n";
}

size_t SpliceWriter::LineEndOf(const TextNode& last) const {
  const char first = last.IsEmpty() ? ' ' : text_[last.begin];
  const bool block = last.kind == TextNode::Kind::kScalar && (first == '|' || first == '>');
  if (!block) return LineEnd(last.end);
  const std::string_view header =
      text_.substr(last.begin, text_.find_first_of(kSpaces, last.begin) - last.begin);
  if (header.find('+') == std::string_view::npos) {
    return EndOfContent(text_, last.begin, last.end);
  }
  // It keeps the empty lines after it: they are its text.
  size_t end = last.end;
  if (text_[end - 1] == '\n') --end;
  return end > 0 && text_[end - 1] == '\r' ? end - 1 : end;
}

size_t SpliceWriter::NextSign(size_t offset) const {
  for (;;) {
    offset = std::min(text_.find_first_not_of(kSpaces, offset), text_.size());
    if (offset == text_.size() || text_[offset] != '#') return offset;
    offset = LineEnd(offset);
  }
}

bool SpliceWriter::IsLikeJson(uint32_t node) const {
  if (format_ == TextFormat::kJson) return true;
  while (IsCollection(outline_[node])) {
    if (outline_[node].next == node + 1) return false;
    ++node;
  }
  return !outline_[node].IsEmpty() && text_[outline_[node].begin] == '"';
}

bool SpliceWriter::IsSpaced(uint32_t node) const {
  if (format_ != TextFormat::kJson && outline_[node].kind != TextNode::Kind::kMapping) return true;
  const uint32_t mapping = outline_[node].kind == TextNode::Kind::kMapping ? node : 0;
  if (outline_[mapping].next == mapping + 1) return true;
  const TextNode& key = outline_[mapping + 1];
  const TextNode& value = outline_[key.next];
  return text_.substr(key.end, value.begin - key.end).find_first_of(kSpaces) !=
         std::string_view::npos;
}

// --- without brackets ---

void SpliceWriter::AddLines(size_t line_end, const std::string& indent,
                            const std::vector<std::string>& lines, size_t depth) {
  std::string added;
  for (const std::string& line : lines) {
    added += LineBreakAt(line_end);
    if (!line.empty()) added += indent + line;
  }
  Insert(line_end, std::move(added), depth);
}

void SpliceWriter::Append(uint32_t node, const Json& parts, size_t depth) {
  const TextNode& of = outline_[node];
  if (of.flow) return AppendInBrackets(node, parts, depth);
  // The last of what it holds, whatever that is in.
  uint32_t last = node;
  while (IsCollection(outline_[last]) && !outline_[last].flow) {
    const uint32_t child = json::ChildrenOf(outline_, last).back();
    last = outline_[last].kind == TextNode::Kind::kMapping ? outline_[child].next : child;
  }
  const TextNode& first = outline_[node + 1];
  size_t column = ColumnOf(text_, first.first_byte);
  size_t dash = 2;
  if (of.kind == TextNode::Kind::kSequence) {
    column = ColumnOf(text_, of.begin);
    const size_t item = first.IsEmpty() ? of.begin : first.first_byte;
    const bool beside = item > of.begin && text_.substr(of.begin, item - of.begin).find('\n') ==
                                               std::string_view::npos;
    if (beside) dash = std::clamp<size_t>(item - of.begin, 2, kMostDash);
  }
  AddLines(LineEndOf(outline_[last]), std::string(column, ' '), BlockLines(parts, style_, dash),
           depth);
}

// --- in brackets ---

size_t SpliceWriter::EndOfPart(uint32_t node, uint32_t child) const {
  const TextNode& first = outline_[child];
  if (outline_[node].kind != TextNode::Kind::kMapping) return first.end;
  return std::max(first.end, outline_[first.next].end);
}

std::string SpliceWriter::JsonUnit() const {
  const std::string two(style_.step, ' ');
  if (format_ != TextFormat::kJson || outline_.size() < 2) return two;
  const std::string_view inner = LineBefore(outline_[1].first_byte);
  std::string_view outer = LineBefore(outline_[0].first_byte);
  outer = outer.substr(0, std::min(outer.find_first_not_of(kBlanks), outer.size()));
  if (inner.find_first_not_of(kBlanks) != std::string_view::npos) return two;
  return inner.size() > outer.size() ? std::string(inner.substr(outer.size())) : two;
}

std::string SpliceWriter::JsonLines(const Json& value, const std::string& indent) const {
  const std::string unit = JsonUnit();
  const std::string text = value.dump(static_cast<int>(unit.size()), unit.front());
  std::string lines;
  for (const std::string_view line : Split(text, '\n')) {
    if (!lines.empty()) lines.append(LineBreakAt(text_.size())).append(indent);
    lines += line;
  }
  return lines;
}

std::string SpliceWriter::InBrackets(uint32_t node, uint32_t key, const Json& value) const {
  if (format_ != TextFormat::kJson) {
    return IsLikeJson(key != kNoKey ? key : node) ? JsonLine(value, true)
                                                  : json::EncodeFlowYaml(value);
  }
  const size_t begin = key != kNoKey ? outline_[key].first_byte : outline_[node].begin;
  const std::string indent(LineBefore(begin));
  const bool on_line = indent.find_first_not_of(kBlanks) == std::string::npos && !indent.empty();
  return on_line ? JsonLines(value, indent) : JsonLine(value, IsSpaced(0));
}

// New members or items in brackets, each on one line or, with the indentation of the others, on
// lines that go on with it.
std::vector<std::string> SpliceWriter::PartsInBrackets(uint32_t node, const Json& parts,
                                                       const std::string* indent) const {
  const bool json = IsLikeJson(node);
  const bool spaced = IsSpaced(node);
  std::vector<std::string> texts;
  for (const auto& [key, value] : parts.items()) {
    std::string text;
    if (!json) {
      text = json::EncodeFlowYaml(parts.is_object() ? Json{{key, value}} : value);
      if (parts.is_object()) text = text.substr(1, text.size() - 2);
    } else {
      if (parts.is_object()) text = Json(key).dump() + (spaced ? ": " : ":");
      text += indent == nullptr ? JsonLine(value, spaced) : JsonLines(value, *indent);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

void SpliceWriter::AppendInBrackets(uint32_t node, const Json& parts, size_t depth) {
  const TextNode& of = outline_[node];
  const uint32_t child = json::ChildrenOf(outline_, node).back();
  const std::string indent(LineBefore(outline_[child].first_byte));
  const bool on_lines = indent.find_first_not_of(kBlanks) == std::string::npos &&
                        outline_[child].first_byte - of.begin > indent.size();
  if (on_lines) {
    return AppendOnLines(node, PartsInBrackets(node, parts, &indent), indent, depth);
  }
  std::string added;
  for (const std::string& part : PartsInBrackets(node, parts, nullptr)) {
    added += (IsSpaced(node) ? ", " : ",") + part;
  }
  Insert(EndOfPart(node, child), std::move(added), depth);
}

// Where the parts stand on lines of their own. A comment behind the last one stays there.
void SpliceWriter::AppendOnLines(uint32_t node, const std::vector<std::string>& parts,
                                 const std::string& indent, size_t depth) {
  const size_t end = EndOfPart(node, json::ChildrenOf(outline_, node).back());
  const size_t sign = NextSign(end);
  const bool comma = sign < text_.size() && text_[sign] == ',';
  const size_t behind = comma ? sign + 1 : end;
  // The closing bracket may follow on the same line.
  const size_t line_end = LineEnd(behind);
  const bool closes = NextSign(behind) < line_end;
  const size_t at = closes ? behind : line_end;
  const std::string line_break(LineBreakAt(line_end));
  std::string added;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) added += ',';
    added += line_break + indent + parts[i];
  }
  if (comma) {
    Insert(at, added + ",", depth);
  } else if (at == end) {
    Insert(at, "," + added, depth);
  } else {
    Insert(end, ",", depth);
    Insert(at, std::move(added), depth);
  }
}

// --- instead of what is there ---

std::string SpliceWriter::ScalarLike(const TextNode& old, const Json& value) const {
  if (format_ == TextFormat::kJson) return value.dump();
  const char first = old.IsEmpty() ? ' ' : text_[old.begin];
  if (!value.is_string() || (first != '"' && first != '\'')) return ScalarText(value, style_);
  WrittenStyle same = style_;
  same.quote = first;
  std::string text = ScalarText(value, same);
  if (text.starts_with('"') || text.starts_with('\'')) return text;
  return first == '"' ? value.dump() : "'" + text + "'";
}

bool SpliceWriter::Overwrite(uint32_t node, uint32_t key, bool in_brackets, const Json& value,
                             size_t depth) {
  const TextNode& old = outline_[node];
  const bool collection = IsCollection(old);
  if (collection && old.next != node + 1) return false;
  const std::string_view properties = text_.substr(old.first_byte, old.begin - old.first_byte);
  if (properties.find('!') != std::string_view::npos) return false;
  const bool has_parts = value.is_structured() && !value.empty();
  // A comment between the brackets stays there.
  const bool holds_comment = collection && text_.substr(old.begin, old.end - old.begin).find('#') !=
                                               std::string_view::npos;
  if (has_parts && holds_comment) {
    const std::string text = InBrackets(node, key, value);
    Insert(old.begin + 1, text.substr(1, text.size() - 2), depth);
    return true;
  }
  const size_t end =
      std::max(old.begin, old.IsEmpty() ? old.end : EndOfContent(text_, old.begin, old.end));
  if (!has_parts || in_brackets || key == kNoKey) {
    std::string text = has_parts ? InBrackets(node, key, value) : ScalarLike(old, value);
    const bool beside = old.IsEmpty() && old.begin > 0 &&
                        kSpaces.find(text_[old.begin - 1]) == std::string_view::npos;
    if (beside) text.insert(0, 1, ' ');
    splices_.push_back({old.begin, end - old.begin, std::move(text), depth});
    return true;
  }
  size_t begin = old.begin;
  while (!old.IsEmpty() && begin > 0 && kBlanks.find(text_[begin - 1]) != std::string_view::npos) {
    --begin;
  }
  if (end > begin) splices_.push_back({begin, end - begin, "", depth});
  const size_t step = value.is_array() ? style_.list_step : style_.step;
  AddLines(LineEnd(end), std::string(ColumnOf(text_, outline_[key].first_byte) + step, ' '),
           BlockLines(value, style_), depth);
  return true;
}

}  // namespace mindgate::offline
