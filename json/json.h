#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace mindgate::json {

// The tree that everything above this folder reads. Objects keep their keys sorted, so that
// whatever is derived from them does not depend on the order in which a user wrote them.
using Json = nlohmann::json;

// Member `key` of an object; null pointer when `value` is not an object, lacks the key, or holds
// null there: to Kubernetes an explicit null is an absent member.
const Json* Find(const Json& value, std::string_view key);
inline const Json* Find(const Json* value, std::string_view key) {
  return value == nullptr ? nullptr : Find(*value, key);
}

// Same along a chain of members: Find(object, {"spec", "template", "spec"}).
const Json* FindPath(const Json* value, std::initializer_list<std::string_view> keys);
inline const Json* FindPath(const Json& value, std::initializer_list<std::string_view> keys) {
  return FindPath(&value, keys);
}

// The value when it has the wanted type, else nothing. A string view lives as long as the tree.
std::optional<std::string_view> AsString(const Json* value);
std::optional<int64_t> AsInt(const Json* value);  // integers only: 1.0 and "1" give nothing
std::optional<bool> AsBool(const Json* value);
bool IsObject(const Json* value);
bool IsArray(const Json* value);

// Shorthand for AsString(Find(value, key)).
std::optional<std::string_view> FindString(const Json* value, std::string_view key);
inline std::optional<std::string_view> FindString(const Json& value, std::string_view key) {
  return FindString(&value, key);
}

// What a message calls the value's type: "string", "integer", "number", "boolean", "object",
// "list", "null".
std::string_view TypeName(const Json& value);

}  // namespace mindgate::json
