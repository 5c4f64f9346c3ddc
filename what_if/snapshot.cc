#include "what_if/snapshot.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/answers.h"
#include "schemas/children.h"
#include "schemas/names.h"
#include "schemas/workload.h"
#include "watcher/scaling/pod.h"
#include "what_if/inventory.h"

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
    if (positions_.empty()) positions_ = json::PositionsOf(text_);
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

namespace {

using json::Json;
using schemas::Kind;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

void AddEntries(const schemas::FieldView& map, Json& to) {
  if (!json::IsObject(map.value)) return;
  for (const auto& [key, value] : map.value->members()) {
    const auto text = json::AsString(&value);
    if (text && !to.contains(key)) to[std::string(key)] = *text;
  }
}

// What one pod asks for: NPUs as the controller counts them, and other devices.
Json LimitsOf(const PodTemplateView& pod) {
  Json limits = Json::object();
  const bool of_runtime = pod.containers.empty() && pod.runtime != nullptr;
  for (const schemas::ContainerView& container :
       of_runtime ? pod.runtime->containers : pod.containers) {
    for (const char* side : {"requests", "limits"}) {
      const Value* amounts = json::FindPath(container.value, {"resources", side});
      if (!json::IsObject(amounts)) continue;
      for (const auto& [resource, amount] : amounts->members()) {
        if (IsDevice(resource) && !watcher::scaling::IsCountedNpu(resource)) {
          limits[std::string(resource)] = json::TreeOf(amount);
        }
      }
    }
  }
  for (const schemas::MinResource& each : schemas::NpusOf(pod)) {
    limits[std::string(each.resource)] = std::to_string(each.amount.value_or(0));
  }
  return limits;
}

class Planner {
 public:
  explicit Planner(const ClusterSnapshot& snapshot) { applied_.snapshot = snapshot; }

  void Add(const WorkloadView& view, const std::string& ns, const Value& object) {
    view_ = &view;
    ns_ = ns;
    name_ = view.name.empty() ? "new" : std::string(view.name);
    kind_ = json::TextAt(object, {"kind"});
    if (view.excess) {
      Complain(kind_ + " " + name_ + " has more parts than are read");
      return;
    }
    ++applied_.workloads;
    if (view.kind == Kind::kDaemonSet) {
      Complain(kind_ + " " + name_ +
               " makes a pod on every node that takes it: its pods are not planned");
      return;
    }
    if (view.LacksRuntime() && schemas::RuntimeOf(object)) {
      Complain(kind_ + " " + name_ +
               " names a runtime that is not in the manifest: what its pods need is not known");
    }
    Remove();
    const schemas::Children children = schemas::ChildrenOf(view);
    for (size_t g = 0; g < children.pod_groups.size(); ++g) {
      const int64_t count = children.pod_groups[g].count.value_or(1);
      for (int64_t i = 0; i < count && !full_; ++i) {
        const std::string suffix = (children.pod_groups.size() > 1 ? "-" + std::to_string(g) : "") +
                                   (count > 1 ? "-" + std::to_string(i) : "");
        AddGroup(children.pod_groups[g], name_ + suffix, i);
      }
    }
    for (const size_t i : children.ungrouped) AddPods(view.templates[i], nullptr, name_, "", 0);
  }

  void AddRule(const Value& config_map, const std::string& ns) {
    Json entry = json::TreeOf(config_map);
    entry["metadata"]["namespace"] = ns;
    const std::string name = json::TextAt(config_map, {"metadata", "name"});
    std::erase_if(applied_.snapshot.scaling_rules, [&](const Value* one) {
      return json::TextAt(one, {"metadata", "name"}) == name &&
             json::TextAt(one, {"metadata", "namespace"}) == ns;
    });
    rules_.push_back(EntryOf(rule_entries_, entry));
  }

  void Complain(std::string problem) { applied_.problems.push_back(std::move(problem)); }
  Applied Take() {
    LayOut(pods_, applied_.snapshot.pods);
    LayOut(pod_groups_, applied_.snapshot.pod_groups);
    LayOut(rules_, applied_.snapshot.scaling_rules);
    return std::move(applied_);
  }

 private:
  // One document for each list.
  void LayOut(const Json& entries, ClusterSnapshot::Objects& objects) {
    const auto document = std::make_shared<const json::Document>(entries);
    for (const Value& entry : document->root()) objects.push_back(&entry);
    applied_.snapshot.documents.push_back(document);
  }

  // What is there of it already.
  void Remove() {
    const std::string owner = (view_->UsesRuntime() ? "InferenceService/" : kind_ + "/") + name_;
    const Inventory there = TakeInventory(applied_.snapshot);
    std::set<const Value*> replaced;
    for (const Pod& pod : there.pods) {
      if (pod.ns == ns_ && pod.owner == owner) replaced.insert(pod.entry);
    }
    std::erase_if(applied_.snapshot.pods, [&](const Value* pod) { return replaced.contains(pod); });
  }

  void AddGroup(const schemas::ChildPodGroup& child, const std::string& name, int64_t index) {
    const PodGroupView& group = *child.group;
    Json metadata = {{"name", name}, {"namespace", ns_}};
    Json labels = Json::object();
    Json annotations = Json::object();
    if (group.labels) AddEntries(*group.labels, labels);
    if (group.annotations) AddEntries(*group.annotations, annotations);
    metadata["labels"] = std::move(labels);
    metadata["annotations"] = std::move(annotations);
    metadata["creationTimestamp"] = FormatTime(applied_.snapshot.taken);
    metadata["ownerReferences"] = Owners();
    // Of a LeaderWorkerSet the controller's options say whether its groups are gangs; they are of
    // use only whole.
    const bool whole = group.facts().leader_and_workers;
    const int64_t min_member = child.min_member.value_or(whole ? child.pods.value_or(1) : 1);
    pod_groups_.push_back(EntryOf(pod_group_entries_, {{"metadata", std::move(metadata)},
                                                       {"spec", {{"minMember", min_member}}},
                                                       {"status", {{"phase", "Inqueue"}}}}));
    for (const size_t i : group.templates) {
      AddPods(view_->templates[i], &group, name, name, index);
    }
  }

  Json Owners() const {
    // The ReplicaSet of a Deployment has its name until it gets a hash.
    const std::string kind = kind_ == "Deployment" ? "ReplicaSet" : kind_;
    return Json::array({{{"apiVersion", json::TextAt(view_->object, {"apiVersion"})},
                         {"kind", kind},
                         {"name", kind_ == "Deployment" ? name_ + "-new" : name_},
                         {"controller", true}}});
  }

  void AddPods(const PodTemplateView& pod, const PodGroupView* group, const std::string& prefix,
               const std::string& pod_group, int64_t index) {
    const int64_t count = pod.pods.value_or(1);
    for (int64_t i = 0; i < count; ++i) {
      if (++planned_ > kMaxPlannedPods) {
        if (!full_) {
          Complain("the manifests make more than " + std::to_string(kMaxPlannedPods) +
                   " pods: the rest is left out");
        }
        full_ = true;
        return;
      }
      const bool is_pod = view_->kind == Kind::kPod;
      Json entry = PodEntryOf(pod, group, pod_group, index);
      entry["metadata"]["name"] =
          is_pod ? name_
                 : prefix + (pod.name.empty() ? "" : "-" + std::string(pod.name)) + "-" +
                       std::to_string(i);
      if (!is_pod) entry["metadata"]["ownerReferences"] = Owners();
      Json kept = EntryOf(pod_entries_, entry);
      kept["metadata"]["annotations"][std::string(kPlanned)] = "true";
      pods_.push_back(std::move(kept));
    }
  }

  Json PodEntryOf(const PodTemplateView& pod, const PodGroupView* group,
                  const std::string& pod_group, int64_t index) const {
    Json labels = Json::object();
    Json annotations = Json::object();
    AddEntries(pod.labels, labels);
    AddEntries(pod.annotations, annotations);
    for (const schemas::FieldView& map : pod.inherited_labels) AddEntries(map, labels);
    for (const schemas::FieldView& map : pod.inherited_annotations) AddEntries(map, annotations);
    if (group != nullptr && pod.Label(schemas::kScalingRule) == std::nullopt && group->labels) {
      // AscendJobs have these labels on the job, and their operator holds the pods back.
      AddEntries(*group->labels, labels);
    }
    if (!pod_group.empty()) annotations[std::string(schemas::kPodGroupAnnotation)] = pod_group;
    if (view_->kind == Kind::kLeaderWorkerSet) {
      labels[std::string(schemas::kLwsName)] = name_;
      labels[std::string(schemas::kLwsGroup)] = std::to_string(index);
    }
    if (kind_ == "Deployment") labels[std::string(schemas::kTemplateHash)] = "new";
    if (view_->UsesRuntime()) labels[std::string(schemas::kOmeInferenceService)] = name_;
    Json spec = {{"containers", {{{"resources", {{"limits", LimitsOf(pod)}}}}}}};
    if (pod.node_selector.value != nullptr) {
      spec["nodeSelector"] = json::TreeOf(*pod.node_selector.value);
    }
    const Value* tolerations = json::Find(pod.pod_spec.value, "tolerations");
    if (tolerations != nullptr) spec["tolerations"] = json::TreeOf(*tolerations);
    if (labels.contains(schemas::kScalingRule)) {
      spec["schedulingGates"] = {{{"name", schemas::kScalingGate}}};
    }
    return {{"metadata",
             {{"namespace", ns_},
              {"creationTimestamp", FormatTime(applied_.snapshot.taken)},
              {"labels", std::move(labels)},
              {"annotations", std::move(annotations)}}},
            {"spec", std::move(spec)},
            {"status", {{"phase", "Pending"}}}};
  }

  const Kept pod_entries_ = PodEntries();
  const Kept pod_group_entries_ = PodGroupEntries();
  const Kept rule_entries_ = ScalingRuleEntries();
  Applied applied_;
  Json pods_ = Json::array();
  Json pod_groups_ = Json::array();
  Json rules_ = Json::array();
  const WorkloadView* view_ = nullptr;  // of the object that is being added
  std::string ns_;
  std::string name_;
  std::string kind_;
  int64_t planned_ = 0;
  bool full_ = false;
};

// A message names no more objects.
constexpr size_t kMaxUnknown = 8;

// Of a kind that is not known here. Kubernetes' own kinds that make pods are.
bool MayMakePods(const Value& object) {
  const std::string version = json::TextAt(object, {"apiVersion"});
  const std::string group = version.substr(0, version.find('/'));
  return version.find('/') != std::string::npos && !group.ends_with(".k8s.io") &&
         group != "policy" && group != "autoscaling";
}

using RuntimeKey = std::tuple<Kind, std::string, std::string>;  // namespace and name

RuntimeKey KeyOf(Kind kind, const std::string& ns, std::string_view name) {
  return {kind, kind == Kind::kClusterServingRuntime ? "" : ns, std::string(name)};
}

}  // namespace

Applied Apply(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& objects,
              const schemas::ViewOptions& options) {
  std::map<RuntimeKey, std::shared_ptr<const WorkloadView>> runtimes;
  for (const ManifestObject& each : objects) {
    const auto kind = schemas::KindOf(*each.object);
    if (!kind || !schemas::kOmeRuntimes.Has(*kind)) continue;
    auto view = schemas::BuildView(*each.object, nullptr, options);
    if (!view) continue;
    const RuntimeKey key = KeyOf(*kind, each.ns, view->name);
    runtimes[key] = std::make_shared<const WorkloadView>(*std::move(view));
  }
  Planner planner(snapshot);
  std::vector<std::string> unknown;
  for (const ManifestObject& each : objects) {
    const schemas::KindInfo* const info = schemas::FindKind(*each.object, options.kinds);
    const auto kind = info == nullptr ? std::nullopt : std::optional(info->kind);
    if (!kind && MayMakePods(*each.object)) {
      unknown.push_back(json::TextAt(*each.object, {"kind"}) + " " +
                        json::TextAt(*each.object, {"metadata", "name"}));
    }
    if (!kind || schemas::kOmeRuntimes.Has(*kind)) continue;
    if (*kind == Kind::kConfigMap) {
      if (schemas::ScalingRuleText(*each.object)) planner.AddRule(*each.object, each.ns);
      continue;
    }
    std::shared_ptr<const WorkloadView> runtime;
    if (const auto named = schemas::RuntimeOf(*each.object);
        named && *kind == Kind::kInferenceService) {
      const auto found = runtimes.find(KeyOf(named->kind, each.ns, named->name));
      if (found != runtimes.end()) runtime = found->second;
    }
    const auto view = schemas::BuildView(*each.object, runtime, options);
    if (view && !view->templates.empty()) planner.Add(*view, each.ns, *each.object);
  }
  if (!unknown.empty()) {
    planner.Complain("not considered, as the pods of such kinds are not known: " +
                     JoinFirst(unknown, kMaxUnknown));
  }
  return planner.Take();
}

}  // namespace mindgate::what_if
