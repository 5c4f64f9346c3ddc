#include "schemas/children.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

constexpr std::string_view kAscendOperator = "ascend-operator";
constexpr std::string_view kVolcanoControllers = "volcano-controllers";
constexpr std::string_view kLws = "lws";
constexpr std::string_view kAibrix = "aibrix";

std::string_view NameOf(const WorkloadView& view) {
  return view.name.empty() ? std::string_view("<name>") : view.name;
}

int64_t ReplicasOf(const Value* value) {
  return std::max<int64_t>(json::AsInt(json::Find(value, "replicas")).value_or(1), 0);
}

// "engine" of the group of engine.leader and engine.worker.
std::string_view ComponentOf(const WorkloadView& view, const PodGroupView& group) {
  const std::string_view name = view.templates[group.templates.front()].name;
  return name.substr(0, name.find('.'));
}

bool IsComponentWithWorkers(const WorkloadView& view, const PodGroupView& group) {
  return view.UsesRuntime() && group.facts().leader_and_workers;
}

// Of a component with leader and workers, which OME makes a LeaderWorkerSet of (ome:
// pkg/controller/v1beta1/inferenceservice/reconcilers/lws/lws_reconciler.go).
int64_t GroupsOfComponent(const WorkloadView& view, const PodGroupView& group) {
  const Value* replicas =
      json::FindPath(*view.object, {"spec", ComponentOf(view, group), "minReplicas"});
  return std::max<int64_t>(json::AsInt(replicas).value_or(1), 0);
}

// Whether the controller counts the entry.
bool IsCounted(const ContainerView& container, const NpuRequest& npu, Counts counts) {
  if (npu.request != nullptr) return true;
  if (counts == Counts::kEither) return true;
  if (counts == Counts::kRequests) return false;
  const Value* requests = json::FindPath(*container.value, {"resources", "requests"});
  return !json::IsObject(requests) || requests->empty();
}

// Adds `pods` times what one pod asks for.
void AddPods(const PodTemplateView& pod, int64_t pods, Counts counts,
             std::vector<MinResource>& resources) {
  const bool of_runtime = !pod.own_npus && pod.runtime != nullptr;
  for (const ContainerView& container : of_runtime ? pod.runtime->containers : pod.containers) {
    if (container.role == ContainerView::Role::kInit) continue;
    for (const NpuRequest& npu : container.npus) {
      if (!npu.IsNpu() || !IsCounted(container, npu, counts)) continue;
      auto entry = std::find_if(resources.begin(), resources.end(), [&](const MinResource& one) {
        return one.resource == npu.resource;
      });
      if (entry == resources.end()) {
        entry = resources.insert(resources.end(), {npu.resource, int64_t{0}});
      }
      int64_t amount = 0;
      if (!npu.count || !entry->amount || __builtin_mul_overflow(*npu.count, pods, &amount) ||
          __builtin_add_overflow(*entry->amount, amount, &amount)) {
        entry->amount.reset();
      } else {
        entry->amount = amount;
      }
    }
  }
}

// What the user wrote for the PodGroup.
std::vector<MinResource> ReadMinResources(const Value* written) {
  std::vector<MinResource> resources;
  if (!json::IsObject(written)) return resources;
  for (const auto& [name, amount] : written->members()) {
    if (name.starts_with(kResourcePrefix)) resources.push_back({name, WholeQuantity(&amount)});
  }
  return resources;
}

// The spec of a PodGroup that AIBrix makes itself, as it is written (aibrix: pkg/controller/podset
// and roleset); null pointer where Volcano makes it.
const Value* AibrixStrategyOf(const WorkloadView& view, const PodGroupView& group) {
  const Value* holder = nullptr;
  if (group.owner == PodGroupOwner::kRoleSet) holder = view.spec.value;
  if (group.owner == PodGroupOwner::kPodSet && !group.templates.empty()) {
    const size_t part = view.templates[group.templates.front()].part;
    if (part < view.parts.size()) holder = view.parts[part].value;
  }
  return json::Find(json::Find(holder, "schedulingStrategy"), "volcanoSchedulingStrategy");
}

std::string_view NameOfAibrixGroup(const WorkloadView& view, PodGroupOwner owner) {
  if (owner == PodGroupOwner::kRoleSet) {
    return view.kind == Kind::kRoleSet ? NameOf(view) : std::string_view("<RoleSet>");
  }
  return view.kind == Kind::kPodSet ? NameOf(view) : std::string_view("<PodSet>");
}

std::vector<MinResource> MinResourcesOf(const WorkloadView& view, const ChildPodGroup& child) {
  const PodGroupView& group = *child.group;
  if (const Value* strategy = AibrixStrategyOf(view, group)) {
    return ReadMinResources(json::Find(strategy, "minResources"));
  }
  const Value* written =
      group.owner == PodGroupOwner::kAscendJob
          ? json::FindPath(*view.object, {"spec", "runPolicy", "schedulingPolicy", "minResources"})
          : nullptr;
  if (written != nullptr) return ReadMinResources(written);
  std::vector<MinResource> resources;
  const Counts counts = group.facts().counts;
  // pg-controller counts one pod, whichever it sees first, for each of minMember.
  const bool of_one = !group.facts().counts_all_pods;
  for (const size_t i : group.templates) {
    const PodTemplateView& pod = view.templates[i];
    AddPods(pod, of_one ? child.min_member.value_or(1) : pod.pods.value_or(1), counts, resources);
    if (of_one && !resources.empty()) break;
  }
  // Of a part of the pods only the controller knows which.
  const bool whole = of_one || child.min_member == child.pods;
  for (MinResource& each : resources) {
    if (!whole) each.amount.reset();
  }
  return resources;
}

std::string_view QueueOf(const WorkloadView& view, const PodGroupView& group) {
  constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
  if (const Value* strategy = AibrixStrategyOf(view, group)) {
    return json::FindString(strategy, "queue").value_or("");
  }
  switch (group.owner) {
    case PodGroupOwner::kAscendJob:
      return json::FindString(
                 json::FindPath(*view.object, {"spec", "runPolicy", "schedulingPolicy"}), "queue")
          .value_or("");
    case PodGroupOwner::kVolcanoJob:
      return json::FindString(view.spec.value, "queue").value_or("");
    case PodGroupOwner::kLeaderWorkerSetGroup:
      return view.Annotation(kQueueName).value_or("");
    default:
      if (group.templates.empty()) return "";
      return view.templates[group.templates.front()].Annotation(kQueueName).value_or("");
  }
}

// Replica types whose first pod gets a Service, in any case: the operator spells them itself.
constexpr std::array<std::string_view, 3> kLeaderTypes = {"master", "scheduler", "chief"};

void VisitServicesOfAscendJob(const WorkloadView& view, const ServiceVisitor& visit) {
  for (const PodTemplateView& pod : view.templates) {
    const std::string type = ToLower(pod.name);
    if (std::find(kLeaderTypes.begin(), kLeaderTypes.end(), type) == kLeaderTypes.end()) continue;
    visit({kAscendOperator, std::string(view.name) + "-" + type + "-0", "/metadata/name"});
    return;
  }
}

// One for all groups, or with subdomainPolicy UniquePerReplica one for each, called as its leader.
void VisitServiceOfLeaderWorkerSet(const WorkloadView& view, const ServiceVisitor& visit) {
  const Value* spec = json::Find(view.object, "spec");
  const Value* network = json::Find(spec, "networkConfig");
  ChildService service = {kLws, std::string(view.name), "/metadata/name"};
  if (json::FindString(network, "subdomainPolicy") == "UniquePerReplica") {
    service.count = ReplicasOf(spec);
    if (service.count == 0) return;
    service.name += "-" + std::to_string(service.count - 1);
  }
  visit(service);
}

bool HasRankTableVolume(const PodTemplateView& pod) {
  const Value* volumes = pod.pod_spec.Find("volumes");
  return json::IsArray(volumes) &&
         std::any_of(volumes->begin(), volumes->end(), [](const Value& volume) {
           return json::FindString(volume, "name") == kRankTableVolume;
         });
}

}  // namespace

std::vector<MinResource> NpusOf(const PodTemplateView& pod) {
  std::vector<MinResource> npus;
  AddPods(pod, 1, Counts::kEither, npus);
  return npus;
}

bool NamesNpus(const Value* min_resources) { return !ReadMinResources(min_resources).empty(); }

std::optional<int64_t> PodsOf(const WorkloadView& view, const PodGroupView& group) {
  int64_t sum = 0;
  for (const size_t i : group.templates) {
    const auto pods = view.templates[i].pods;
    if (!pods || *pods < 0 || __builtin_add_overflow(sum, *pods, &sum)) return std::nullopt;
  }
  return sum;
}

int64_t CountOf(const WorkloadView& view, const PodGroupView& group) {
  if (view.kind == Kind::kSite) return group.copies;
  const Value* spec = json::Find(view.object, "spec");
  const int64_t sets = view.is_set ? ReplicasOf(spec) : 1;
  if (view.kind == Kind::kLeaderWorkerSet || view.kind == Kind::kInstanceSet) {
    return ReplicasOf(spec);
  }
  if (IsComponentWithWorkers(view, group)) return GroupsOfComponent(view, group);
  const bool of_role = group.owner == PodGroupOwner::kInstance || kInferWithRoles.Has(view.kind) ||
                       (group.owner == PodGroupOwner::kPodSet && view.kind != Kind::kPodSet);
  if (!of_role || group.templates.empty()) return sets;
  const size_t part = view.templates[group.templates.front()].part;
  const Value* role = part < view.parts.size() ? view.parts[part].value : nullptr;
  return sets * ReplicasOf(role);
}

// Of an AscendJob (mind-cluster: component/ascend-operator/pkg/controllers/v1/service.go,
// genService), of a vcjob with plugin svc (volcano: pkg/controllers/job/plugins/svc/svc.go), of a
// LeaderWorkerSet (lws: pkg/controllers/{leaderworkerset,pod}_controller.go) and of a StormService
// (aibrix: pkg/controller/stormservice/sync.go, syncHeadlessService). A RoleSet or PodSet of its
// own has none.
void ForEachService(const WorkloadView& view, const ServiceVisitor& visit) {
  if (view.name.empty()) return;
  if (view.kind == Kind::kAscendJob) VisitServicesOfAscendJob(view, visit);
  if (view.kind == Kind::kVolcanoJob &&
      json::Find(json::Find(view.spec.value, "plugins"), "svc") != nullptr) {
    visit({kVolcanoControllers, std::string(view.name), "/metadata/name"});
  }
  if (view.kind == Kind::kLeaderWorkerSet) VisitServiceOfLeaderWorkerSet(view, visit);
  if (view.kind == Kind::kStormService) {
    visit({kAibrix, std::string(view.name), "/metadata/name"});
  }
}

// mind-cluster: component/ascend-operator/pkg/ranktable/plugins.go, ShouldGenerateRankTable.
bool WantsRankTable(const WorkloadView& view) {
  return view.kind == Kind::kAscendJob || view.labels.Find(kRingController) != nullptr ||
         std::any_of(view.templates.begin(), view.templates.end(), HasRankTableVolume);
}

std::optional<ChildRankTable> RankTableOf(const WorkloadView& view) {
  if (view.name.empty() || !kRankTableKinds.Has(view.kind) || !view.RequestsNpus() ||
      !WantsRankTable(view)) {
    return std::nullopt;
  }
  return ChildRankTable{std::string(kRankTablePrefix) + std::string(view.name)};
}

Children ChildrenOf(const WorkloadView& view, const ObjectLookup* objects, std::string_view ns) {
  Children children;
  std::vector<bool> grouped(view.templates.size(), false);
  for (const PodGroupView& group : view.pod_groups) {
    const PodGroupFacts& facts = group.facts();
    ChildPodGroup child;
    child.group = &group;
    child.maker = facts.maker;
    child.name = facts.before;
    if (facts.before.empty()) {
      child.name = NameOf(view);
      if (IsComponentWithWorkers(view, group)) {
        child.name += "-" + std::string(ComponentOf(view, group));
      }
      child.name += facts.after;
    }
    if (AibrixStrategyOf(view, group) != nullptr) {
      child.maker = kAibrix;
      child.name = NameOfAibrixGroup(view, group.owner);
    }
    child.count = CountOf(view, group);
    child.pods = PodsOf(view, group);
    child.min_member = group.min_member;
    child.min_resources = MinResourcesOf(view, child);
    child.queue = QueueOf(view, group);
    for (const size_t i : group.templates) grouped[i] = true;
    children.pod_groups.push_back(std::move(child));
  }
  for (size_t i = 0; i < grouped.size(); ++i) {
    if (!grouped[i]) children.ungrouped.push_back(i);
  }
  ForEachService(
      view, [&children](const ChildService& service) { children.services.push_back(service); });
  children.rank_table = RankTableOf(view);
  children.autoscalers = AutoscalersOf(view, objects, ns);
  return children;
}

namespace {

std::string NumberOr(std::optional<int64_t> number, std::string_view otherwise) {
  return number ? std::to_string(*number) : std::string(otherwise);
}

// "8 huawei.com/Ascend910"
void AddAmounts(const std::vector<MinResource>& resources, std::string_view each_of,
                std::vector<std::string>& facts) {
  for (const MinResource& each : resources) {
    facts.push_back(NumberOr(each.amount, "some") + " " + std::string(each.resource) +
                    std::string(each_of));
  }
}

std::string PodFacts(const WorkloadView& view, const PodTemplateView& pod) {
  std::vector<std::string> facts;
  AddAmounts(NpusOf(pod), " each", facts);
  if (facts.empty()) facts.emplace_back("no NPUs");
  const std::string_view scheduler = pod.SchedulerName();
  if (!scheduler.empty()) {
    facts.push_back("scheduler " + std::string(scheduler));
  } else if (!view.LacksRuntime()) {
    facts.emplace_back("scheduler default-scheduler");
  }
  return Join(facts, ", ");
}

ChildRow RowOf(const WorkloadView& view, const PodTemplateView& pod, int64_t groups) {
  std::optional<int64_t> pods = pod.pods;
  int64_t all = 0;
  if (pods && !__builtin_mul_overflow(*pods, groups, &all)) pods = all;
  return {NumberOr(pods, ""), "Pod", std::string(pod.name), PodFacts(view, pod), ""};
}

ChildRow RowOf(const ChildPodGroup& group) {
  std::vector<std::string> facts;
  if (group.pods) {
    facts.push_back(Counted(*group.pods, "pod") + (group.count == int64_t{1} ? "" : " each"));
  }
  facts.push_back("minMember " + NumberOr(group.min_member, "unknown"));
  if (group.min_resources.empty()) {
    if (group.group->npus) facts.emplace_back("no NPUs in minResources");
  } else {
    AddAmounts(group.min_resources, "", facts);
  }
  if (!group.queue.empty()) facts.push_back("queue " + std::string(group.queue));
  return {NumberOr(group.count, ""), "PodGroup", group.name, Join(facts, ", "),
          std::string(group.maker)};
}

// "role prefill, 2 to 8 replicas"
ChildRow RowOf(const Autoscaler& autoscaler) {
  std::string facts = autoscaler.role.empty() ? "" : "role " + std::string(autoscaler.role) + ", ";
  facts += NumberOr(autoscaler.min, "unknown") + " to " + NumberOr(autoscaler.max, "unknown") +
           " replicas";
  return {std::to_string(autoscaler.count), std::string(autoscaler.kind), autoscaler.name,
          std::move(facts), std::string(autoscaler.maker)};
}

}  // namespace

std::vector<ChildRow> ChildRowsOf(const WorkloadView& view, const ObjectLookup* objects,
                                  std::string_view ns) {
  std::vector<ChildRow> rows;
  if (view.templates.empty() || kOmeRuntimes.Has(view.kind)) return rows;
  const Children children = ChildrenOf(view, objects, ns);
  for (const ChildPodGroup& group : children.pod_groups) {
    rows.push_back(RowOf(group));
    for (const size_t i : group.group->templates) {
      rows.push_back(RowOf(view, view.templates[i], group.count.value_or(1)));
    }
  }
  for (const size_t i : children.ungrouped) rows.push_back(RowOf(view, view.templates[i], 1));
  for (const ChildService& service : children.services) {
    rows.push_back({std::to_string(service.count), "Service", service.name,
                    service.count == 1 ? "" : "one a group; this is the last one's",
                    std::string(service.maker)});
  }
  if (children.rank_table) {
    rows.push_back({"", "ConfigMap", children.rank_table->config_map,
                    "the rank table, when it is there", "ascend-operator"});
  }
  for (const Autoscaler& each : children.autoscalers) rows.push_back(RowOf(each));
  return rows;
}

}  // namespace mindgate::schemas
