#include "kube/fake_selectors.h"

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::kube::testing {
namespace {

// At commas outside of parentheses.
std::vector<std::string_view> SplitTop(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view part = Trim(text.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

// What stands before and after `separator`; nothing when it does not occur.
std::optional<std::pair<std::string, std::string>> CutAt(std::string_view text,
                                                         std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(Trim(text.substr(0, at))),
                   std::string(Trim(text.substr(at + separator.size()))));
}

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

Outcome<Selectors::Requirement> Selectors::ParseLabel(std::string_view text) {
  for (const bool in : {false, true}) {
    const auto parts = CutAt(text, in ? " in " : " notin ");
    if (!parts) continue;
    std::string_view list = parts->second;
    if (list.size() < 2 || list.front() != '(' || list.back() != ')') {
      return Refuse(
          BadRequest("unable to parse requirement: found '" + parts->second + "', expected: '('"));
    }
    Requirement made{parts->first, in ? Operator::kIn : Operator::kNotIn};
    list = list.substr(1, list.size() - 2);
    for (const std::string_view value : Split(list, ',')) made.values.emplace_back(Trim(value));
    return made;
  }
  for (const auto& [sign, op] : {std::pair("!=", Operator::kNotIn), std::pair("==", Operator::kIn),
                                 std::pair("=", Operator::kIn)}) {
    if (const auto parts = CutAt(text, sign)) return Requirement{parts->first, op, {parts->second}};
  }
  if (text.find(' ') != std::string_view::npos) {
    return Refuse(BadRequest("unable to parse requirement: found '" + std::string(text) + "'"));
  }
  if (text.starts_with('!')) return Requirement{std::string(text.substr(1)), Operator::kAbsent};
  return Requirement{std::string(text), Operator::kExists};
}

Outcome<Selectors> Selectors::Parse(const std::string& labels, const std::string& fields,
                                    const std::vector<std::string>& known_fields) {
  Selectors selectors;
  for (const std::string_view part : SplitTop(labels)) {
    auto requirement = ParseLabel(part);
    if (!requirement) return Refuse(requirement.error());
    selectors.labels_.push_back(*std::move(requirement));
  }
  for (const std::string_view part : SplitTop(fields)) {
    auto requirement = ParseLabel(part);
    if (!requirement || requirement->values.size() != 1) {
      return Refuse(BadRequest("invalid field selector: '" + std::string(part) + "'"));
    }
    if (!Contains(known_fields, requirement->key)) {
      return Refuse(BadRequest("field label not supported: \"" + requirement->key +
                               "\" is not a known field selector"));
    }
    selectors.fields_.push_back(*std::move(requirement));
  }
  return selectors;
}

Selectors Selectors::FromObject(const Json& selector) {
  Selectors selectors;
  const Json labels = selector.value("matchLabels", Json::object());
  for (const auto& [key, value] : labels.items()) {
    selectors.labels_.push_back({key, Operator::kIn, {value.get<std::string>()}});
  }
  for (const Json& expression : selector.value("matchExpressions", Json::array())) {
    const std::string op = expression.value("operator", "");
    selectors.labels_.push_back({expression.value("key", ""),
                                 op == "In"       ? Operator::kIn
                                 : op == "NotIn"  ? Operator::kNotIn
                                 : op == "Exists" ? Operator::kExists
                                                  : Operator::kAbsent,
                                 expression.value("values", std::vector<std::string>())});
  }
  return selectors;
}

bool Selectors::Matches(const Json& object) const {
  const Json* labels = json::FindPath(object, {"metadata", "labels"});
  for (const Requirement& want : labels_) {
    const auto value = json::FindString(labels, want.key);
    const bool listed = value && Contains(want.values, *value);
    const bool holds = want.op == Operator::kIn       ? listed
                       : want.op == Operator::kNotIn  ? !listed
                       : want.op == Operator::kExists ? value.has_value()
                                                      : !value.has_value();
    if (!holds) return false;
  }
  for (const Requirement& want : fields_) {
    const Json* at = &object;
    for (const std::string_view key : Split(want.key, '.')) at = json::Find(at, key);
    // A field that is not set has the empty value.
    const bool listed = Contains(want.values, json::AsString(at).value_or(""));
    if (listed != (want.op == Operator::kIn)) return false;
  }
  return true;
}

}  // namespace mindgate::kube::testing
