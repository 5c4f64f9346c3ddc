#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "json/value.h"

// The elastic scaling rule of a MindIE Motor service: a ConfigMap whose data key
// elastic_scaling.json lists the shapes that the service may run in (mind-cluster:
// component/ascend-operator/pkg/controllers/scaling).
namespace mindgate::schemas {

// A service has a handful of shapes and groups; a rule of more is refused as it is.
inline constexpr size_t kMaxTiers = 64;
inline constexpr size_t kMaxGroupsOfTier = 64;
// Of the text. A rule of that many tiers and groups fits into it.
inline constexpr size_t kMaxScalingRule = 256 * 1024;

struct ScalingGroup {
  std::string group_name;
  int64_t group_num = 0;             // instances wanted; an instance is one AscendJob
  int64_t server_num_per_group = 0;  // pods of one instance; compared between tiers only
  bool operator==(const ScalingGroup&) const = default;
};

// One shape of the service.
struct ScalingTier {
  std::vector<ScalingGroup> groups;  // as written; of a name written twice the last counts
  bool operator==(const ScalingTier&) const = default;

  const ScalingGroup* Find(std::string_view group_name) const;
  // True when it wants any instance. A tier that wants none is never the one that the operator aims
  // at.
  bool CanBeAimedAt() const;
};

struct ScalingRule {
  std::vector<ScalingTier> tiers;  // the largest shape first, the minimal one last
  bool operator==(const ScalingRule&) const = default;

  // True when a job of this group can ever get pods: the largest tier, which has every group, names
  // it.
  bool HasGroup(std::string_view group_name) const;
  // The first tier that can be aimed at and lacks the group. A job of the group that asks for pods
  // while that tier is the aim makes ascend-operator dereference a nil pointer.
  std::optional<size_t> TierWithout(std::string_view group_name) const;
};

// What there is to say about the text of a rule. Places are lines and columns of that text; `field`
// is a path inside it. Each list is in the order of the
// text, behind keys that come twice.
struct ScalingRuleReading {
  std::optional<ScalingRule>
      rule;                 // as the operator understands it; nothing when it refuses the text
  json::Issues refused;     // why it refuses the whole rule: no job under it gets pods
  json::Issues unworkable;  // the operator takes it, but a job could never start, or would crash it
  json::Issues doubtful;  // the operator takes it, but the documents or MindIE's controller differ
};

// Reads the JSON text. Go's decoder and strconv.Atoi set what is accepted: keys in any case,
// numbers as strings only, unknown members ignored, the last of two members of one name. Comments
// are refused as Go does, but do not hide the other faults. Never throws, whatever the bytes.
ScalingRuleReading ReadScalingRule(std::string_view text);

// data[elastic_scaling.json] of a ConfigMap; nothing when it is missing or not a string.
std::optional<std::string_view> ScalingRuleText(const json::Value& config_map);

// The data key of a ConfigMap without a scaling rule that was probably meant to hold one, such as
// "elastic-scaling.json".
std::optional<std::string_view> MisspelledRuleKey(const json::Value& config_map);

}  // namespace mindgate::schemas
