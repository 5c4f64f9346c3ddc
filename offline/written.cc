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
    if (!written) continue;
    finding.fix.replace(finding.fix.size() - parsed.size(), parsed.size(), Quote(*written));
  }
}

}  // namespace mindgate::offline
