#include "what_if/snapshot.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "kube/understood.h"

namespace mindgate::what_if {
namespace {

using json::Value;

constexpr std::string_view kKind = "Snapshot";

// Of the largest snapshot: nothing that it is made of has less than eight bytes a value. Its
// workloads are as deep as any object.
constexpr json::Limits kSnapshotLimits = {.bytes = kMaxSnapshot,
                                          .depth = json::Limits().depth + 2,
                                          .elements = kMaxSnapshot / 8,
                                          .bytes_a_value = 8};

struct List {
  std::string_view key;
  ClusterSnapshot::Objects ClusterSnapshot::* objects;
  bool namespaced;
  bool required = true;
};

constexpr std::array<List, 8> kLists = {
    {{"nodes", &ClusterSnapshot::nodes, false},
     {"pods", &ClusterSnapshot::pods, true},
     {"podGroups", &ClusterSnapshot::pod_groups, true},
     {"faultReports", &ClusterSnapshot::fault_reports, true},
     {"scalingRules", &ClusterSnapshot::scaling_rules, true},
     // Most clusters have none, and snapshots of older programs do not.
     {"faultConfig", &ClusterSnapshot::fault_config, true, false},
     {"pluginRecords", &ClusterSnapshot::plugin_records, true, false},
     {"pluginRetries", &ClusterSnapshot::plugin_retries, true, false}}};

// Adds faults with the places of what they are about. Places are looked for once, when there is
// one.
class Faults {
 public:
  explicit Faults(std::string_view text) : text_(text) {}

  void Add(const std::string& pointer, std::string field, std::string message, std::string hint) {
    if (positions_.empty()) positions_ = json::Locate(text_);
    issues_.Add({positions_.At(pointer), std::move(field), std::move(message), std::move(hint)});
  }
  bool full() const { return issues_.items().size() == json::Issues::kMax; }
  json::Issues& issues() { return issues_; }

 private:
  std::string_view text_;
  json::Positions positions_;
  json::Issues issues_;
};

constexpr const char* kTakeAgain = "`mindgate snapshot` writes one";

void ReadHead(const Value& root, ClusterSnapshot& snapshot, Faults& faults) {
  const Value* kind = json::Find(root, "kind");
  if (json::AsString(kind) != kKind) {
    faults.Add(
        "/kind", "kind",
        kind == nullptr ? "this is not a snapshot: it has no kind" : "the kind is not \"Snapshot\"",
        kTakeAgain);
    return;
  }
  const Value* version = json::Find(root, "version");
  if (json::AsInt(version) != kSnapshotVersion) {
    faults.Add("/version", "version",
               "this mindgate reads version " + std::to_string(kSnapshotVersion) +
                   " of snapshots, and this is another one",
               "take the snapshot again with this mindgate");
  }
  const auto taken = ParseTime(json::FindString(root, "taken").value_or(""));
  if (taken) {
    snapshot.taken = *taken;
  } else {
    faults.Add("/taken", "taken", "the time at which it was taken is missing or not a time",
               "write a time as in 2026-12-31T12:00:00Z");
  }
}

void ReadWatcher(const Value& root, ClusterSnapshot& snapshot, Faults& faults) {
  const Value* watcher = json::Find(root, "watcher");
  if (watcher == nullptr) return;
  std::vector<std::string> wrong;
  snapshot.watcher = ReadSettings(*watcher, wrong);
  if (!json::IsObject(watcher)) {
    faults.Add("/watcher", "watcher", "what mindgate's watcher does is not an object", kTakeAgain);
  }
  for (const std::string& member : wrong) {
    faults.Add("/watcher/" + member, "watcher." + member,
               "this is not a value that the configuration of mindgate may have", kTakeAgain);
  }
}

void ReadObject(const Value& object, const List& list, size_t index, json::Arena& rows,
                ClusterSnapshot& snapshot, Faults& faults) {
  const std::string field = std::string(list.key) + "[" + std::to_string(index) + "]";
  const std::string pointer = "/" + std::string(list.key) + "/" + std::to_string(index);
  const Value* metadata = json::Find(object, "metadata");
  if (json::FindString(metadata, "name").value_or("").empty()) {
    faults.Add(pointer, field + ".metadata.name", "an object without a name says nothing",
               kTakeAgain);
    return;
  }
  if (list.namespaced && json::FindString(metadata, "namespace").value_or("").empty()) {
    faults.Add(pointer + "/metadata", field + ".metadata.namespace",
               "the object has no namespace, so nothing else can refer to it", kTakeAgain);
    return;
  }
  // Nodes are not written by tenants, and carry long annotations of the device plugin.
  const auto understood =
      list.namespaced ? kube::Understand(object, rows) : kube::Understood{.object = object};
  if (!understood.object) {
    faults.Add(pointer + "/metadata", field, "the object has a name that is none", kTakeAgain);
  } else if (understood.problem.empty()) {
    (snapshot.*list.objects).push_back(&object);
  } else {
    Value* const left = rows.Row<Value>(1);
    *left = *understood.object;
    (snapshot.*list.objects).push_back(left);
  }
}

void ReadWorkloads(const Value& root, ClusterSnapshot& snapshot, Faults& faults) {
  const Value* objects = json::Find(root, "workloads");
  if (objects == nullptr) return;
  if (!json::IsArray(objects)) {
    faults.Add("/workloads", "workloads", "the workloads are not a list", kTakeAgain);
    return;
  }
  auto& workloads = snapshot.workloads.emplace();
  for (size_t i = 0; i < objects->size() && !faults.full(); ++i) {
    const Value& object = (*objects)[i];
    if (json::FindString(object, "kind").value_or("").empty()) {
      faults.Add("/workloads/" + std::to_string(i), "workloads[" + std::to_string(i) + "].kind",
                 "an object without a kind says nothing", kTakeAgain);
      continue;
    }
    workloads.push_back(&object);
  }
  const Value* unread = json::Find(root, "workloadsUnread");
  for (size_t i = 0; json::IsArray(unread) && i < unread->size(); ++i) {
    snapshot.workloads_unread.emplace_back(json::AsString(&(*unread)[i]).value_or(""));
  }
}

}  // namespace

tl::expected<ClusterSnapshot, json::Issues> ReadSnapshot(std::string_view text) {
  json::Issues issues;
  auto decoded = json::Document::Decode(text, kSnapshotLimits);
  if (!decoded) {
    issues.Add(decoded.error());
    return tl::make_unexpected(std::move(issues));
  }
  const auto document = std::make_shared<const json::Document>(*std::move(decoded));
  ClusterSnapshot snapshot;
  snapshot.documents.push_back(document);
  const auto rows = std::make_shared<json::Document>();
  snapshot.documents.push_back(rows);
  Faults faults(text);
  ReadHead(document->root(), snapshot, faults);
  ReadWatcher(document->root(), snapshot, faults);
  if (!faults.issues().empty()) return tl::make_unexpected(std::move(faults.issues()));
  for (const List& list : kLists) {
    const Value* objects = json::Find(document->root(), list.key);
    if (objects == nullptr && !list.required) continue;
    if (!json::IsArray(objects)) {
      // An absent list is not an empty one: everything in it would be taken for gone.
      faults.Add("/" + std::string(list.key), std::string(list.key),
                 "the list " + Quote(list.key) + " is missing", kTakeAgain);
      continue;
    }
    for (size_t i = 0; i < objects->size() && !faults.full(); ++i) {
      ReadObject((*objects)[i], list, i, rows->arena(), snapshot, faults);
    }
  }
  if (!faults.issues().empty()) return tl::make_unexpected(std::move(faults.issues()));
  ReadWorkloads(document->root(), snapshot, faults);
  if (!faults.issues().empty()) return tl::make_unexpected(std::move(faults.issues()));
  snapshot.fault_config_unread =
      json::FindString(document->root(), "faultConfigUnread").value_or("");
  snapshot.plugin_notes_unread =
      json::FindString(document->root(), "pluginNotesUnread").value_or("");
  return snapshot;
}

}  // namespace mindgate::what_if
