#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace mindgate::json {

// A tree that is built or changed: configuration, output, what is sent to an API server. Objects
// keep their keys sorted. What is only read is a Value (value.h, which also has how both are read).
using Json = nlohmann::json;

enum class Type : uint8_t { kNull, kBool, kInt, kUnsigned, kDouble, kString, kList, kObject };

Type TypeOf(const Json& value);
// The member as it is written, null included; null pointer when there is none.
const Json* Lookup(const Json& value, std::string_view key);
// Nothing when the type is another one. A string view lives as long as its owner.
std::optional<std::string_view> TextOf(const Json& value);
std::optional<int64_t> IntOf(const Json& value);  // integers only: 1.0 and "1" give nothing
std::optional<bool> BoolOf(const Json& value);

// What a message calls the value's type: "string", "integer", "number", "boolean", "object",
// "list", "null".
std::string_view NameOf(Type type);

}  // namespace mindgate::json
