#include "kube/fake_fields.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace mindgate::kube::testing {
namespace {

// Steps from the root to a field, as FieldsV1 writes them: "f:spec", "k:{\"name\":\"a\"}", and "."
// at the end for a list item as such.
using Path = std::vector<std::string>;
using Fields = std::set<Path>;

struct Owner {
  FieldManager manager;
  bool applied = false;  // operation Apply, else Update
  std::string time;
  Fields fields;
};

// The key of the items of a list, by the list's name; null: the list is one value.
const char* ItemKey(const std::string& list) {
  static const std::map<std::string, const char*> kKeys = {
      {"containers", "name"},     {"initContainers", "name"},    {"env", "name"},
      {"volumes", "name"},        {"volumeMounts", "mountPath"}, {"imagePullSecrets", "name"},
      {"conditions", "type"},     {"ownerReferences", "uid"},    {"webhooks", "name"},
      {"schedulingGates", "name"}};
  const auto found = kKeys.find(list);
  return found == kKeys.end() ? nullptr : found->second;
}

std::optional<std::string> ItemStep(const Json& item, const char* key) {
  if (!item.is_object() || !item.contains(key)) return std::nullopt;
  return "k:" + Json{{key, item.at(key)}}.dump();
}

// What nobody owns: the identity of the object and what the server sets.
bool IsSystem(const Path& path) {
  static const std::set<Path> kSystem = {{"f:apiVersion"},
                                         {"f:kind"},
                                         {"f:metadata", "f:name"},
                                         {"f:metadata", "f:namespace"},
                                         {"f:metadata", "f:uid"},
                                         {"f:metadata", "f:resourceVersion"},
                                         {"f:metadata", "f:generation"},
                                         {"f:metadata", "f:creationTimestamp"},
                                         {"f:metadata", "f:deletionTimestamp"},
                                         {"f:metadata", "f:deletionGracePeriodSeconds"},
                                         {"f:metadata", "f:selfLink"},
                                         {"f:metadata", "f:managedFields"}};
  return kSystem.contains(path);
}

class Leaves {
 public:
  static Fields Of(const Json& object, bool custom) {
    Leaves leaves(custom);
    if (object.is_object()) leaves.AddObject(object);
    return std::move(leaves.found_);
  }

 private:
  explicit Leaves(bool custom) : custom_(custom) {}

  void AddObject(const Json& object) {
    for (const auto& [key, value] : object.items()) {
      path_.push_back("f:" + key);
      if (!IsSystem(path_)) AddValue(key, value);
      path_.pop_back();
    }
  }

  void AddValue(const std::string& key, const Json& value) {
    // A list of conditions merges in custom resources too when their schema says so; ours do not.
    const char* item_key = custom_ && path_[0] != "f:metadata" ? nullptr : ItemKey(key);
    if (value.is_object() && !value.empty()) {
      AddObject(value);
    } else if (value.is_array() && item_key != nullptr && AllHave(value, item_key)) {
      for (const Json& item : value) {
        path_.push_back(*ItemStep(item, item_key));
        path_.push_back(".");
        found_.insert(path_);
        path_.pop_back();
        AddObject(item);
        path_.pop_back();
      }
    } else {
      found_.insert(path_);
    }
  }

  static bool AllHave(const Json& list, const char* key) {
    return std::all_of(list.begin(), list.end(),
                       [key](const Json& item) { return ItemStep(item, key).has_value(); });
  }

  const bool custom_;
  Path path_;
  Fields found_;
};

// The member or item that a step leads to; null: there is none.
const Json* StepInto(const Json& value, const std::string& step) {
  const std::string rest = step.substr(2);
  if (step.starts_with("f:")) {
    const auto found = value.is_object() ? value.find(rest) : value.end();
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  const Json want = Json::parse(rest);
  const auto key = want.begin();
  for (const Json& item : value) {
    if (item.is_object() && item.value(key.key(), Json()) == key.value()) return &item;
  }
  return nullptr;
}

const Json* At(const Json& object, const Path& path) {
  const Json* at = &object;
  for (const std::string& step : path) {
    if (step == ".") return at;
    at = StepInto(*at, step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

void SetAt(Json& object, const Path& path, const Json& value) {
  Json* at = &object;
  for (const std::string& step : path) {
    if (step == ".") return;  // that the item is there is all
    if (step.starts_with("f:")) {
      if (at->is_null()) *at = Json::object();
      at = &(*at)[step.substr(2)];
      continue;
    }
    if (!at->is_array()) *at = Json::array();
    const Json* found = StepInto(*at, step);
    if (found == nullptr) {
      at->push_back(Json::parse(step.substr(2)));
      at = &at->back();
    } else {
      at = const_cast<Json*>(found);
    }
  }
  *at = value;
}

// With the maps and lists that become empty by it.
void RemoveAt(Json& value, const Path& path, size_t depth = 0) {
  Json* next = const_cast<Json*>(StepInto(value, path[depth]));
  if (next == nullptr) return;
  const bool item = depth + 2 == path.size() && path.back() == ".";
  if (depth + 1 < path.size() && !item) {
    RemoveAt(*next, path, depth + 1);
    if (!(next->is_object() || next->is_array()) || !next->empty()) return;
  }
  if (value.is_object()) {
    value.erase(path[depth].substr(2));
  } else {
    value.erase(value.begin() + (next - &value[0]));
  }
}

Json ToFieldsV1(const Fields& fields) {
  Json tree = Json::object();
  for (const Path& path : fields) {
    Json* at = &tree;
    for (const std::string& step : path) {
      at = &(*at)[step];
      if (at->is_null()) *at = Json::object();
    }
  }
  return tree;
}

void FromFieldsV1(const Json& tree, Path& path, Fields& fields) {
  if (tree.empty() && !path.empty()) fields.insert(path);
  for (const auto& [step, below] : tree.items()) {
    path.push_back(step);
    FromFieldsV1(below, path, fields);
    path.pop_back();
  }
}

std::vector<Owner> OwnersOf(const Json& object) {
  std::vector<Owner> owners;
  if (!object.is_object() || !object.at("metadata").contains("managedFields")) return owners;
  for (const Json& entry : object["metadata"]["managedFields"]) {
    Owner owner{
        {entry.value("manager", ""), entry.value("apiVersion", ""), entry.value("subresource", "")},
        entry.value("operation", "") == "Apply",
        entry.value("time", ""),
        {}};
    Path path;
    FromFieldsV1(entry.value("fieldsV1", Json::object()), path, owner.fields);
    owners.push_back(std::move(owner));
  }
  return owners;
}

void SetOwners(Json& object, const std::vector<Owner>& owners) {
  Json entries = Json::array();
  for (const Owner& owner : owners) {
    if (owner.fields.empty()) continue;
    Json entry = {{"manager", owner.manager.name},
                  {"operation", owner.applied ? "Apply" : "Update"},
                  {"apiVersion", owner.manager.api_version},
                  {"time", owner.time},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", ToFieldsV1(owner.fields)}};
    if (!owner.manager.subresource.empty()) entry["subresource"] = owner.manager.subresource;
    entries.push_back(std::move(entry));
  }
  object["metadata"].erase("managedFields");
  if (!entries.empty()) object["metadata"]["managedFields"] = std::move(entries);
}

Owner& OwnerFor(std::vector<Owner>& owners, const FieldManager& manager, bool applied) {
  for (Owner& owner : owners) {
    if (owner.manager.name == manager.name && owner.applied == applied &&
        owner.manager.subresource == manager.subresource) {
      owner.manager.api_version = manager.api_version;
      return owner;
    }
  }
  owners.push_back({manager, applied, "", {}});
  return owners.back();
}

// ".spec.template.spec.containers[name=\"a\"].image"
std::string Printed(const Path& path) {
  std::string text;
  for (const std::string& step : path) {
    if (step == ".") continue;
    if (step.starts_with("f:")) {
      text += "." + step.substr(2);
      continue;
    }
    const Json key = Json::parse(step.substr(2));
    text += "[" + key.begin().key() + "=" + key.begin().value().dump() + "]";
  }
  return text;
}

std::string Printed(const Owner& owner) {
  std::string text = "\"" + owner.manager.name + "\"";
  if (!owner.manager.subresource.empty()) {
    text += " with subresource \"" + owner.manager.subresource + "\"";
  }
  if (!owner.applied) text += " using " + owner.manager.api_version;
  return text;
}

// Whether a field is there, or one below the list item that `path` means.
bool HasAtOrBelow(const Fields& fields, const Path& path) {
  if (path.back() != ".") return fields.contains(path);
  const size_t depth = path.size() - 1;
  return std::any_of(fields.begin(), fields.end(), [&path, depth](const Path& field) {
    return field.size() > depth && std::equal(field.begin(), field.begin() + depth, path.begin());
  });
}

Refusal ApplyConflict(const std::vector<std::pair<const Owner*, Path>>& conflicts) {
  Json causes = Json::array();
  std::map<std::string, std::string> fields;  // by who owns them, as a list
  for (const auto& [owner, path] : conflicts) {
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + Printed(*owner)},
                      {"field", Printed(path)}});
    fields[Printed(*owner)] += "\n- " + Printed(path);
  }
  std::string text = "Apply failed with " + std::to_string(conflicts.size());
  if (conflicts.size() == 1) {
    text += " conflict: conflict with " + Printed(*conflicts[0].first) + ": " +
            Printed(conflicts[0].second);
  } else {
    const char* separator = " conflicts: ";
    for (const auto& [owner, list] : fields) {
      text += std::exchange(separator, "\n") + ("conflicts with " + owner) + ":" + list;
    }
  }
  return StatusOf(409, "Conflict", text, {{"causes", causes}});
}

}  // namespace

void OwnUpdate(const Json& before, Json& next, const FieldManager& manager, bool custom,
               const std::string& now) {
  std::vector<Owner> owners = OwnersOf(before);
  const Fields old_fields = Leaves::Of(before, custom);
  const Fields fields = Leaves::Of(next, custom);
  Fields changed;
  for (const Path& path : fields) {
    const Json* old = old_fields.contains(path) ? At(before, path) : nullptr;
    if (old == nullptr || (path.back() != "." && *old != *At(next, path))) changed.insert(path);
  }
  for (Owner& owner : owners) {
    std::erase_if(owner.fields, [&](const Path& path) {
      return changed.contains(path) || !fields.contains(path);
    });
  }
  if (!changed.empty()) {
    Owner& owner = OwnerFor(owners, manager, false);
    owner.fields.merge(changed);
    owner.time = now;
  }
  SetOwners(next, owners);
}

Outcome<Json> ApplyFields(const Json& live, const Json& patch, const FieldManager& manager,
                          bool force, bool custom, const std::string& now) {
  std::vector<Owner> owners = OwnersOf(live);
  const Fields wanted = Leaves::Of(patch, custom);
  OwnerFor(owners, manager, true);  // before pointers into `owners` are taken
  std::vector<std::pair<const Owner*, Path>> conflicts;
  for (Owner& owner : owners) {
    if (owner.applied && owner.manager.name == manager.name &&
        owner.manager.subresource == manager.subresource) {
      continue;
    }
    std::vector<Path> taken;
    for (const Path& path : owner.fields) {
      if (!wanted.contains(path) || path.back() == ".") continue;
      const Json* value = At(live, path);
      if (value == nullptr || *value != *At(patch, path)) taken.push_back(path);
    }
    for (Path& path : taken) {
      if (force) {
        owner.fields.erase(path);
      } else {
        conflicts.emplace_back(&owner, std::move(path));
      }
    }
  }
  if (!conflicts.empty()) return Refuse(ApplyConflict(conflicts));

  Json next = live.is_object() ? live : Json{{"metadata", Json::object()}};
  Owner& own = OwnerFor(owners, manager, true);
  for (const Path& path : own.fields) {
    const bool shared = std::any_of(owners.begin(), owners.end(), [&](const Owner& owner) {
      return &owner != &own && HasAtOrBelow(owner.fields, path);
    });
    if (!wanted.contains(path) && !shared) RemoveAt(next, path);
  }
  for (const Path& path : wanted) SetAt(next, path, *At(patch, path));
  for (const char* name : {"apiVersion", "kind"}) next[name] = patch.at(name);
  if (own.fields != wanted || own.time.empty()) own.time = now;
  own.fields = wanted;
  SetOwners(next, owners);
  return next;
}

}  // namespace mindgate::kube::testing
