#include "schemas/child_rows.h"

#include <utility>

#include "base/text.h"
#include "schemas/children.h"

namespace mindgate::schemas {
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
