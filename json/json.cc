#include "json/json.h"

#include <nlohmann/json.hpp>

namespace mindgate::json {

Type TypeOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return Type::kBool;
    case Json::value_t::number_integer:
      return Type::kInt;
    case Json::value_t::number_unsigned:
      return Type::kUnsigned;
    case Json::value_t::number_float:
      return Type::kDouble;
    case Json::value_t::string:
      return Type::kString;
    case Json::value_t::array:
      return Type::kList;
    case Json::value_t::object:
      return Type::kObject;
    default:
      return Type::kNull;
  }
}

const Json* Lookup(const Json& value, std::string_view key) {
  const auto* object = value.get_ptr<const Json::object_t*>();
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &found->second;
}

std::optional<std::string_view> TextOf(const Json& value) {
  const auto* text = value.get_ptr<const Json::string_t*>();
  if (text == nullptr) return std::nullopt;
  return std::string_view(*text);
}

std::optional<int64_t> IntOf(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<bool> BoolOf(const Json& value) {
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

std::string_view NameOf(Type type) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kBool:
      return "boolean";
    case Type::kInt:
    case Type::kUnsigned:
      return "integer";
    case Type::kDouble:
      return "number";
    case Type::kString:
      return "string";
    case Type::kList:
      return "list";
    case Type::kObject:
      return "object";
  }
  return "null";
}

}  // namespace mindgate::json
