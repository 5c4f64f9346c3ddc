#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "json/value.h"

namespace mindgate::schemas {

// What is read of objects as the API server has them, without a view.

// A label of Kubernetes: which tool made the object.
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";

// What follows a generateName until the API server has chosen the name: five characters.
inline constexpr std::string_view kGeneratedSuffix = "*****";

// The name of an object for people and for patterns: metadata.name, or "legacy-*****" of
// metadata.generateName "legacy-"; empty when it has neither.
std::string ObjectName(const json::Value& object);

// The entry of metadata.ownerReferences that is the controller of the object; null when it has
// none. The API server lets an object have one at most (kubernetes:
// apimachinery/pkg/api/validation/objectmeta.go); of more the first counts.
const json::Value* ControllerOf(const json::Value* metadata);

// The condition of a type in status.conditions, whose items have types of their own; null pointer:
// the object has none. Both are for trees of any kind.
template <json::Tree T>
const T* FindCondition(const T& object, std::string_view type) {
  const T* conditions = json::FindPath(object, {"status", "conditions"});
  if (!json::IsArray(conditions)) return nullptr;
  for (const T& condition : *conditions) {
    if (json::FindString(condition, "type") == type) return &condition;
  }
  return nullptr;
}

// Its status: "True", "False" or "Unknown"; nothing: the object has no such condition.
template <json::Tree T>
std::optional<std::string_view> ConditionStatus(const T& object, std::string_view type) {
  const T* condition = FindCondition(object, type);
  if (condition == nullptr) return std::nullopt;
  return json::FindString(*condition, "status").value_or("");
}

// Where the gate of elastic scaling is in a pod's spec.schedulingGates; nothing: it has none, or
// `gates` is null or not a list. The API server refuses a name that is there twice.
std::optional<size_t> IndexOfScalingGate(const json::Value* gates);

// The taint of a node that the watcher isolates, as kubectl writes it: kFaultyNode and its effect.
inline constexpr std::string_view kFaultyTaint = "mindgate.io/faulty:NoSchedule";
inline constexpr std::string_view kFaultyTaintEffect = "NoSchedule";

// Where it is in a node's spec.taints; nothing: it has none, or `taints` is null or not a list. The
// same key with another effect is not ours. The API server refuses a pair that is there twice.
std::optional<size_t> PlaceOfFaultyTaint(const json::Value* taints);

// Where an object of a kind that mindgate does not handle holds a pod spec whose containers ask for
// NPUs: the pointer of the first one, "/spec/workerGroupSpecs/0/template/spec". A pod spec is an
// object with a list `containers`, wherever it stands: that is so with RayCluster, PyTorchJob,
// JobSet, CloneSet and the like. No more than kMaxMembers members are visited.
std::optional<std::string> FindNpuPods(const json::Value& object);

inline constexpr size_t kMaxMembers = 100'000;

// A rank-table ConfigMap: rings-config-<job>, which ascend-operator fills with the job's devices
// and from whose labels and content ClusterD makes the global rank table of a MindIE service
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go,
// component/clusterd/pkg/domain/epranktable).

// What hccl.json says about itself. The operator writes "completed".
inline constexpr std::string_view kRankTableInitializing = "initializing";
inline constexpr std::string_view kRankTableCompleted = "completed";

// Of the content: what the API server lets a ConfigMap hold.
inline constexpr size_t kMaxRankTable = 1024 * 1024;

// Views into the ConfigMap; lives no longer than it.
struct RankTable {
  std::string_view job_name;            // what follows the prefix
  const json::Value* job_id = nullptr;  // labels as written, of any type; null pointer when missing
  const json::Value* consumer = nullptr;
  const json::Value* ring_controller = nullptr;
  const json::Value* standalone = nullptr;   // grt-server/deploy-server
  const json::Value* distributed = nullptr;  // grt-group/deploy-server

  const json::Value* content = nullptr;  // data[hccl.json]
  std::optional<json::Issue>
      fault;  // why the content is not a JSON object; placed in the content's text
  std::optional<std::string> status;  // its status, when it is a string

  // True when it belongs to a MindIE service. Training jobs have rank tables without any of these
  // labels.
  bool OfMindie() const {
    return job_id != nullptr || consumer != nullptr || standalone != nullptr ||
           distributed != nullptr;
  }
};

// Nothing when the ConfigMap's name lacks the prefix.
std::optional<RankTable> ReadRankTable(const json::Value& config_map);

// How webhooks come to fail closed: what the chart registers, the watcher changes and doctor
// reports.

// Annotation on a webhook configuration of mindgate: the names of its webhooks, separated by
// commas, that are registered with failurePolicy Ignore and become Fail once they answer. The chart
// sets it (charts/mindgate/templates/_registrations.tpl).
inline constexpr std::string_view kFailClosed = "mindgate.io/fail-closed";
// Webhooks whose names begin so deny a dry run of the watcher, which shows that they answer.
inline constexpr std::string_view kProbeWebhook = "probe.";
// The ConfigMap of that dry run; it never exists.
inline constexpr std::string_view kProbeConfigMap = "mindgate-probe";

// Names of the webhooks of a configuration that are to fail closed and do not yet.
std::vector<std::string> OpenWebhooks(const json::Json& configuration);

}  // namespace mindgate::schemas
