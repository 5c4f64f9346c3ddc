#include "schemas/json_schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"

namespace mindgate::schemas {
namespace {

using json::Json;

// Our own schemas are under 10 deep; this only keeps a schema from outside from overflowing the
// stack.
constexpr int kMaxSchemaDepth = 64;

// A message names the words that would do when they are at most so many.
constexpr size_t kMaxNamed = 12;

constexpr std::array<std::string_view, 6> kAnnotations = {"$schema",     "$id",     "title",
                                                          "description", "default", "examples"};
constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "object", "array",
                                                    "number", "string",  "integer"};

bool IsWhole(const Json& value) {
  const auto* number = value.get_ptr<const Json::number_float_t*>();
  return value.is_number_integer() ||
         (number != nullptr && std::trunc(*number) == *number);  // 3.0 is one in draft 7
}

bool HasType(const Json& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return IsWhole(value);
  return value.is_number();
}

// How a number relates to a bound: below 0, 0 or above 0; 0 for anything but a number. nlohmann's
// own comparison turns unsigned values above int64 into negative ones.
int Compare(const Json& value, int64_t bound) {
  if (const auto* number = value.get_ptr<const Json::number_float_t*>()) {
    const auto as_double = static_cast<double>(bound);
    return *number < as_double ? -1 : (*number > as_double ? 1 : 0);
  }
  if (const auto* number = value.get_ptr<const Json::number_unsigned_t*>()) {
    return std::cmp_less(*number, bound) ? -1 : (std::cmp_greater(*number, bound) ? 1 : 0);
  }
  if (const auto* number = value.get_ptr<const Json::number_integer_t*>()) {
    return *number < bound ? -1 : (*number > bound ? 1 : 0);
  }
  return 0;
}

// "array" to JSON Schema, a list to those who write YAML.
std::string_view WordFor(std::string_view type) { return type == "array" ? "list" : type; }

// "a", "a or b", "a, b or c".
std::string Alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string Show(const Json& value) {
  if (const auto text = json::AsString(&value)) return Quote(*text);
  if (value.is_structured()) return WithArticle(json::TypeName(value));
  return value.dump();
}

}  // namespace

struct JsonSchema::Node {
  std::vector<std::string> types;  // empty: any
  std::optional<std::vector<Json>> allowed;
  std::map<std::string, std::unique_ptr<const Node>, std::less<>> members;
  std::vector<std::string> required;
  bool closed = false;                        // additionalProperties: false
  std::unique_ptr<const Node> other_members;  // additionalProperties: {...}
  std::unique_ptr<const Node> items;
  size_t min_items = 0;
  bool not_empty = false;  // minLength: 1
  std::optional<int64_t> minimum;
  std::optional<int64_t> maximum;
};

JsonSchema::JsonSchema(std::unique_ptr<const Node> root) : root_(std::move(root)) {}
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

Result<JsonSchema> JsonSchema::Compile(const Json& schema) {
  auto root = CompileNode(schema, "", 0);
  if (!root) return tl::unexpected(std::move(root.error()));
  return JsonSchema(*std::move(root));
}

Result<std::unique_ptr<const JsonSchema::Node>> JsonSchema::CompileNode(const Json& schema,
                                                                        const std::string& path,
                                                                        int depth) {
  const auto refuse = [&path](const std::string& why) {
    return Fail(ErrorCode::kInvalidArgument, "schema at \"" + path + "\": " + why);
  };
  if (!schema.is_object()) return refuse("must be an object");
  if (depth > kMaxSchemaDepth) return refuse("is nested too deep");
  auto node = std::make_unique<Node>();
  for (const auto& [keyword, value] : schema.items()) {
    const std::string at = json::Child(path, keyword);
    const std::string quoted = "\"" + keyword + "\"";
    const auto bad = [&quoted, &refuse](std::string_view wanted) {
      return refuse(quoted + " must be " + std::string(wanted));
    };
    if (std::find(kAnnotations.begin(), kAnnotations.end(), keyword) != kAnnotations.end()) {
      continue;
    }
    if (keyword == "type") {
      const Json list = value.is_array() ? value : Json::array({value});
      for (const Json& type : list) {
        const auto name = json::AsString(&type);
        if (!name || std::find(kTypes.begin(), kTypes.end(), *name) == kTypes.end()) {
          return bad("the name of a type, or a list of these");
        }
        node->types.emplace_back(*name);
      }
    } else if (keyword == "enum") {
      if (!value.is_array() || value.empty()) return bad("a list with at least one value");
      node->allowed = value.get<std::vector<Json>>();
    } else if (keyword == "required") {
      if (!value.is_array()) return bad("a list of strings");
      for (const Json& name : value) {
        if (!name.is_string()) return bad("a list of strings");
        node->required.push_back(name.get<std::string>());
      }
    } else if (keyword == "properties") {
      if (!value.is_object()) return bad("an object");
      for (const auto& [name, member] : value.items()) {
        auto compiled = CompileNode(member, json::Child(at, name), depth + 1);
        if (!compiled) return compiled;
        node->members.emplace(name, *std::move(compiled));
      }
    } else if (keyword == "additionalProperties" && value.is_boolean()) {
      node->closed = !value.get<bool>();
    } else if (keyword == "additionalProperties" || keyword == "items") {
      auto compiled = CompileNode(value, at, depth + 1);
      if (!compiled) return compiled;
      (keyword == "items" ? node->items : node->other_members) = *std::move(compiled);
    } else if (keyword == "minItems") {
      const auto count = json::AsInt(&value);
      if (!count || *count < 0) return bad("a whole number, 0 or more");
      node->min_items = static_cast<size_t>(*count);
    } else if (keyword == "minLength") {
      if (value != 1) return bad("1: only emptiness is checked");
      node->not_empty = true;
    } else if (keyword == "minimum" || keyword == "maximum") {
      const auto bound = json::AsInt(&value);
      if (!bound) return bad("a whole number");
      (keyword == "minimum" ? node->minimum : node->maximum) = *bound;
    } else {
      return refuse("unknown keyword " + quoted);
    }
  }
  return std::unique_ptr<const Node>(std::move(node));
}

std::vector<SchemaFault> JsonSchema::Validate(const Json& value) const {
  std::vector<SchemaFault> faults;
  Check(*root_, value, "", faults);
  return faults;
}

void JsonSchema::Check(const Node& node, const Json& value, const std::string& path,
                       std::vector<SchemaFault>& faults) {
  if (!node.types.empty() &&
      std::none_of(node.types.begin(), node.types.end(),
                   [&value](const std::string& type) { return HasType(value, type); })) {
    std::vector<std::string> wanted;
    for (const std::string& type : node.types) {
      if (type != "null") wanted.push_back(WithArticle(WordFor(type)));
    }
    if (wanted.empty()) wanted.emplace_back("null");
    std::string hint;
    if (wanted.front() == "a string" && value.is_primitive() && !value.is_null()) {
      hint = "quote it: \"" + value.dump() + "\"";
    }
    faults.push_back(
        {path, "must be " + Alternatives(wanted) + ", not " + WithArticle(json::TypeName(value)),
         std::move(hint)});
    return;  // what else could be said follows from this
  }
  if (node.allowed &&
      std::find(node.allowed->begin(), node.allowed->end(), value) == node.allowed->end()) {
    std::vector<std::string> shown;
    std::vector<std::string_view> words;
    for (const Json& allowed : *node.allowed) {
      // A boolean beside words is the same word as YAML reads it unquoted (off is false).
      if (!allowed.is_boolean()) shown.push_back(Show(allowed));
      if (const auto word = json::AsString(&allowed)) words.push_back(*word);
    }
    std::string hint;
    if (const auto word = json::AsString(&value)) {
      if (const auto near = NearestOf(*word, words)) hint = "did you mean " + Quote(*near) + "?";
    }
    std::string message = Show(value) + " is not allowed here";
    const auto truth = json::AsBool(&value);
    if (truth && !words.empty()) {
      message += *truth ? " (YAML reads on, yes and true as true)"
                        : " (YAML reads off, no and false as false)";
      if (*truth && std::erase(words, "off") > 0) {
        std::erase(words, "");
        hint = "write " + OneOf(words) + " to switch it on";
      }
    }
    if (shown.size() <= kMaxNamed) message += ": must be " + Alternatives(shown);
    faults.push_back({path, std::move(message), std::move(hint)});
  }
  if (const auto* text = value.get_ptr<const std::string*>()) {
    if (node.not_empty && text->empty()) faults.push_back({path, "must not be empty", ""});
  }
  if (node.minimum && Compare(value, *node.minimum) < 0) {
    faults.push_back({path, value.dump() + " is too small",
                      "write " + std::to_string(*node.minimum) + " or more"});
  }
  if (node.maximum && Compare(value, *node.maximum) > 0) {
    faults.push_back({path, value.dump() + " is too large",
                      "write " + std::to_string(*node.maximum) + " or less"});
  }
  if (value.is_array()) {
    if (value.size() < node.min_items) {
      faults.push_back({path,
                        "needs at least " + std::to_string(node.min_items) +
                            (node.min_items == 1 ? " item" : " items"),
                        ""});
    }
    if (node.items != nullptr) {
      for (size_t i = 0; i < value.size(); ++i) {
        Check(*node.items, value[i], json::Child(path, i), faults);
      }
    }
  }
  if (value.is_object()) CheckMembers(node, value, path, faults);
}

void JsonSchema::CheckMembers(const Node& node, const Json& object, const std::string& path,
                              std::vector<SchemaFault>& faults) {
  for (const std::string& name : node.required) {
    if (!object.contains(name)) {
      faults.push_back({json::Child(path, name), Quote(name) + " is missing", "add " + name + ":"});
    }
  }
  for (const auto& [name, value] : object.items()) {
    const std::string at = json::Child(path, name);
    if (const auto known = node.members.find(name); known != node.members.end()) {
      Check(*known->second, value, at, faults);
    } else if (node.other_members != nullptr) {
      Check(*node.other_members, value, at, faults);
    } else if (node.closed) {
      std::vector<std::string_view> names;
      for (const auto& member : node.members) names.push_back(member.first);
      std::string hint;
      if (const auto near = NearestOf(name, names)) {
        hint = "did you mean " + Quote(*near) + "?";
      } else if (names.size() <= kMaxNamed) {
        hint = "known keys: " + Join(names, ", ");
      }
      faults.push_back({at, "unknown key " + Quote(name), std::move(hint)});
    }
  }
}

json::Issue ToIssue(const SchemaFault& fault, const Json& root, const json::Positions& positions,
                    std::string_view base) {
  return {positions.At(std::string(base) + fault.path), json::FieldPath(root, fault.path),
          fault.message, fault.hint};
}

}  // namespace mindgate::schemas
