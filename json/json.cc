#include "json/json.h"

#include <nlohmann/json.hpp>

namespace mindgate::json {

const Json* Find(const Json& value, std::string_view key) {
  const auto* object = value.get_ptr<const Json::object_t*>();
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  if (found == object->end() || found->second.is_null()) return nullptr;
  return &found->second;
}

const Json* FindPath(const Json* value, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) {
    if (value == nullptr) return nullptr;
    value = Find(*value, key);
  }
  return value;
}

std::optional<std::string_view> AsString(const Json* value) {
  if (value == nullptr) return std::nullopt;
  const auto* text = value->get_ptr<const Json::string_t*>();
  if (text == nullptr) return std::nullopt;
  return std::string_view(*text);
}

std::optional<int64_t> AsInt(const Json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  return value->get<int64_t>();
}

std::optional<bool> AsBool(const Json* value) {
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

bool IsObject(const Json* value) { return value != nullptr && value->is_object(); }
bool IsArray(const Json* value) { return value != nullptr && value->is_array(); }

std::optional<std::string_view> FindString(const Json* value, std::string_view key) {
  return AsString(Find(value, key));
}

std::string_view TypeName(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_object()) return "object";
  if (value.is_array()) return "list";
  return "null";
}

}  // namespace mindgate::json
