#include "deploy/applied_fields.h"

#include <algorithm>
#include <string>

#include "json/decode.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using json::Json;

// Objects in an API server are not nested more deeply.
constexpr int kMaxDepth = 100;

bool HasKeys(const Json& item, const Json& keys) {
  if (!item.is_object() || !keys.is_object()) return false;
  return std::all_of(keys.items().begin(), keys.items().end(), [&item](const auto& key) {
    return item.contains(key.key()) && item.at(key.key()) == key.value();
  });
}

// The part of `value` that `fields` names. "f:x" is a member, "k:{...}" an item of a list by its
// keys, "v:..." an item by its value, "." the value itself; without any of them it is all of it.
Json Part(const Json& value, const Json& fields, int depth) {
  const bool whole = !fields.is_object() || fields.empty();
  if (whole || depth == 0 || !value.is_structured()) return value;
  Json part = value.is_array() ? Json::array() : Json::object();
  for (const auto& [field, below] : fields.items()) {
    const std::string name = field.substr(std::min<size_t>(field.size(), 2));
    if (value.is_object() && field.starts_with("f:")) {
      if (value.contains(name)) part[name] = Part(value.at(name), below, depth - 1);
    } else if (value.is_array() && (field.starts_with("k:") || field.starts_with("v:"))) {
      const auto meant = json::Decode(name, {});
      if (!meant) continue;
      for (const Json& item : value) {
        const bool found = field[0] == 'k' ? HasKeys(item, *meant) : item == *meant;
        if (found) part.push_back(Part(item, below, depth - 1));
      }
    }
  }
  return part;
}

}  // namespace

Json AppliedBy(const Json& object, std::string_view manager) {
  const Json* managers = json::FindPath(object, {"metadata", "managedFields"});
  if (!json::IsArray(managers)) return nullptr;
  for (const Json& entry : *managers) {
    if (json::FindString(entry, "manager") != manager ||
        json::FindString(entry, "operation") != "Apply" || entry.contains("subresource")) {
      continue;
    }
    Json applied = Part(object, entry.value("fieldsV1", Json::object()), kMaxDepth);
    if (!applied.is_object()) return nullptr;
    for (const char* member : {"apiVersion", "kind"}) {
      if (object.contains(member)) applied[member] = object.at(member);
    }
    for (const char* member : {"name", "namespace"}) {
      const Json* written = json::FindPath(object, {"metadata", member});
      if (written != nullptr) applied["metadata"][member] = *written;
    }
    return applied;
  }
  return nullptr;
}

}  // namespace mindgate::deploy
