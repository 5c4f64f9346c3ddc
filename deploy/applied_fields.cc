#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "deploy/apply.h"
#include "deploy/labels.h"
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

// What the manager has applied, in metadata.managedFields; null pointer: nothing.
const Json* EntryOf(const Json& object, std::string_view manager) {
  const Json* managers = json::FindPath(object, {"metadata", "managedFields"});
  if (!json::IsArray(managers)) return nullptr;
  const auto entry = std::find_if(managers->begin(), managers->end(), [manager](const Json& each) {
    return json::FindString(each, "manager") == manager &&
           json::FindString(each, "operation") == "Apply" && !each.contains("subresource");
  });
  return entry == managers->end() ? nullptr : &*entry;
}

// The fields that hold no others, as "f:spec/f:replicas".
void AddLeaves(const Json* fields, const std::string& at, int depth,
               std::set<std::string>& leaves) {
  if (!json::IsObject(fields) || fields->empty() || depth == 0) {
    leaves.insert(at);
    return;
  }
  for (const auto& [name, below] : fields->items()) {
    AddLeaves(&below, at + "/" + name, depth - 1, leaves);
  }
}

}  // namespace

Json AppliedBy(const Json& object, std::string_view manager) {
  const Json* entry = EntryOf(object, manager);
  if (entry == nullptr) return nullptr;
  Json applied = Part(object, entry->value("fieldsV1", Json::object()), kMaxDepth);
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

bool IsAsStored(const Json& live, const Json& stored, bool seeded) {
  Json now = AppliedBy(live, kFieldManager);
  Json then = AppliedBy(stored, kFieldManager);
  if (seeded) {
    for (Json* each : {&now, &then}) {
      if (each->is_object()) each->erase("data");
    }
  }
  return now == then;
}

std::string WhoChanged(const Json& live, const Json& stored) {
  constexpr size_t kMost = 3;
  const Json* now = EntryOf(live, kFieldManager);
  const Json* then = EntryOf(stored, kFieldManager);
  std::set<std::string> lost;
  if (then != nullptr) AddLeaves(json::Find(*then, "fieldsV1"), "", kMaxDepth, lost);
  std::set<std::string> kept;
  if (now != nullptr) AddLeaves(json::Find(*now, "fieldsV1"), "", kMaxDepth, kept);
  for (const std::string& each : kept) lost.erase(each);
  std::vector<std::string> names;
  const Json* managers = json::FindPath(live, {"metadata", "managedFields"});
  if (json::IsArray(managers)) {
    for (const Json& entry : *managers) {
      std::set<std::string> own;
      AddLeaves(json::Find(entry, "fieldsV1"), "", kMaxDepth, own);
      const bool took = std::any_of(
          own.begin(), own.end(), [&lost](const std::string& each) { return lost.contains(each); });
      if (took && &entry != now) {
        names.emplace_back(json::FindString(entry, "manager").value_or("somebody"));
      }
    }
  }
  const bool again = now != nullptr && then != nullptr &&
                     json::FindString(*now, "time") != json::FindString(*then, "time");
  // Nobody but ourselves can change what only we own.
  if (again || names.empty()) names.emplace_back("another mindgate deploy");
  return JoinFirst(names, kMost);
}

}  // namespace mindgate::deploy
