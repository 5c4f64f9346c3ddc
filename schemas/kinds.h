#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace mindgate::schemas {

// Every kind that mindgate handles. Matching is by API group and kind: serving.kserve.io and other
// look-alikes are not ours.
enum class Kind : uint8_t {
  kAscendJob,
  kVolcanoJob,
  kVolcanoCronJob,
  kJob,
  kCronJob,
  kDeployment,
  kReplicaSet,
  kStatefulSet,
  kLeaderWorkerSet,
  kServingRuntime,
  kClusterServingRuntime,
  kInferenceService,
  kStormService,
  kRoleSet,
  kPodSet,
  kInferServiceSet,
  kInferService,
  kInstanceSet,
  kPod,
  kConfigMap,
};
inline constexpr int kKindCount = 20;

// Whose habits decide the injected defaults; the key of a profile in mindgate.yaml.
enum class Framework : uint8_t {
  kMindIE,  // an AscendJob with labels jobID and app
  kAscendJob,
  kOme,
  kAibrix,
  kLeaderWorkerSet,
  kVolcano,  // vcjobs
  kDeployment,
  kStatefulSet,
  kJob,  // batch/v1
  kInferOperator,
  kPod,
};
inline constexpr int kFrameworkCount = 11;

std::string_view FrameworkName(
    Framework framework);  // as written in mindgate.yaml: "mindie", "ome", ...
std::optional<Framework> FrameworkNamed(std::string_view name);

struct KindInfo {
  Kind kind;
  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view name;  // "Deployment"
  bool built_in;         // the API server writes defaults (schedulerName: default-scheduler) before
                         // admission
  bool template_frozen;  // the pod template cannot change after creation: mutate on CREATE only
};

const KindInfo& InfoOf(Kind kind);
std::string_view KindName(Kind kind);  // "Deployment"; vcjobs are "Job" of batch.volcano.sh

// `api_version` is "group/version" or "v1".
std::string_view GroupOf(std::string_view api_version);
std::optional<Kind> KindOf(std::string_view group, std::string_view kind);
std::optional<Kind> KindOf(const json::Value& object);

// A set of kinds, for what a rule applies to.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<Kind> kinds) {
    for (Kind kind : kinds) bits_ |= Bit(kind);
  }
  constexpr bool Has(Kind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr KindSet operator|(KindSet other) const {
    KindSet set;
    set.bits_ = bits_ | other.bits_;
    return set;
  }
  constexpr KindSet operator-(KindSet other) const {
    KindSet set;
    set.bits_ = bits_ & ~other.bits_;
    return set;
  }

 private:
  static constexpr uint32_t Bit(Kind kind) { return 1u << static_cast<unsigned>(kind); }
  uint32_t bits_ = 0;
};

inline constexpr KindSet kOmeRuntimes = {Kind::kServingRuntime, Kind::kClusterServingRuntime};
inline constexpr KindSet kOnlyAscendJob = {Kind::kAscendJob};
inline constexpr KindSet kOnlyConfigMap = {Kind::kConfigMap};
inline constexpr KindSet kOmeKinds = kOmeRuntimes | KindSet{Kind::kInferenceService};
inline constexpr KindSet kAibrixKinds = {Kind::kStormService, Kind::kRoleSet, Kind::kPodSet};
inline constexpr KindSet kInferOperatorKinds = {Kind::kInferServiceSet, Kind::kInferService,
                                                Kind::kInstanceSet};
inline constexpr KindSet kVolcanoJobs = {Kind::kVolcanoJob, Kind::kVolcanoCronJob};
inline constexpr KindSet kBatchJobs = {Kind::kJob, Kind::kCronJob};
// Whose pods are of ReplicaSets.
inline constexpr KindSet kReplicaSets = {Kind::kDeployment, Kind::kReplicaSet};
// Every kind that holds pod templates, bare pods included.
inline constexpr KindSet kWorkloads =
    kOmeKinds | kAibrixKinds | kInferOperatorKinds | kVolcanoJobs | kBatchJobs |
    KindSet{Kind::kAscendJob,   Kind::kDeployment,      Kind::kReplicaSet,
            Kind::kStatefulSet, Kind::kLeaderWorkerSet, Kind::kPod};

}  // namespace mindgate::schemas
