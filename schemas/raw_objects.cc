#include "schemas/raw_objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::schemas {

std::string ObjectName(const json::Value& object) {
  const json::Value* metadata = json::Find(object, "metadata");
  std::string name(json::FindString(metadata, "name").value_or(""));
  if (!name.empty()) return name;
  name = json::FindString(metadata, "generateName").value_or("");
  return name.empty() ? name : name + std::string(kGeneratedSuffix);
}

const json::Value* ControllerOf(const json::Value* metadata) {
  const json::Value* owners = json::Find(metadata, "ownerReferences");
  if (!json::IsArray(owners)) return nullptr;
  for (const json::Value& owner : *owners) {
    if (json::AsBool(json::Find(owner, "controller")).value_or(false)) return &owner;
  }
  return nullptr;
}

std::optional<size_t> PlaceOfScalingGate(const json::Value* gates) {
  for (size_t i = 0; json::IsArray(gates) && i < gates->size(); ++i) {
    if (json::FindString((*gates)[i], "name") == kScalingGate) return i;
  }
  return std::nullopt;
}

std::optional<size_t> PlaceOfFaultyTaint(const json::Value* taints) {
  for (size_t i = 0; json::IsArray(taints) && i < taints->size(); ++i) {
    const json::Value& taint = (*taints)[i];
    if (json::FindString(taint, "key") == kFaultyNode &&
        json::FindString(taint, "effect") == kFaultyTaintEffect) {
      return i;
    }
  }
  return std::nullopt;
}

namespace {

using json::Value;

bool IsStructured(const Value& value) { return value.is_object() || value.is_array(); }

bool AsksForNpus(const Value& containers) {
  return json::IsArray(&containers) &&
         std::any_of(containers.begin(), containers.end(), [](const Value& container) {
           return HasNpuRequests(json::Find(container, "resources"));
         });
}

}  // namespace

std::optional<std::string> FindNpuPods(const Value& object) {
  std::vector<std::pair<std::string, const Value*>> left = {{"", &object}};
  for (size_t visited = 0; !left.empty() && visited < kMaxMembers; ++visited) {
    const auto [path, value] = std::move(left.back());
    left.pop_back();
    if (value->is_object()) {
      const Value* containers = json::Find(*value, "containers");
      if (containers != nullptr && AsksForNpus(*containers)) return path;
      const auto members = value->members();
      for (auto member = members.rbegin(); member != members.rend(); ++member) {
        if (IsStructured(member->value)) {
          left.emplace_back(json::Child(path, member->key), &member->value);
        }
      }
    } else if (value->is_array()) {
      for (size_t i = value->size(); i > 0; --i) {
        const Value& item = (*value)[i - 1];
        if (IsStructured(item)) left.emplace_back(path + "/" + std::to_string(i - 1), &item);
      }
    }
  }
  return std::nullopt;
}

}  // namespace mindgate::schemas
