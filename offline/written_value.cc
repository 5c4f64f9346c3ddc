#include "offline/written_value.h"

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

}  // namespace

size_t ColumnOf(std::string_view text, size_t offset) {
  std::string_view line = text.substr(0, offset);
  line.remove_prefix(line.rfind('\n') + 1);  // npos + 1 is 0
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

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

std::string ScalarText(const Json& value, const WrittenStyle& style) {
  constexpr std::string_view kKey = "k: ";
  const std::string text = OneMember("k", value).substr(kKey.size());
  if (text.find('\n') != std::string::npos) return json::EncodeFlowYaml(value);
  return style.quote == '"' && text.starts_with('\'') ? value.dump() : text;
}

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

}  // namespace mindgate::offline
