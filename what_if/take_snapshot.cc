#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "faults/codes.h"
#include "faults/fault_store.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"
#include "watcher/rescheduling/plugin.h"
#include "what_if/inventory.h"
#include "what_if/snapshot.h"

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

bool IsEmpty(const Json& value) {
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
      at = IsEmpty(*at) ? value.erase(at) : std::next(at);
    }
  } else if (std::all_of(value.begin(), value.end(), IsEmpty)) {
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

namespace {

using RuleName = std::pair<std::string, std::string>;  // namespace and name

// One object a line, so that two snapshots can be compared.
struct Lines {
  std::string text{};
  size_t count = 0;

  struct Mark {
    size_t size = 0;
    size_t count = 0;
  };
  Mark mark() const { return {text.size(), count}; }
  void Return(const Mark& to) {
    text.resize(to.size);
    count = to.count;
  }
  void Add(const json::Json& entry) {
    text += count++ == 0 ? "\n" : ",\n";
    // What is not UTF-8 is replaced, as everywhere.
    text += entry.dump(-1, ' ', false, json::Json::error_handler_t::replace);
  }
};

class Taking {
 public:
  Taking(kube::Client& client, const SnapshotOptions& options, const std::stop_token& stop)
      : client_(client), options_(options), stop_(stop) {}

  kube::Answer<std::string> Run(Time now) {
    auto read = ReadReports(now);
    if (read) read = List(kube::resources::kNodes, NodeEntries(), nodes_);
    if (read) {
      read = List(kube::resources::kPods, PodEntries(), pods_, "",
                  {.field_selector = "status.phase!=Succeeded"},
                  [this](const Value& pod) { return NoteRule(pod); });
    }
    if (read) read = ReadPodGroups();
    if (read && options_.scaling_rules) read = ReadRules();
    if (read) read = ReadFaultConfig();
    if (read) read = ReadPluginNotes();
    if (read && !options_.workloads.empty()) read = ReadWorkloads();
    if (!read) return tl::make_unexpected(read.error());
    return "{\"kind\": \"Snapshot\", \"version\": " + std::to_string(kSnapshotVersion) +
           ", \"taken\": \"" + FormatTime(now) + "\",\n\"nodes\": [" + nodes_.text +
           "],\n\"pods\": [" + pods_.text + "],\n\"podGroups\": [" + pod_groups_.text +
           "],\n\"faultReports\": [" + reports_.text + "],\n\"scalingRules\": [" + rules_.text +
           "]" + fault_config_ + plugin_notes_ + WorkloadsText() +
           ",\n\"watcher\": " + SettingsJson(options_.watcher).dump() + "}\n";
  }

 private:
  size_t size() const {
    return nodes_.text.size() + pods_.text.size() + pod_groups_.text.size() + reports_.text.size() +
           rules_.text.size() + fault_config_.size() + plugin_notes_.size() +
           workloads_.text.size();
  }

  // `wanted` says of each object whether it is kept; empty: all are.
  kube::Answer<void> List(const kube::Resource& resource, const Kept& kept, Lines& lines,
                          std::string_view ns = "", kube::ListOptions list = {},
                          const std::function<bool(const Value&)>& wanted = {}) {
    return ListWith(resource, &kept.read, kept.entry, lines, ns, std::move(list), wanted);
  }

  kube::Answer<void> ListWith(const kube::Resource& resource, const json::Projection* fields,
                              const std::function<json::Json(const Value&)>& entry, Lines& lines,
                              std::string_view ns = "", kube::ListOptions list = {},
                              const std::function<bool(const Value&)>& wanted = {}) {
    const Lines::Mark before = lines.mark();
    bool too_large = false;
    std::stop_source enough;
    const std::stop_callback forward(stop_, [&enough] { enough.request_stop(); });
    const auto listed = client_.ListAll(resource, ns, std::move(list), fields,
                                        {.started = [&] { lines.Return(before); },
                                         .item =
                                             [&](const Value& object) {
                                               if (too_large || (wanted && !wanted(object))) return;
                                               lines.Add(entry(object));
                                               too_large = size() > options_.max_bytes;
                                               if (too_large) enough.request_stop();
                                             }},
                                        enough.get_token());
    if (too_large) return TooLarge();
    if (!listed) return tl::make_unexpected(listed.error());
    return {};
  }

  kube::Answer<void> ReadReportsOf(faults::Writer writer, std::string_view ns,
                                   std::string_view selector) {
    return List(kube::resources::kConfigMaps, ReportEntries(), reports_, ns,
                {.label_selector = std::string(selector)}, [&](const Value& config_map) {
                  // Other ConfigMaps may have the same labels.
                  if (faults::WriterOf(config_map) != writer) return false;
                  const auto needed = faults::Summarize(config_map, writer);
                  if (!needed) return false;
                  if (writer != faults::Writer::kClusterD) return true;
                  const std::string name = json::TextAt(config_map, {"metadata", "name"});
                  clusterd_.Put(writer, std::string(ns) + "/" + name, &*needed);
                  return true;
                });
  }

  // Those that the watcher would read.
  kube::Answer<void> ReadReports(Time now) {
    using faults::Writer;
    kube::Answer<void> read;
    if (options_.fault_source != faults::Source::kNodes) {
      read = ReadReportsOf(Writer::kClusterD, faults::kClusterNamespace, faults::kClusterSelector);
    }
    if (!read || !clusterd_.WantsNodes(options_.fault_source, now)) return read;
    read = ReadReportsOf(Writer::kNodes, faults::kDeviceNamespace, faults::kNodeSelector);
    if (read) read = ReadReportsOf(Writer::kNodes, faults::kNodeNamespace, faults::kNodeSelector);
    for (const std::string& ns : options_.public_faults.namespaces) {
      if (read) read = ReadReportsOf(Writer::kPublic, ns, faults::kPublicSelector);
    }
    return read;
  }

  kube::Answer<void> ReadPodGroups() {
    auto read = List(kube::resources::kPodGroups, PodGroupEntries(), pod_groups_, "", {},
                     [this](const Value& pod_group) { return NoteRule(pod_group); });
    if (!read && read.error().reason == kube::Reason::kNotFound) return {};
    return read;
  }

  bool NoteRule(const Value& object) {
    const Value* metadata = json::Find(object, "metadata");
    std::string rule = json::TextAt(metadata, {"labels", schemas::kScalingRule});
    if (!rule.empty()) named_.emplace(json::TextAt(metadata, {"namespace"}), std::move(rule));
    return true;
  }

  kube::Answer<void> ReadRules() {
    const Kept kept = ScalingRuleEntries();
    for (const auto& [ns, name] : named_) {
      auto read = List(kube::resources::kConfigMaps, kept, rules_, ns,
                       {.field_selector = "metadata.name=" + name, .limit = 1});
      if (!read) return read;
    }
    return {};
  }

  // A ConfigMap as a list of one: `"key": [...]`. Nothing: it is not there.
  kube::Answer<std::string> ReadOne(std::string_view ns, std::string_view name, const Kept& kept,
                                    const std::string& key) {
    const auto read = client_.Get(kube::resources::kConfigMaps, ns, name, kept.read, stop_);
    if (!read && read.error().reason == kube::Reason::kNotFound) return std::string();
    if (!read) return tl::make_unexpected(read.error());
    Lines lines;
    lines.Add(kept.entry(read->root()));
    return ",\n\"" + key + "\": [" + lines.text + "]";
  }

  // Who may not read it can still know all else.
  kube::Answer<void> ReadFaultConfig() {
    const auto read =
        ReadOne(faults::kConfigNamespace, faults::kConfigName, FaultConfigEntries(), "faultConfig");
    fault_config_ =
        read ? *read : ",\n\"faultConfigUnread\": " + json::Json(read.error().message).dump();
    if (size() <= options_.max_bytes) return {};
    return TooLarge();
  }

  // Likewise.
  kube::Answer<void> ReadPluginNotes() {
    namespace plugin = watcher::rescheduling;
    std::vector<std::string> unread;
    const auto read = [&](std::string_view ns, std::string_view name, std::string_view key,
                          const std::string& list) {
      const auto one = ReadOne(ns, name, PluginNoteEntries(key), list);
      if (one) {
        plugin_notes_ += *one;
      } else {
        unread.push_back("ConfigMap " + std::string(ns) + "/" + std::string(name) + ": " +
                         one.error().message);
      }
    };
    read(plugin::kRecordsNamespace, plugin::kRecordsName, plugin::kRecordsKey, "pluginRecords");
    read(plugin::kRetriesNamespace, plugin::kRetriesName, plugin::kRetriesKey, "pluginRetries");
    if (!unread.empty()) {
      plugin_notes_ += ",\n\"pluginNotesUnread\": " + json::Json(Join(unread, "; ")).dump();
    }
    if (size() <= options_.max_bytes) return {};
    return TooLarge();
  }

  // Who may not read some of them can still evaluate the others.
  kube::Answer<void> ReadWorkloads() {
    for (const kube::Resource& resource : options_.workloads) {
      const auto read = ListWith(
          resource, nullptr,
          [&resource](const Value& object) { return WholeEntry(object, resource); }, workloads_);
      if (read || read.error().reason == kube::Reason::kNotFound) continue;
      if (read.error().reason == kube::Reason::kTooLarge && size() > options_.max_bytes) {
        return read;
      }
      workloads_unread_.push_back(resource.plural + ": " + read.error().message);
    }
    return {};
  }

  std::string WorkloadsText() const {
    if (options_.workloads.empty()) return "";
    std::string text = ",\n\"workloads\": [" + workloads_.text + "]";
    if (!workloads_unread_.empty()) {
      text += ",\n\"workloadsUnread\": " + json::Json(workloads_unread_).dump();
    }
    return text;
  }

  kube::Answer<void> TooLarge() const {
    return kube::Failed(kube::Reason::kTooLarge,
                        "a snapshot of this cluster would have more than " +
                            std::to_string(options_.max_bytes / (1024 * 1024)) + " MiB");
  }

  kube::Client& client_;
  const SnapshotOptions& options_;
  const std::stop_token& stop_;
  Lines nodes_;
  Lines pods_;
  Lines pod_groups_;
  Lines reports_;
  Lines rules_;
  std::string fault_config_;     // with its key
  std::string plugin_notes_;     // with their keys
  faults::FaultStore clusterd_;  // what ClusterD says
  std::set<RuleName> named_;
  Lines workloads_;
  std::vector<std::string> workloads_unread_;
};

}  // namespace

kube::Answer<std::string> TakeSnapshot(kube::Client& client, Time now,
                                       const SnapshotOptions& options,
                                       const std::stop_token& stop) {
  return Taking(client, options, stop).Run(now);
}

}  // namespace mindgate::what_if
