#include "what_if/manifest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/value.h"
#include "schemas/children.h"
#include "schemas/names.h"
#include "schemas/workload.h"
#include "watcher/scaling/pod.h"
#include "what_if/inventory.h"
#include "what_if/snapshot_fields.h"

namespace mindgate::what_if {
namespace {

using json::Json;
using json::Value;
using schemas::Kind;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

void AddEntries(const schemas::Place& map, Json& to) {
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
    for (const schemas::Place& map : pod.inherited_labels) AddEntries(map, labels);
    for (const schemas::Place& map : pod.inherited_annotations) AddEntries(map, annotations);
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
