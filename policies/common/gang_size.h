#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policies/rule.h"
#include "schemas/names.h"
#include "schemas/replicas.h"
#include "schemas/workload.h"

// K, short for the value of huawei.com/schedule_minAvailable throughout, in code and comments: how
// many pods of a PodGroup MindCluster's plugin wants before it lets Volcano bind one.
namespace mindgate::policies::common {

// Nothing for what is no count of pods: Kubernetes counts them in int32, and the plugin converts to
// it.
std::optional<int64_t> ParseK(std::optional<std::string_view> text);

std::string KIs(int64_t k);  // "huawei.com/schedule_minAvailable is 2"

// K as the plugin finds it for these pods: on the PodGroup, else on the pod.
struct SeenK {
  int64_t k = 0;
  const schemas::WorkloadView* view = nullptr;
  const schemas::PodTemplateView* pod = nullptr;
  const schemas::FieldView* of_group = nullptr;  // null pointer: it is not on the PodGroup

  std::string Path() const;
};

// Nothing when K is absent or unreadable, or nobody reads it.
std::optional<SeenK> SeenBy(const RuleContext& context, const schemas::PodTemplateView& pod);

// What keeps the pods of a PodGroup waiting for each other.
struct SeenGang {
  int64_t size = 0;
  std::string path;         // of what says so
  std::string text;         // "huawei.com/schedule_minAvailable is 2"
  bool of_volcano = false;  // minMember of the PodGroup, whatever K says
};

// The larger of K and of what Volcano's own gang plugin wants: the annotation
// scheduling.volcano.sh/group-min-member, which becomes minMember of PodGroups that pg-controller
// makes from Volcano 1.12 on (volcano: pkg/controllers/podgroup/pg_controller_handler.go,
// pkg/scheduler/plugins/gang/gang.go). Nothing as for SeenBy.
std::optional<SeenGang> GangOf(const RuleContext& context, const schemas::PodTemplateView& pod);

// Whether the plugin looks at these pods: they ask for NPUs, and Volcano schedules them. An
// InferenceService seldom shows whether it asks for some.
bool IsGang(const RuleContext& context, const schemas::PodTemplateView& pod);

// Of a template that has one, as all have for which SeenBy gives a K.
const schemas::PodGroupView& GroupOf(const schemas::WorkloadView& view,
                                     const schemas::PodTemplateView& pod);

// What is left of a group where autoscalers that are applied beside have it at their minimum.
struct LeastPods {
  int64_t pods = 0;
  schemas::Autoscaler by;  // that leaves the fewest of its template
  int64_t of_template = 0;
};

// Nothing when no such autoscaler scales the pods, or one of the numbers is not known. A workload
// without pods has no gang: the least is one pod of each template.
std::optional<LeastPods> LeastPodsOf(const RuleContext& context,
                                     const schemas::PodGroupView& group);

}  // namespace mindgate::policies::common
