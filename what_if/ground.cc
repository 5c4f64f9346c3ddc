#include "what_if/ground.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "json/value.h"

namespace mindgate::what_if {
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

Ground::Ground(const ClusterSnapshot& of)
    : snapshot(of), inventory(TakeInventory(of)), reported(FaultsIn(of)), jobs(of) {
  GroupPods();
  ReadRules();
  FindFamilies();
}

void Ground::GroupPods() {
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

void Ground::ReadRules() {
  for (const json::Value* object : snapshot.scaling_rules) {
    if (!schemas::ScalingRuleText(*object)) continue;
    rules[{json::TextAt(object, {"metadata", "namespace"}),
           json::TextAt(object, {"metadata", "name"})}] =
        std::make_shared<const scaling::RuleState>(scaling::RuleOf(*object));
  }
}

void Ground::FindFamilies() {
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

Part PartOf(const Ground& ground, const std::set<size_t>& families) {
  Part part;
  for (const size_t number : families) {
    const Family& family = ground.families[number];
    part.families.push_back(number);
    part.instances.insert(part.instances.end(), family.instances.begin(), family.instances.end());
    part.pods.insert(part.pods.end(), family.pods.begin(), family.pods.end());
  }
  std::sort(part.instances.begin(), part.instances.end());
  std::sort(part.pods.begin(), part.pods.end());
  return part;
}

Part Whole(const Ground& ground) {
  std::set<size_t> all;
  for (size_t i = 0; i < ground.families.size(); ++i) all.insert(all.end(), i);
  return PartOf(ground, all);
}

}  // namespace mindgate::what_if
