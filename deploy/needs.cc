#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/plan.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/children.h"
#include "schemas/workload.h"

namespace mindgate::deploy {
namespace {

// The role that the template was written for: the nearest part of the configuration above it.
std::string RoleOf(const RenderedObject& object, std::string_view path) {
  const Origin* nearest = object.NearestOrigin(path);
  return nearest == nullptr ? object.Name()
                            : nearest->written.substr(nearest->written.rfind('/') + 1);
}

StringMap SelectorOf(const schemas::PodTemplateView& pod) {
  StringMap selector;
  if (pod.node_selector.value == nullptr) return selector;
  for (const json::Member& member : pod.node_selector.value->members()) {
    selector[std::string(member.key)] = json::AsString(&member.value).value_or("");
  }
  return selector;
}

// Pods that need the same of the same nodes are one entry.
void Add(RoleNeeds need, std::vector<RoleNeeds>& needs) {
  const auto same = std::ranges::find_if(needs, [&](const RoleNeeds& each) {
    return each.role == need.role && each.npu_resource == need.npu_resource &&
           each.npus_per_pod == need.npus_per_pod && each.node_selector == need.node_selector;
  });
  if (same == needs.end()) {
    needs.push_back(std::move(need));
  } else {
    same->pods += need.pods;
  }
}

void AddNeedsOf(const RenderedObject& object, std::vector<RoleNeeds>& needs) {
  const json::Document document(object.object);
  const auto view = schemas::BuildView(document.root());
  if (!view) return;
  const auto add = [&](size_t i, int64_t groups) {
    const schemas::PodTemplateView& pod = view->templates[i];
    for (const schemas::MinResource& npus : schemas::NpusOf(pod)) {
      if (npus.amount.value_or(0) < 1) continue;
      Add({RoleOf(object, pod.path), std::string(npus.resource), groups * pod.pods.value_or(1),
           *npus.amount, SelectorOf(pod)},
          needs);
    }
  };
  const schemas::Children children = schemas::ChildrenOf(*view);
  for (const schemas::ChildPodGroup& group : children.pod_groups) {
    for (const size_t i : group.group->templates) add(i, group.count.value_or(1));
  }
  for (const size_t i : children.ungrouped) add(i, 1);
}

}  // namespace

std::vector<RoleNeeds> NeedsOf(const std::vector<RenderedObject>& objects) {
  std::vector<RoleNeeds> needs;
  for (const RenderedObject& each : objects) AddNeedsOf(each, needs);
  // As a request passes them: decode comes after prefill, a decoder after the engine.
  std::ranges::stable_sort(needs, {},
                           [](const RoleNeeds& each) { return each.role.starts_with("decode"); });
  return needs;
}

namespace {

using json::FindPath;

// Pods of one kind.
struct PodBatch {
  int64_t count = 0;
  std::vector<const Json*> containers;
  bool complete = false;  // nothing is merged into them
};

int64_t CountAt(const Json& object, std::string_view key, int64_t otherwise = 1) {
  return json::AsInt(json::Find(object, key)).value_or(otherwise);
}

std::vector<const Json*> ContainersOf(const Json& owner) {
  std::vector<const Json*> containers;
  const Json* list = FindPath(owner, {"template", "spec", "containers"});
  if (!json::IsArray(list)) return containers;
  for (const Json& each : *list) containers.push_back(&each);
  return containers;
}

std::vector<PodBatch> BatchesOf(const Json& object) {
  std::vector<PodBatch> batches;
  const std::string kind = KindOf(object);
  const Json* spec = json::Find(object, "spec");
  if (spec == nullptr) return batches;
  if (kind == "Deployment") {
    batches.push_back({CountAt(*spec, "replicas"), ContainersOf(*spec), true});
  } else if (kind == "AscendJob") {
    const Json* replicas = json::Find(*spec, "replicaSpecs");
    if (!json::IsObject(replicas)) return batches;
    for (const Json& each : *replicas) {
      batches.push_back({CountAt(each, "replicas"), ContainersOf(each), true});
    }
  } else if (kind == "StormService") {
    const Json* roles = FindPath(*spec, {"template", "spec", "roles"});
    if (!json::IsArray(roles)) return batches;
    for (const Json& each : *roles) {
      batches.push_back(
          {CountAt(each, "replicas") * CountAt(each, "podGroupSize"), ContainersOf(each), true});
    }
  } else if (kind == "InferenceService") {
    for (const char* name : {"engine", "decoder", "router"}) {
      const Json* component = json::Find(*spec, name);
      if (component == nullptr) continue;
      const Json* runner = json::Find(*component, "runner");
      if (runner == nullptr) runner = FindPath(*component, {"leader", "runner"});
      PodBatch batch;
      const Json* worker = json::Find(*component, "worker");
      const int64_t workers = worker == nullptr ? 0 : CountAt(*worker, "size", 0);
      batch.count = CountAt(*component, "minReplicas") * (1 + workers);
      if (runner != nullptr) batch.containers.push_back(runner);
      batches.push_back(std::move(batch));
    }
  }
  return batches;
}

std::string QuantityText(const Json& quantity) {
  if (const auto text = json::AsString(&quantity)) return std::string(*text);
  return quantity.is_number() ? quantity.dump() : "";
}

bool IsCpu(std::string_view key) { return key == "cpu" || key.ends_with(".cpu"); }
bool IsMemory(std::string_view key) { return key == "memory" || key.ends_with(".memory"); }

// Processors in thousandths, all else as it is.
std::optional<int64_t> AmountOf(std::string_view key, const Json& quantity) {
  const std::string text = QuantityText(quantity);
  if (!IsCpu(key)) return ParseWholeQuantity(text);
  if (text.ends_with("m")) return ParseWholeQuantity(text.substr(0, text.size() - 1));
  return ParseWholeQuantity(text + "k");
}

std::string TextOf(std::string_view key, int64_t amount) {
  constexpr int64_t kThousand = 1000;
  constexpr int64_t kGi = 1024 * 1024 * 1024;
  constexpr int64_t kMi = 1024 * 1024;
  if (IsCpu(key)) {
    return amount % kThousand == 0 ? std::to_string(amount / kThousand)
                                   : std::to_string(amount) + "m";
  }
  if (IsMemory(key) && amount > 0) {
    if (amount % kGi == 0) return std::to_string(amount / kGi) + "Gi";
    if (amount % kMi == 0) return std::to_string(amount / kMi) + "Mi";
  }
  return std::to_string(amount);
}

// A quota has two names for some things.
std::string Canonical(const std::string& key) {
  if (key == "cpu" || key == "memory") return "requests." + key;
  for (const char* plural : {"pods", "services", "configmaps"}) {
    if (key == plural) return "count/" + key;
  }
  return key;
}

class Counter {
 public:
  Demand Count(const std::vector<Json>& objects) {
    for (const Json& object : objects) {
      const kube::Resource& resource = ResourceOf(object);
      if (!resource.namespaced) continue;
      demand_.amounts["count/" + resource.plural +
                      (resource.group.empty() ? "" : "." + resource.group)] += 1;
      if (json::AsString(FindPath(object, {"spec", "type"})) == "NodePort") {
        const Json* ports = FindPath(object, {"spec", "ports"});
        demand_.amounts["services.nodeports"] +=
            json::IsArray(ports) ? static_cast<int64_t>(ports->size()) : 0;
      }
      for (const PodBatch& batch : BatchesOf(object)) AddBatch(batch);
    }
    return std::move(demand_);
  }

 private:
  void AddBatch(const PodBatch& batch) {
    demand_.amounts["count/pods"] += batch.count;
    for (const Json* container : batch.containers) {
      const Json* limits = FindPath(*container, {"resources", "limits"});
      const Json* requests = FindPath(*container, {"resources", "requests"});
      AddAll("limits.", limits, nullptr, batch.count);
      AddAll("requests.", requests, nullptr, batch.count);
      AddAll("requests.", limits, requests, batch.count);  // a limit is a request by default
      if (!batch.complete) continue;
      for (const std::string resource : {"cpu", "memory"}) {
        const bool limited = json::IsObject(limits) && limits->contains(resource);
        const bool requested = json::IsObject(requests) && requests->contains(resource);
        if (!limited) demand_.unstated.insert("limits." + resource);
        if (!limited && !requested) demand_.unstated.insert("requests." + resource);
      }
    }
  }

  // What `but` has is left out.
  void AddAll(const std::string& prefix, const Json* amounts, const Json* but, int64_t pods) {
    if (!json::IsObject(amounts)) return;
    for (const auto& [resource, quantity] : amounts->items()) {
      if (json::IsObject(but) && but->contains(resource)) continue;
      const std::string key = prefix + resource;
      if (const auto amount = AmountOf(key, quantity)) demand_.amounts[key] += *amount * pods;
    }
  }

  Demand demand_;
};

}  // namespace

Demand DemandOf(const std::vector<Json>& objects) { return Counter().Count(objects); }

QuotaFindings CompareWithQuotas(const std::vector<Json>& quotas, const std::string& ns,
                                const Demand& demand, const Demand& existing) {
  QuotaFindings found;
  for (const Json& quota : quotas) {
    const Json* hard = FindPath(quota, {"spec", "hard"});
    if (!json::IsObject(hard)) continue;
    const Json* spec = json::Find(quota, "spec");
    // One with scopes is about some pods only, and which depends on what is added to them.
    const bool partial = spec->contains("scopes") || spec->contains("scopeSelector");
    for (const auto& [key, quantity] : hard->items()) {
      const std::string known = Canonical(key);
      const std::string text = "ResourceQuota " + NameOf(quota) + " allows " +
                               QuantityText(quantity) + " " + key + " in namespace " + ns;
      if (demand.unstated.contains(known)) {
        found.notes.push_back(
            {text + ", and pods of the application state none of it",
             "they are refused unless a LimitRange of the namespace has a default"});
        continue;
      }
      const auto wanted = demand.amounts.find(known);
      const auto most = AmountOf(key, quantity);
      if (wanted == demand.amounts.end() || !most) continue;
      const std::string needs = "the application needs " + TextOf(known, wanted->second);
      if (wanted->second > *most && !partial) {
        found.blockers.push_back(
            {text + ", and " + needs, "ask for a larger quota, or write fewer instances"});
        continue;
      }
      const Json* used = FindPath(quota, {"status", "used", key});
      const auto own = existing.amounts.find(known);
      int64_t others = used == nullptr ? 0 : AmountOf(key, *used).value_or(0);
      if (own != existing.amounts.end()) others = std::max<int64_t>(0, others - own->second);
      if (wanted->second <= *most - others) continue;
      found.notes.push_back({text + " and others use " + TextOf(known, others) + "; " + needs, ""});
    }
  }
  return found;
}

}  // namespace mindgate::deploy
