#include "what_if/inventory.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "faults/node_faults.h"
#include "json/value.h"
#include "schemas/accelerator.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"
#include "watcher/scaling/pod.h"

namespace mindgate::what_if {
namespace {

using json::Value;

// Of one node and resource. Anybody who writes a node's status may write any figure.
constexpr int64_t kMaxChips = 1024;

Labels LabelsOf(const Value* map) {
  Labels labels;
  if (!json::IsObject(map)) return labels;
  for (const auto& [key, value] : map->members()) {
    if (const auto text = json::AsString(&value)) labels.emplace(key, *text);
  }
  return labels;
}

std::map<std::string, int64_t> Quantities(const Value* map) {
  std::map<std::string, int64_t> quantities;
  if (!json::IsObject(map)) return quantities;
  for (const auto& [key, value] : map->members()) {
    if (!watcher::scaling::IsCountedNpu(key)) continue;
    const int64_t count = schemas::WholeQuantity(&value).value_or(0);
    quantities.emplace(key, std::clamp<int64_t>(count, 0, kMaxChips));
  }
  return quantities;
}

void AddDevices(const Value* map, std::set<std::string, std::less<>>& devices) {
  if (!json::IsObject(map)) return;
  for (const auto& [key, value] : map->members()) {
    if (IsDevice(key)) devices.emplace(key);
  }
}

// "huawei.com/Ascend910" for "Ascend910-3".
std::string ResourceOf(std::string_view chip) {
  return std::string(schemas::kResourcePrefix) + std::string(chip.substr(0, chip.rfind('-')));
}

// As the device plugin lists them; where it does not, as many as the kubelet has, counted from 0.
void ReadChips(const Value& node, Node& read) {
  const std::string listed =
      json::TextAt(node, {"metadata", "annotations", schemas::kBaseDeviceInfos});
  if (const auto chips = json::Document::Decode(listed); chips && chips->root().is_object()) {
    for (const auto& [chip, info] : chips->root().members()) {
      if (chip.rfind('-') != std::string_view::npos) {
        read.chips[ResourceOf(chip)].emplace_back(chip);
      }
    }
  }
  auto capacity = Quantities(json::FindPath(node, {"status", "capacity"}));
  if (capacity.empty()) capacity = read.allocatable;
  for (const auto& [resource, count] : capacity) {
    if (schemas::ClassifyResource(resource) != schemas::NpuResource::kWholeCard) continue;
    if (read.chips.contains(resource)) continue;
    const std::string prefix = resource.substr(schemas::kResourcePrefix.size()) + "-";
    for (int64_t i = 0; i < count; ++i) {
      read.chips[resource].push_back(prefix + std::to_string(i));
    }
  }
  for (auto& [resource, chips] : read.chips) std::sort(chips.begin(), chips.end(), NaturalLess);
}

Node NodeOf(const Value& object) {
  Node node;
  const Value* metadata = json::Find(object, "metadata");
  node.name = json::TextAt(metadata, {"name"});
  node.labels = LabelsOf(json::Find(metadata, "labels"));
  node.super_pod = json::TextAt(metadata, {"annotations", schemas::kSuperPodId});
  node.closed = json::Find(metadata, "deletionTimestamp") != nullptr ||
                json::AsBool(json::FindPath(object, {"spec", "unschedulable"})).value_or(false);
  const Value* taints = json::FindPath(object, {"spec", "taints"});
  for (size_t i = 0; json::IsArray(taints) && i < taints->size(); ++i) {
    const Value& taint = (*taints)[i];
    std::string effect = json::TextAt(taint, {"effect"});
    if (effect != "NoSchedule" && effect != "NoExecute") continue;
    node.taints.push_back(
        {json::TextAt(taint, {"key"}), json::TextAt(taint, {"value"}), std::move(effect)});
  }
  node.allocatable = Quantities(json::FindPath(object, {"status", "allocatable"}));
  ReadChips(object, node);
  return node;
}

// The resource of which a pod asks for most.
void ReadNeeds(const Value& object, Pod& pod) {
  const Value* containers = json::FindPath(object, {"spec", "containers"});
  std::map<std::string, int64_t> all;
  for (size_t i = 0; json::IsArray(containers) && i < containers->size(); ++i) {
    for (const auto& [resource, count] :
         Quantities(json::FindPath((*containers)[i], {"resources", "limits"}))) {
      all[resource] += count;
    }
  }
  for (const auto& [resource, count] : all) {
    if (count <= pod.npus) continue;
    pod.npus = count;
    pod.resource = resource;
  }
}

// A device that no node has keeps a pod from everywhere, whatever else it asks for.
void ReadAbsentDevice(const std::set<std::string, std::less<>>& devices, Pod& pod) {
  const Value* containers = json::FindPath(*pod.entry, {"spec", "containers"});
  for (size_t i = 0; json::IsArray(containers) && i < containers->size(); ++i) {
    const Value* limits = json::FindPath((*containers)[i], {"resources", "limits"});
    if (!json::IsObject(limits)) continue;
    for (const auto& [resource, amount] : limits->members()) {
      const int64_t count = schemas::WholeQuantity(&amount).value_or(0);
      if (count < 1 || !IsDevice(resource) || devices.contains(resource)) continue;
      pod.resource = resource;
      pod.npus = std::min(count, kMaxChips);
      return;
    }
  }
}

void ReadOwner(const Value* metadata, Pod& pod) {
  const Value* labels = json::Find(metadata, "labels");
  const Value* controller = schemas::ControllerOf(metadata);
  pod.controller = json::TextAt(controller, {"kind"});
  const std::string set = json::TextAt(labels, {schemas::kLwsName});
  const std::string index = json::TextAt(labels, {schemas::kLwsGroup});
  if (!set.empty() && !index.empty()) pod.lws_group = pod.ns + "/" + set + "-" + index;
  const std::string service = json::TextAt(labels, {schemas::kOmeInferenceService});
  std::string name = json::TextAt(controller, {"name"});
  if (!service.empty()) {
    pod.owner = "InferenceService/" + service;
  } else if (!set.empty()) {
    pod.owner = "LeaderWorkerSet/" + set;
  } else if (controller == nullptr) {
    pod.owner = "Pod/" + pod.name;
  } else if (const std::string hash = json::TextAt(labels, {schemas::kTemplateHash});
             pod.controller == "ReplicaSet" && !hash.empty() && name.ends_with("-" + hash)) {
    pod.owner = "Deployment/" + name.substr(0, name.size() - hash.size() - 1);
  } else {
    pod.owner = pod.controller + "/" + name;
  }
}

Pod PodOf(const Value& object) {
  Pod pod;
  pod.entry = &object;
  const Value* metadata = json::Find(object, "metadata");
  const Value* annotations = json::Find(metadata, "annotations");
  const Value* spec = json::Find(object, "spec");
  pod.ns = json::TextAt(metadata, {"namespace"});
  pod.name = json::TextAt(metadata, {"name"});
  pod.node = json::TextAt(spec, {"nodeName"});
  pod.pod_group = json::TextAt(annotations, {schemas::kPodGroupAnnotation});
  pod.created = ParseTimestamp(json::TextAt(metadata, {"creationTimestamp"})).value_or(Time{});
  // The API server takes no others (int32).
  pod.priority =
      std::clamp<int64_t>(json::AsInt(json::Find(spec, "priority")).value_or(0),
                          std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  const auto chips = faults::PhysicalChips(json::TextAt(annotations, {schemas::kAscendReal}));
  pod.chips.insert(chips.begin(), chips.end());
  pod.node_selector = LabelsOf(json::Find(spec, "nodeSelector"));
  const Value* tolerations = json::Find(spec, "tolerations");
  for (size_t i = 0; json::IsArray(tolerations) && i < tolerations->size(); ++i) {
    const Value& one = (*tolerations)[i];
    pod.tolerations.push_back({json::TextAt(one, {"key"}), json::TextAt(one, {"operator"}),
                               json::TextAt(one, {"value"}), json::TextAt(one, {"effect"})});
  }
  const Value* gates = json::Find(spec, "schedulingGates");
  pod.gated = json::IsArray(gates) && !gates->empty();
  const std::string phase = json::TextAt(object, {"status", "phase"});
  pod.failed = phase == "Failed" || phase == "Succeeded";
  pod.leaving = json::Find(metadata, "deletionTimestamp") != nullptr;
  pod.is_new = json::Find(annotations, kPlanned) != nullptr;
  ReadNeeds(object, pod);
  ReadOwner(metadata, pod);
  return pod;
}

Gang GangOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  const std::string owner = json::TextAt(schemas::ControllerOf(metadata), {"kind"});
  Gang gang;
  gang.min_member =
      std::max<int64_t>(0, json::AsInt(json::FindPath(object, {"spec", "minMember"})).value_or(1));
  gang.k = ParseGoInt(json::TextAt(metadata, {"annotations", schemas::kMinAvailable}));
  gang.of_replica_set = owner == "ReplicaSet";
  gang.of_job = owner == "AscendJob" || owner == "Job" || owner == "PodSet";
  gang.created = ParseTimestamp(json::TextAt(metadata, {"creationTimestamp"})).value_or(Time{});
  return gang;
}

std::string AnnotationOf(const Value& object, std::string_view key) {
  return json::TextAt(object, {"metadata", "annotations", key});
}

// The NPUs of one logical super pod where the scheduler reads it, else 0. An annotation that the
// PodGroup lacks is taken from a pod.
int64_t BlockOf(const Value& object) {
  const std::string policy = AnnotationOf(object, schemas::kSchedulePolicy);
  const auto* handler = policy.empty() ? nullptr : schemas::HandlerOfPolicy(policy);
  if (handler != nullptr && !handler->super_pod) return 0;
  return ParseGoInt(AnnotationOf(object, schemas::kSpBlock)).value_or(0);
}

// What the PodGroup does not say, its pods do.
void ReadPodsOfGangs(const ClusterSnapshot& snapshot, Inventory& inventory) {
  struct Sum {
    int64_t npus = 0;
    int64_t largest = 0;
    int64_t block = 0;
  };
  std::map<GroupName, Sum> sums;
  for (const Value* object : snapshot.pod_groups) {
    const GroupName name(json::TextAt(object, {"metadata", "namespace"}),
                         json::TextAt(object, {"metadata", "name"}));
    sums[name].block = BlockOf(*object);
  }
  for (const Pod& pod : inventory.pods) {
    const auto gang = inventory.gangs.find({pod.ns, pod.pod_group});
    if (gang == inventory.gangs.end()) continue;
    if (!gang->second.k)
      gang->second.k = ParseGoInt(AnnotationOf(*pod.entry, schemas::kMinAvailable));
    if (!pod.lws_group.empty()) gang->second.of_job = true;
    Sum& sum = sums[gang->first];
    sum.npus += pod.npus;
    sum.largest = std::max(sum.largest, pod.npus);
    if (sum.block == 0) sum.block = BlockOf(*pod.entry);
  }
  for (const auto& [name, sum] : sums) {
    const auto gang = inventory.gangs.find(name);
    if (gang == inventory.gangs.end()) continue;
    gang->second.one_super_pod = sum.block > sum.largest && sum.block >= sum.npus;
  }
}

}  // namespace

int64_t Gang::Together(int64_t pods) const {
  int64_t together = min_member;
  if (of_replica_set && !k) {
    together = pods;
  } else if (k && min_member == 1) {
    together = *k;
  }
  return std::max<int64_t>(together, 0);
}

std::optional<size_t> Inventory::FindNode(std::string_view name) const {
  const auto found = std::lower_bound(
      nodes.begin(), nodes.end(), name,
      [](const Node& node, std::string_view of) { return NaturalLess(node.name, of); });
  if (found == nodes.end() || found->name != name) return std::nullopt;
  return static_cast<size_t>(found - nodes.begin());
}

std::optional<size_t> Inventory::FindPod(const std::string& ns, const std::string& name) const {
  const auto found = std::lower_bound(
      pods.begin(), pods.end(), std::tie(ns, name),
      [](const Pod& pod, const auto& of) { return std::tie(pod.ns, pod.name) < of; });
  if (found == pods.end() || found->ns != ns || found->name != name) return std::nullopt;
  return static_cast<size_t>(found - pods.begin());
}

Inventory TakeInventory(const ClusterSnapshot& snapshot) {
  Inventory inventory;
  for (const Value* object : snapshot.nodes) {
    inventory.nodes.push_back(NodeOf(*object));
    for (const char* amounts : {"allocatable", "capacity"}) {
      AddDevices(json::FindPath(*object, {"status", amounts}), inventory.devices);
    }
    for (const auto& [resource, chips] : inventory.nodes.back().chips) {
      inventory.devices.insert(resource);
    }
  }
  std::sort(inventory.nodes.begin(), inventory.nodes.end(),
            [](const Node& a, const Node& b) { return NaturalLess(a.name, b.name); });
  for (const Value* pod : snapshot.pods) {
    inventory.pods.push_back(PodOf(*pod));
    // One that is on a node got there.
    if (inventory.pods.back().node.empty())
      ReadAbsentDevice(inventory.devices, inventory.pods.back());
  }
  std::sort(inventory.pods.begin(), inventory.pods.end(), [](const Pod& a, const Pod& b) {
    return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
  });
  inventory.pods_on.resize(inventory.nodes.size());
  for (size_t i = 0; i < inventory.pods.size(); ++i) {
    Pod& pod = inventory.pods[i];
    pod.on = inventory.FindNode(pod.node);
    if (pod.on) inventory.pods_on[*pod.on].push_back(i);
  }
  for (const Value* object : snapshot.pod_groups) {
    const GroupName name(json::TextAt(object, {"metadata", "namespace"}),
                         json::TextAt(object, {"metadata", "name"}));
    inventory.gangs[name] = GangOf(*object);
  }
  ReadPodsOfGangs(snapshot, inventory);
  return inventory;
}

bool IsDevice(std::string_view resource) {
  const size_t slash = resource.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = resource.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

bool Tolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& one) {
      if (!one.effect.empty() && one.effect != taint.effect) return false;
      if (one.operation == "Exists") return one.key.empty() || one.key == taint.key;
      return one.key == taint.key && one.value == taint.value;
    });
  });
}

namespace {

namespace scaling = watcher::scaling;

// Sets of texts that have members in common, directly or through others.
class DisjointSets {
 public:
  size_t NumberOf(const std::string& text) {
    const auto [place, is_new] = numbers_.emplace(text, parents_.size());
    if (is_new) parents_.push_back(parents_.size());
    return place->second;
  }
  void Join(size_t a, size_t b) { parents_[RootOf(a)] = RootOf(b); }
  size_t RootOf(size_t number) {
    while (parents_[number] != number) {
      parents_[number] = parents_[parents_[number]];
      number = parents_[number];
    }
    return number;
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<size_t> parents_;
};

// A name that holds the separator makes a family larger than it needs to be, and nothing wrong.
std::string InstanceText(const InstanceKey& key) { return "i\n" + key.first + "\n" + key.second; }
std::string ServiceText(const scaling::ServiceKey& key) {
  return "s\n" + key.ns + "\n" + key.rule + "\n" + key.job_id;
}
// Services count jobs by this name, and those of others in their namespace.
std::string JobText(const std::string& ns, const std::string& instance) {
  return "j\n" + ns + "\n" + instance;
}

}  // namespace

InitialState::InitialState(const ClusterSnapshot& of)
    : snapshot(of), inventory(TakeInventory(of)), reported(FaultsIn(of)), jobs(of) {
  GroupPods();
  ReadRules();
  FindFamilies();
}

void InitialState::GroupPods() {
  std::map<InstanceKey, Instance> found;
  for (size_t i = 0; i < inventory.pods.size(); ++i) {
    const Pod& pod = inventory.pods[i];
    const auto gang = inventory.gangs.find({pod.ns, pod.pod_group});
    const bool known = gang != inventory.gangs.end();
    const std::string& name = known                   ? pod.pod_group
                              : pod.lws_group.empty() ? pod.owner
                                                      : pod.lws_group;
    Instance& instance = found[{pod.ns, name}];
    if (instance.pods.empty()) instance.created = Time::max();
    instance.pods.push_back(i);
    instance.priority = std::max(instance.priority, pod.priority);
    instance.created = std::min(instance.created, pod.created);
    if (known) instance.gang = &gang->second;
  }
  for (auto& [key, instance] : found) {
    instance.key = key;
    if (instance.gang != nullptr) instance.created = instance.gang->created;
    instances.push_back(std::move(instance));
  }
}

void InitialState::ReadRules() {
  for (const json::Value* object : snapshot.scaling_rules) {
    if (!schemas::ScalingRuleText(*object)) continue;
    rules[{json::TextAt(object, {"metadata", "namespace"}),
           json::TextAt(object, {"metadata", "name"})}] =
        std::make_shared<const scaling::RuleState>(scaling::RuleOf(*object));
  }
}

void InitialState::FindFamilies() {
  DisjointSets sets;
  std::vector<size_t> numbers;                             // by instance
  std::vector<std::set<scaling::ServiceKey>> services_of;  // likewise
  for (const Instance& instance : instances) {
    const size_t number = sets.NumberOf(InstanceText(instance.key));
    numbers.push_back(number);
    std::set<scaling::ServiceKey>& services = services_of.emplace_back();
    for (const size_t i : instance.pods) {
      const Pod& pod = inventory.pods[i];
      if (!pod.lws_group.empty()) {
        sets.Join(number, sets.NumberOf("l\n" + pod.lws_group));
      }
      const auto state = scaling::PodOf(*pod.entry);
      if (!state) continue;
      const scaling::ServiceKey& service = ServiceKeyOf(*state);
      sets.Join(number, sets.NumberOf(ServiceText(service)));
      sets.Join(number, sets.NumberOf(JobText(service.ns, state->instance)));
      services.insert(service);
    }
  }
  std::vector<scaling::PodGroupPtr> pod_groups;
  for (const json::Value* object : snapshot.pod_groups) {
    auto state = scaling::PodGroupOf(*object);
    if (!state) continue;
    const size_t number = sets.NumberOf(ServiceText(state->service));
    sets.Join(number, sets.NumberOf(JobText(state->service.ns, state->instance)));
    sets.Join(number, sets.NumberOf(InstanceText({state->service.ns, state->name})));
    pod_groups.push_back(std::make_shared<const scaling::PodGroupState>(*std::move(state)));
  }
  std::map<size_t, size_t> places;  // of the families, by root
  const auto family_with = [&](size_t number) -> Family& {
    const auto [place, is_new] = places.emplace(sets.RootOf(number), families.size());
    if (is_new) families.emplace_back();
    return families[place->second];
  };
  family_of.resize(inventory.pods.size());
  for (size_t i = 0; i < instances.size(); ++i) {
    Family& family = family_with(numbers[i]);
    family.instances.push_back(i);
    family.pods.insert(family.pods.end(), instances[i].pods.begin(), instances[i].pods.end());
    family.services.merge(services_of[i]);
    const auto number = static_cast<size_t>(&family - families.data());
    for (const size_t pod : instances[i].pods) family_of[pod] = number;
  }
  for (const scaling::PodGroupPtr& pod_group : pod_groups) {
    Family& family = family_with(sets.NumberOf(ServiceText(pod_group->service)));
    family.services.insert(pod_group->service);
    family.pod_groups.push_back(pod_group);
  }
  for (Family& family : families) std::sort(family.pods.begin(), family.pods.end());
}

Part PartOf(const InitialState& initial, const std::set<size_t>& families) {
  Part part;
  for (const size_t number : families) {
    const Family& family = initial.families[number];
    part.families.push_back(number);
    part.instances.insert(part.instances.end(), family.instances.begin(), family.instances.end());
    part.pods.insert(part.pods.end(), family.pods.begin(), family.pods.end());
  }
  std::sort(part.instances.begin(), part.instances.end());
  std::sort(part.pods.begin(), part.pods.end());
  return part;
}

Part Whole(const InitialState& initial) {
  std::set<size_t> all;
  for (size_t i = 0; i < initial.families.size(); ++i) all.insert(all.end(), i);
  return PartOf(initial, all);
}

}  // namespace mindgate::what_if
