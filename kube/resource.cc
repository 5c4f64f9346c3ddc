#include "kube/resource.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::kube {
namespace {

void SkipDigits(std::string_view& text) {
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
}

// "v1", and "beta" or "alpha" of the same form.
bool SkipNumbered(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const size_t before = text.size();
  SkipDigits(text);
  return text.size() < before;
}

}  // namespace

bool IsVersion(std::string_view version) {
  if (!SkipNumbered(version, "v")) return false;
  return version.empty() ||
         ((SkipNumbered(version, "alpha") || SkipNumbered(version, "beta")) && version.empty());
}

std::string PathOf(const Resource& resource, std::string_view ns, std::string_view name,
                   std::string_view subresource) {
  if (!IsVersion(resource.version) || resource.plural.empty()) return "";
  std::string path;
  bool valid = true;
  const auto add = [&](std::string_view segment) {
    valid = valid && segment != "." && segment != "..";
    path += "/" + PercentEncoded(segment);
  };
  add(resource.group.empty() ? "api" : "apis");
  if (!resource.group.empty()) add(resource.group);
  add(resource.version);
  if (resource.namespaced && !ns.empty()) {
    add("namespaces");
    add(ns);
  }
  add(resource.plural);
  if (!name.empty()) add(name);
  if (!subresource.empty()) add(subresource);
  return valid ? path : "";
}

namespace {

using json::Json;

constexpr std::string_view kLabelLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool IsLabelKey(std::string_view key) {
  const size_t slash = key.find('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  const std::string_view prefix = slash == std::string_view::npos ? "" : key.substr(0, slash);
  return !name.empty() && name.find_first_not_of(kLabelLetters) == std::string_view::npos &&
         prefix.find_first_not_of(kLabelLetters) == std::string_view::npos && slash != 0;
}

// At commas that stand outside of parentheses.
std::vector<std::string_view> SplitRequirements(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') inside = true;
    if (text[at] == ')') inside = false;
    if (text[at] != ',' || inside) continue;
    parts.push_back(Trim(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(Trim(text.substr(begin)));
  return parts;
}

// One requirement in its parts; "a in (b)" has the operator "In".
struct Written {
  std::string_view key;
  const char* op = "Exists";
  std::vector<std::string_view> values{};
};

Result<Written> ReadRequirement(std::string_view text) {
  if (text.starts_with('!')) return Written{Trim(text.substr(1)), "DoesNotExist"};
  if (const size_t open = text.find('('); open != std::string_view::npos) {
    const std::string_view before = Trim(text.substr(0, open));
    const size_t space = before.find_last_of(" \t");
    const std::string_view word = space == std::string_view::npos ? "" : before.substr(space + 1);
    if (!text.ends_with(')') || (word != "in" && word != "notin")) {
      return Fail(ErrorCode::kInvalidArgument,
                  Quote(text) + " is not a requirement: write key in (a,b) or key notin (a,b)");
    }
    Written parts{Trim(before.substr(0, space)), word == "in" ? "In" : "NotIn"};
    for (std::string_view value : Split(text.substr(open + 1, text.size() - open - 2), ',')) {
      parts.values.push_back(Trim(value));
    }
    return parts;
  }
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return Written{text};
  const bool differs = equals > 0 && text[equals - 1] == '!';
  const size_t after = equals + (text.substr(equals).starts_with("==") ? 2 : 1);
  return Written{Trim(text.substr(0, equals - (differs ? 1 : 0))),
                 differs ? "NotIn" : "In",
                 {Trim(text.substr(after))}};
}

bool Requires(const Json& requirement, const Json* labels) {
  const auto op = json::FindString(requirement, "operator").value_or("");
  const auto value = json::FindString(labels, json::FindString(requirement, "key").value_or(""));
  const Json* values = json::Find(requirement, "values");
  const bool listed = value && json::IsArray(values) &&
                      std::any_of(values->begin(), values->end(),
                                  [&](const Json& one) { return json::AsString(&one) == value; });
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return value.has_value();
  return op == "DoesNotExist" && !value;
}

}  // namespace

Result<Json> ParseLabelSelector(std::string_view text) {
  Json requirements = Json::array();
  for (std::string_view part : SplitRequirements(text)) {
    if (part.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a requirement is empty: write key=value");
    }
    const auto parts = ReadRequirement(part);
    if (!parts) return tl::unexpected(parts.error());
    if (!IsLabelKey(parts->key)) {
      return Fail(ErrorCode::kInvalidArgument,
                  Quote(parts->key) + " is not the key of a label: write key=value");
    }
    for (std::string_view value : parts->values) {
      if (value.find_first_not_of(kLabelLetters) == std::string_view::npos) continue;
      return Fail(ErrorCode::kInvalidArgument, Quote(value) + " cannot be the value of a label");
    }
    Json requirement = {{"key", parts->key}, {"operator", parts->op}};
    if (!parts->values.empty()) requirement["values"] = parts->values;
    requirements.push_back(std::move(requirement));
  }
  return Json{{"matchExpressions", std::move(requirements)}};
}

bool Selects(const Json* selector, const Json* labels) {
  const Json* equal = json::Find(selector, "matchLabels");
  if (json::IsObject(equal)) {
    for (const auto& [key, value] : equal->items()) {
      if (json::FindString(labels, key) != json::AsString(&value)) return false;
    }
  }
  const Json* requirements = json::Find(selector, "matchExpressions");
  return !json::IsArray(requirements) ||
         std::all_of(requirements->begin(), requirements->end(),
                     [&](const Json& requirement) { return Requires(requirement, labels); });
}

}  // namespace mindgate::kube
