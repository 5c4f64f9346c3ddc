#include "offline/written.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/pointer.h"
#include "json/text_places.h"
#include "json/yaml.h"

namespace mindgate::offline {
namespace {

bool IsPlain(const json::Value& value) { return value.is_number() || value.is_boolean(); }

// What stands at a place, up to where a plain scalar of YAML or JSON may end.
std::string_view WordAt(std::string_view text, json::Position at) {
  if (at.line < 1 || at.column < 1) return {};
  std::string_view line = json::internal::LineOf(text, at.line);
  const size_t begin = static_cast<size_t>(at.column) - 1;
  if (begin >= line.size()) return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_first_of(" \t\r,]}"));
}

}  // namespace

std::optional<std::string> AsWritten(const Source& source, Document& document,
                                     const std::string& path, const json::Value& value) {
  if (!IsPlain(value)) return std::nullopt;
  const std::string_view word = WordAt(source.input.text, document.At(path));
  if (word.empty() || json::ResolvePlainScalar(word) != json::TreeOf(value)) return std::nullopt;
  return std::string(word);
}

void QuoteAsWritten(const InputObject& input, const json::Value& after,
                    std::vector<policies::Finding>& findings) {
  if (input.source == nullptr || input.document == nullptr) return;
  for (policies::Finding& finding : findings) {
    const json::Value* value = json::Resolve(after, finding.path);
    if (value == nullptr || !IsPlain(*value)) continue;
    const std::string parsed = Quote(json::Dump(*value));
    if (!finding.fix.ends_with(parsed)) continue;
    const auto written =
        AsWritten(*input.source, *input.document, input.path + finding.path, *value);
    const bool as_text = finding.right && !finding.right->is_number;
    if (!written && as_text) finding.right.reset();
    if (!written) continue;
    finding.fix.replace(finding.fix.size() - parsed.size(), parsed.size(), Quote(*written));
    if (as_text) finding.right->text = *written;
  }
}

namespace {

// What remains of the text from that line on; empty beyond its end.
std::string_view FromLine(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// Spaces before the content: that of the first line that has any.
size_t IndentOf(std::string_view block) {
  while (!block.empty()) {
    const std::string_view line = FirstLine(block);
    const size_t indent = line.find_first_not_of(" \r");
    if (indent != std::string_view::npos) return indent;
    block.remove_prefix(line.size() == block.size() ? line.size() : line.size() + 1);
  }
  return 0;
}

}  // namespace

std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within) {
  if (at.line < 1 || at.column < 1 || within.line < 1) return std::nullopt;
  const std::string_view header = FirstLine(FromLine(text, at.line));
  const size_t column = static_cast<size_t>(at.column) - 1;
  if (column >= header.size() || header[column] != '|') return std::nullopt;
  const std::string_view block = FromLine(text, at.line + 1);
  return json::Position{at.line + within.line, within.column + static_cast<int>(IndentOf(block))};
}

}  // namespace mindgate::offline
