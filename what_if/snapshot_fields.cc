#include "what_if/snapshot_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "faults/codes.h"
#include "json/decode.h"
#include "what_if/inventory.h"

namespace mindgate::what_if {
namespace {

using json::Json;
using json::Value;
using Path = json::Projection::Path;

// Of pods: who made them, which of them are one instance, and what of the scheduler's they use.
constexpr std::string_view kPodLabels[] = {
    schemas::kScalingRule,      schemas::kGroupName,       schemas::kJobId,
    schemas::kLwsName,          schemas::kLwsGroup,        schemas::kLwsRevision,
    schemas::kInferServiceName, schemas::kInstanceSetName, schemas::kInstanceSetIndex,
    schemas::kTemplateHash};
constexpr std::string_view kPodAnnotations[] = {schemas::kSpBlock, schemas::kLwsSize};

void AddEach(const Path& map, const auto& keys, std::vector<Path>& paths) {
  for (const std::string_view key : keys) {
    Path path = map;
    path.emplace_back(key);
    paths.push_back(std::move(path));
  }
}

std::vector<Path> WithMetadata(std::vector<Path> paths) {
  for (const char* member : {"name", "namespace", "creationTimestamp", "deletionTimestamp"}) {
    paths.push_back({"metadata", member});
  }
  for (const char* member : {"apiVersion", "kind", "name", "controller"}) {
    paths.push_back({"metadata", "ownerReferences", "*", member});
  }
  AddEach({"metadata", "labels"}, kFaultLabels, paths);
  AddEach({"metadata", "labels"}, kPodLabels, paths);
  AddEach({"metadata", "annotations"}, kFaultAnnotations, paths);
  AddEach({"metadata", "annotations"}, kPodAnnotations, paths);
  return paths;
}

bool SaysNothing(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty());
}

// Without members that are empty, and lists of nothing else. Other lists keep the places of their
// items: a gate is known by its place.
void Prune(Json& value) {
  for (Json& item : value) {
    if (item.is_structured()) Prune(item);
  }
  if (value.is_object()) {
    for (auto at = value.begin(); at != value.end();) {
      at = SaysNothing(*at) ? value.erase(at) : std::next(at);
    }
  } else if (std::all_of(value.begin(), value.end(), SaysNothing)) {
    value = Json::array();
  }
}

// What a list at `path` keeps.
void KeepItems(Json& object, const Json::json_pointer& path, bool (*wanted)(const Json&)) {
  if (!object.contains(path) || !object.at(path).is_array()) return;
  Json kept = Json::array();
  for (Json& item : object.at(path)) {
    if (wanted(item)) kept.push_back(std::move(item));
  }
  object.at(path) = std::move(kept);
}

void KeepDevices(Json& object, const Json::json_pointer& path) {
  if (!object.contains(path) || !object.at(path).is_object()) return;
  Json& resources = object.at(path);
  for (auto at = resources.begin(); at != resources.end();) {
    at = IsDevice(at.key()) ? std::next(at) : resources.erase(at);
  }
}

Json Plain(const Value& object) {
  Json entry = json::TreeOf(object);
  Prune(entry);
  return entry;
}

Json NodeEntry(const Value& object) {
  Json entry = json::TreeOf(object);
  KeepItems(entry, Json::json_pointer("/status/conditions"),
            [](const Json& condition) { return json::FindString(condition, "type") == "Ready"; });
  KeepDevices(entry, Json::json_pointer("/status/allocatable"));
  KeepDevices(entry, Json::json_pointer("/status/capacity"));
  Prune(entry);
  return entry;
}

Json PodEntry(const Value& object) {
  Json entry = json::TreeOf(object);
  // Ready, whether a scheduler bound it, and why it found no room: with a time that decisions read.
  KeepItems(entry, Json::json_pointer("/status/conditions"), [](const Json& condition) {
    const auto type = json::FindString(condition, "type");
    return type == "Ready" ||
           (type == "PodScheduled" && (json::FindString(condition, "status") == "True" ||
                                       json::FindString(condition, "reason") == "Unschedulable"));
  });
  KeepItems(entry, Json::json_pointer("/status/containerStatuses"), [](const Json& status) {
    const Json* code = json::FindPath(status, {"lastState", "terminated", "exitCode"});
    return json::AsInt(code).value_or(0) != 0;
  });
  // What every pod tolerates concerns nodes that take no new pods anyway.
  KeepItems(entry, Json::json_pointer("/spec/tolerations"), [](const Json& toleration) {
    return !json::FindString(toleration, "key").value_or("").starts_with("node.kubernetes.io/");
  });
  const Json* containers = json::FindPath(entry, {"spec", "containers"});
  for (size_t i = 0; json::IsArray(containers) && i < containers->size(); ++i) {
    const std::string limits = "/spec/containers/" + std::to_string(i) + "/resources/limits";
    KeepDevices(entry, Json::json_pointer(limits));
  }
  Prune(entry);
  return entry;
}

}  // namespace

Kept NodeEntries() {
  return {json::Projection({{"metadata", "name"},
                            {"metadata", "labels"},
                            {"metadata", "annotations", std::string(schemas::kBaseDeviceInfos)},
                            {"metadata", "annotations", std::string(schemas::kSuperPodId)},
                            {"metadata", "annotations", std::string(schemas::kProductSerialNumber)},
                            {"metadata", "deletionTimestamp"},
                            {"spec", "unschedulable"},
                            {"spec", "taints", "*", "key"},
                            {"spec", "taints", "*", "value"},
                            {"spec", "taints", "*", "effect"},
                            {"status", "conditions", "*", "type"},
                            {"status", "conditions", "*", "status"},
                            {"status", "allocatable"},
                            {"status", "capacity"}}),
          NodeEntry};
}

Kept PodEntries() {
  return {json::Projection(WithMetadata(
              {{"spec", "nodeName"},
               {"spec", "nodeSelector"},
               {"spec", "priority"},
               {"spec", "schedulerName"},
               {"spec", "schedulingGates", "*", "name"},
               {"spec", "tolerations"},
               {"spec", "containers", "*", "resources", "limits"},
               {"status", "phase"},
               {"status", "conditions", "*", "type"},
               {"status", "conditions", "*", "status"},
               {"status", "conditions", "*", "reason"},
               {"status", "conditions", "*", "lastTransitionTime"},
               {"status", "containerStatuses", "*", "lastState", "terminated", "exitCode"}})),
          PodEntry};
}

Kept PodGroupEntries() {
  return {json::Projection(
              WithMetadata({{"spec", "minMember"}, {"spec", "minResources"}, {"status", "phase"}})),
          Plain};
}

Kept ReportEntries() {
  return {json::Projection({{"metadata", "name"}, {"metadata", "namespace"}, {"data"}}), Plain};
}

Kept ScalingRuleEntries() {
  return {json::Projection({{"metadata", "name"},
                            {"metadata", "namespace"},
                            {"data", std::string(schemas::kScalingRuleKey)}}),
          Plain};
}

Kept FaultConfigEntries() {
  std::vector<Path> paths = {{"metadata", "name"}, {"metadata", "namespace"}};
  AddEach({"data"}, faults::kConfigKeys, paths);
  return {json::Projection(paths), Plain};
}

Kept PluginNoteEntries(std::string_view key) {
  return {json::Projection(
              {{"metadata", "name"}, {"metadata", "namespace"}, {"data", std::string(key)}}),
          Plain};
}

Json WholeEntry(const Value& object, const kube::Resource& resource) {
  Json entry = json::TreeOf(object);
  if (!entry.is_object()) return entry;
  entry["apiVersion"] = resource.api_version();
  entry["kind"] = resource.kind;
  if (const auto metadata = entry.find("metadata");
      metadata != entry.end() && metadata->is_object()) {
    metadata->erase("managedFields");
  }
  return entry;
}

Json EntryOf(const Kept& kept, const Json& object) {
  json::Decoder decoder;
  const std::string text = object.dump();
  const auto read = decoder.Decode(text, kept.read);
  return read ? kept.entry(**read) : Json();
}

}  // namespace mindgate::what_if
