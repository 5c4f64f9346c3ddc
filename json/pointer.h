#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "json/value.h"

namespace mindgate::json {

// Appends one RFC 6901 token to a pointer: '~' becomes "~0" and '/' becomes "~1".
std::string Child(std::string_view pointer, std::string_view key);
std::string Child(std::string_view pointer, size_t index);

// Where the token that begins with the '/' at `begin` ends.
size_t TokenEnd(std::string_view pointer, size_t begin);

// Appends what the escaped token stands for; false when it is not a valid token.
bool Unescape(std::string_view token, std::string& out);

// The unescaped tokens of a pointer; nothing when it is not an RFC 6901 pointer.
std::optional<std::vector<std::string>> Tokens(std::string_view pointer);

// The number that a token denotes as an index into a list: decimal, no sign, no leading zero ("-"
// is none).
std::optional<size_t> ListIndex(std::string_view token);

// The value at `pointer`, null pointer when there is none. Unlike Find, a JSON null is returned as
// itself.
const Json* Resolve(const Json& root, std::string_view pointer);
const Value* Resolve(const Value& root, std::string_view pointer);

// The pointer as Kubernetes prints field paths:
// "spec.containers[0].resources.limits[huawei.com/Ascend910]". List items by index; map keys that
// are not plain identifiers in brackets. `root` tells lists from maps; below what exists in it a
// token counts as a map key. The root itself is "". Text that is not a pointer is returned
// unchanged.
std::string FieldPath(const Json& root, std::string_view pointer);
std::string FieldPath(const Value& root, std::string_view pointer);

}  // namespace mindgate::json
