#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/replicas.h"
#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::schemas {

// What the controllers of an object make of it, as far as the object shows it: rules evaluate it,
// what-if plans with it, and `mindgate explain` shows it. A view says what stands in the object;
// this says what becomes of it, in the cluster's own names, and between which bounds what is
// applied beside it scales it. Nothing here reads a cluster.

// Entries of spec.minResources that Volcano's plugin finds: by the first one it knows that the job
// is one for NPUs (mind-cluster: component/ascend-for-volcano/plugin/job.go,
// GetVCJobReqNPUTypeFromJobInfo).
struct MinResource {
  std::string_view resource;      // "huawei.com/Ascend910"
  std::optional<int64_t> amount;  // nothing: it depends on which pods the controller counts
};

struct ChildPodGroup {
  const PodGroupView* group = nullptr;  // of the view
  std::string_view maker;               // "ascend-operator"
  // As it will be called, with what only the cluster knows in angle brackets: "chat-<uid>".
  std::string name;
  std::optional<int64_t> count;       // of such PodGroups
  std::optional<int64_t> pods;        // in each
  std::optional<int64_t> min_member;  // nothing: the object does not say
  std::vector<MinResource> min_resources;
  std::string_view queue;  // empty: Volcano's default one
};

struct ChildService {
  std::string_view maker;
  std::string name;           // of several the last one's, which is the longest
  std::string_view named_by;  // path of what its name is made of
  int64_t count = 1;
};

// The ConfigMap that ascend-operator fills with the addresses of all ranks.
struct ChildRankTable {
  std::string config_map;  // "rings-config-train"
};

struct Children {
  std::vector<ChildPodGroup> pod_groups;
  // Indexes of templates whose pods Volcano does not group.
  std::vector<size_t> ungrouped;
  std::vector<ChildService> services;
  std::optional<ChildRankTable> rank_table;
  std::vector<Autoscaler> autoscalers;
};

// `objects` may be null: then nothing else is known. `ns` is the object's namespace.
Children ChildrenOf(const WorkloadView& view, const ObjectLookup* objects = nullptr,
                    std::string_view ns = {});

// Parts of it, for those who need no more.

// The NPUs that one of these pods asks for once it is stored: the API server copies limits to
// requests there. What a template of OME leaves out is its runtime's.
std::vector<MinResource> NpusOf(const PodTemplateView& pod);
// Whether minResources, as it is written for a PodGroup, names an NPU.
bool NamesNpus(const json::Value* min_resources);
using ServiceVisitor = std::function<void(const ChildService& service)>;
void ForEachService(const WorkloadView& view, const ServiceVisitor& visit);
std::optional<ChildRankTable> RankTableOf(const WorkloadView& view);
// Whether an object of one of kRankTableKinds asks for a rank table, as an AscendJob always does:
// by a label of its own, or a volume of that name in a template.
bool WantsRankTable(const WorkloadView& view);
// The pods of one such PodGroup; nothing when a template does not say, or says it wrongly.
std::optional<int64_t> PodsOf(const WorkloadView& view, const PodGroupView& group);
// How many PodGroups of one kind the object makes.
int64_t CountOf(const WorkloadView& view, const PodGroupView& group);

// One line of what becomes of an object: "4  Pod  worker  8 huawei.com/Ascend910 each, scheduler
// volcano".
struct ChildRow {
  std::string count;  // "4"; empty: the object does not say
  std::string kind;   // "PodGroup"
  std::string name;   // of a Pod that of its template; may be empty
  std::string facts;  // for people
  std::string maker;  // the controller; empty with Pods and with what is applied beside
  bool operator==(const ChildRow&) const = default;
};

// PodGroups with their Pods below, Services, rank table, autoscalers; empty for an object that
// makes no pods. The arguments are those of ChildrenOf.
std::vector<ChildRow> ChildRowsOf(const WorkloadView& view, const ObjectLookup* objects = nullptr,
                                  std::string_view ns = {});

}  // namespace mindgate::schemas
