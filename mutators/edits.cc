#include "mutators/edits.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "json/pointer.h"

namespace mindgate::mutators {
namespace {

using json::Json;
using json::Value;

// How much of a path exists in an object.
struct Reach {
  size_t length = 0;               // up to the end of the first token that is missing or null
  const Value* holder = nullptr;   // what holds that token
  const Value* present = nullptr;  // null pointer: something is missing
};

Reach Follow(const Value& object, std::string_view path) {
  Reach reach{0, nullptr, &object};
  while (reach.length < path.size()) {
    const size_t begin = reach.length;
    reach.length = json::TokenEnd(path, begin);
    reach.holder = reach.present;
    reach.present = json::Resolve(*reach.holder, path.substr(begin, reach.length - begin));
    if (reach.present != nullptr && reach.present->is_null()) reach.present = nullptr;
    if (reach.present == nullptr) break;
  }
  return reach;
}

bool SameType(const Value& value, Json::value_t type) {
  switch (type) {
    case Json::value_t::string:
      return value.is_string();
    case Json::value_t::array:
      return value.is_array();
    case Json::value_t::object:
      return value.is_object();
    default:
      return false;
  }
}

// Whether a value of that type may stand at the path: every parent that exists is a map there, and
// what stands there already (a default of the API server) has the same type.
bool Fits(const Reach& reach, Json::value_t type) {
  return reach.present != nullptr ? SameType(*reach.present, type) : reach.holder->is_object();
}

// Puts `value` below `root` at the relative pointer, creating maps and, for "-", lists.
void PutBelow(Json& root, std::string_view relative, const Json& value) {
  Json* at = &root;
  const auto tokens = json::Tokens(relative);
  if (!tokens) return;
  for (const std::string& token : *tokens) {
    if (token == "-") {
      if (!at->is_array()) *at = Json::array();
      at = &at->emplace_back();
    } else {
      if (!at->is_object()) *at = Json::object();
      at = &(*at)[token];
    }
  }
  *at = value;
}

std::optional<std::string_view> PendingFirst(const Json* pending,
                                             std::optional<std::string_view> stored) {
  return pending != nullptr ? json::AsString(pending) : stored;
}

}  // namespace

void Edits::Set(const schemas::Place& map, std::string_view key, Json value, std::string reason) {
  if (map.wrong_type) return;
  std::string path = json::Child(map.path, key);
  // The map's own value is the end of the way to it.
  const bool known = map.value != nullptr && map.value->is_object();
  const Reach reach =
      known ? Reach{path.size(), map.value, json::Find(map.value, key)} : Follow(object_, path);
  if (!Fits(reach, value.type())) return;
  writes_.try_emplace(std::move(path), Write{mutator_, std::move(reason), std::move(value),
                                             reach.length, reach.present != nullptr});
}

void Edits::Append(const schemas::Place& list, Json value, std::string reason) {
  if (list.wrong_type) return;
  const Reach reach = Follow(object_, list.path);
  if (!Fits(reach, Json::value_t::array)) return;
  std::string path = json::Child(list.path, "-");
  const size_t length = reach.present != nullptr ? path.size() : reach.length;
  writes_.try_emplace(std::move(path),
                      Write{mutator_, std::move(reason), std::move(value), length, false});
}

void Edits::Withhold(std::string path, std::string reason) {
  withheld_.push_back({mutator_, std::move(path), std::move(reason)});
}

const Json* Edits::Pending(std::string_view map_path, std::string_view key) const {
  if (writes_.empty()) return nullptr;
  const auto found = writes_.find(json::Child(map_path, key));
  return found == writes_.end() ? nullptr : &found->second.value;
}

std::optional<std::string_view> Edits::Label(const schemas::PodTemplateView& pod,
                                             std::string_view key) const {
  return PendingFirst(Pending(pod.labels.path, key), pod.Label(key));
}

std::optional<std::string_view> Edits::Annotation(const schemas::PodTemplateView& pod,
                                                  std::string_view key) const {
  return PendingFirst(Pending(pod.annotations.path, key), pod.Annotation(key));
}

std::vector<Change> Edits::Changes() const {
  std::vector<Change> changes;
  changes.reserve(writes_.size());
  for (const auto& [path, write] : writes_) changes.push_back({write.mutator, path, write.reason});
  return changes;
}

std::vector<json::Operation> Edits::BuildPatch() const {
  using Kind = json::Operation::Kind;
  std::vector<json::Operation> operations;
  for (const auto& [path, write] : writes_) {
    const std::string_view parent = std::string_view(path).substr(0, write.reach);
    const std::string_view rest = std::string_view(path).substr(write.reach);
    if (rest.empty()) {
      operations.push_back({write.replaces ? Kind::kReplace : Kind::kAdd, path, write.value});
      continue;
    }
    // Writes are sorted by path, so those below one missing parent stand together.
    if (operations.empty() || operations.back().path != parent) {
      operations.push_back({Kind::kAdd, std::string(parent), Json()});
    }
    PutBelow(operations.back().value, rest, write.value);
  }
  return operations;
}

}  // namespace mindgate::mutators
