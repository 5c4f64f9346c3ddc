#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/ascendjob_checks.h"
#include "policies/references.h"
#include "policies/scaling_checks.h"
#include "schemas/names.h"
#include "schemas/scaling_rule.h"

namespace mindgate::policies::scaling {
namespace {

using json::Child;
using json::Value;
using schemas::ScalingRule;
using schemas::ScalingRuleReading;
using schemas::WorkloadView;

std::string LabelPath(const WorkloadView& view, std::string_view key) {
  return view.labels.path.Child(key);
}

// The rule that the job names; nothing when it names none, or nothing usable as a name.
std::optional<std::string_view> RuleName(const WorkloadView& view) {
  const auto name = view.Label(schemas::kScalingRule);
  return name && !name->empty() ? name : std::nullopt;
}

Reference RuleConfigMap(const RuleContext& context, Findings& findings, std::string_view name) {
  return LookUp(context, findings, "", "ConfigMap", context.ns(), name);
}

// The groups of the rule, at most some: all stand in the first tier.
std::vector<std::string_view> GroupNames(const ScalingRule& rule) {
  constexpr size_t kMaxNames = 8;  // enough for a message
  std::vector<std::string_view> names;
  if (rule.tiers.empty()) return names;
  for (const auto& group : rule.tiers.front().groups) {
    if (names.size() < kMaxNames) names.push_back(group.group_name);
  }
  return names;
}

void CheckGroupOf(const WorkloadView& view, const ScalingRule& rule, std::string_view group,
                  Findings& findings) {
  const std::string path = LabelPath(view, schemas::kGroupName);
  if (rule.tiers.empty()) {
    findings.Violate(LabelPath(view, schemas::kScalingRule),
                     "the scaling rule lists no shape of the service, so the job gets no pods",
                     "list at least one shape in elastic_scaling_list of the rule");
    return;
  }
  if (!rule.HasGroup(group)) {
    const auto names = GroupNames(rule);
    const auto near = NearestOf(group, names);
    std::string fix = "list the group in every tier of the rule";
    if (near) {
      fix = "write " + std::string(*near);
    } else if (!names.empty()) {
      fix = "write " + OneOf(names) + ", or " + fix;
    }
    findings.Violate(
        path,
        "group " + Quote(group) +
            " is in no tier of the scaling rule; asking for its pods crashes the operator",
        fix);
    return;
  }
  if (const auto tier = rule.TierWithout(group)) {
    findings.Violate(path,
                     "group " + Quote(group) + " is missing in tier " + std::to_string(*tier) +
                         " of the scaling rule; asking for its pods there crashes the operator",
                     "add the group to elastic_scaling_list[" + std::to_string(*tier) +
                         "] of the rule, with \"group_num\": \"0\" if the tier wants none of it");
  }
}

}  // namespace

void CheckLabels(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const Value* rule = view.labels.Find(schemas::kScalingRule);
  if (rule == nullptr) return;
  if (json::AsString(rule) == "") {
    findings.Violate(
        LabelPath(view, schemas::kScalingRule),
        "label mind-cluster/scaling-rule is empty, yet it counts as set: the job waits forever",
        "write the name of the rule's ConfigMap, or remove the label");
  }
  struct Needed {
    std::string_view key, fix;
  };
  constexpr std::array<Needed, 2> kNeeded = {{
      {schemas::kGroupName, "write the group_name of the rule that the job belongs to"},
      {schemas::kJobId, "write the id of the service, the same on all its jobs"},
  }};
  for (const Needed& needed : kNeeded) {
    const Value* value = view.labels.Find(needed.key);
    const std::string label = "label " + std::string(needed.key);
    if (value == nullptr) {
      findings.Violate(
          LabelPath(view, needed.key),
          label + " is missing beside a scaling rule, so the operator fails the job permanently",
          std::string(needed.fix));
    } else if (json::AsString(value) == "") {
      findings.Violate(
          LabelPath(view, needed.key),
          label + " is empty beside a scaling rule, so the job is not counted with the service",
          std::string(needed.fix));
    }
  }
}

void CheckRuleExists(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  if (!name) return;
  const Reference found = RuleConfigMap(context, findings, *name);
  if (found.object != nullptr) return;
  const auto meant = FindMeant(context, "", "ConfigMap", context.ns(), *name);
  if (!found.IsAbsent() && !meant) return;
  const std::string_view ns = context.ns();
  const std::string here = ns.empty() ? "" : " " + Quote(ns);
  std::string fix = "create the ConfigMap in the namespace of the job; one elsewhere is not seen";
  std::string seen;
  if (meant && meant->name != *name) {
    seen = ", but " + Quote(meant->name) + " is";
    fix = "write mind-cluster/scaling-rule: " + std::string(meant->name);
  } else if (meant) {
    seen = meant->ns.empty() ? ", but there is one that names no namespace"
                             : ", but in " + Quote(meant->ns);
    fix = "write " + (ns.empty() ? "the job's namespace" : "namespace: " + std::string(ns)) +
          " in the ConfigMap's metadata";
  }
  findings.Violate(LabelPath(context.view, schemas::kScalingRule),
                   "ConfigMap " + Quote(*name) + " is not in the job's namespace" + here + seen +
                       ", so no pods are created until it is",
                   std::move(fix));
}

void CheckGroup(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  if (!name) return;
  const Value* config_map = RuleConfigMap(context, findings, *name).object;
  if (config_map == nullptr) return;
  const std::string path = LabelPath(context.view, schemas::kScalingRule);
  const auto text = schemas::ScalingRuleText(*config_map);
  if (!text) {
    findings.Violate(path,
                     "ConfigMap " + Quote(*name) +
                         " has no text under elastic_scaling.json, so the job gets no pods",
                     "put the rule under the data key elastic_scaling.json");
    return;
  }
  const ScalingRuleReading reading = schemas::ReadScalingRule(*text);
  if (!reading.rule) {
    const json::Issue& issue = reading.refused.items().front();
    findings.Violate(path,
                     "ConfigMap " + Quote(*name) + " holds no valid scaling rule (line " +
                         std::to_string(issue.at.line) + ": " + issue.message + ")",
                     "correct the ConfigMap: " + issue.hint);
    return;
  }
  const auto group = context.view.Label(schemas::kGroupName);
  if (group && !group->empty()) CheckGroupOf(context.view, *reading.rule, *group, findings);
}

void CheckServerCount(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  const auto group_name = context.view.Label(schemas::kGroupName);
  const auto total = ascendjob::TotalReplicas(context.view);
  if (!name || !group_name || !total) return;
  const Value* config_map = RuleConfigMap(context, findings, *name).object;
  const auto text = config_map == nullptr ? std::nullopt : schemas::ScalingRuleText(*config_map);
  if (!text) return;
  const ScalingRuleReading reading = schemas::ReadScalingRule(*text);
  if (!reading.rule || reading.rule->tiers.empty()) return;
  const schemas::ScalingGroup* group = reading.rule->tiers.front().Find(*group_name);
  if (group == nullptr || group->server_num_per_group == *total) return;
  findings.Violate(std::string(ascendjob::kReplicaSpecsPath),
                   "the job has " + std::to_string(*total) + " pods, but group " +
                       Quote(*group_name) + " of the scaling rule says " +
                       std::to_string(group->server_num_per_group) + " per job",
                   "make the sum of replicas and server_num_per_group of the group equal");
}

void CheckPlacement(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const bool has_rule = view.labels.Find(schemas::kScalingRule) != nullptr;
  const auto app = view.Label(schemas::kApp);
  if (has_rule && (app == schemas::kMindieController || app == schemas::kMindieCoordinator)) {
    findings.Violate(LabelPath(view, schemas::kScalingRule),
                     "a scaling rule on " + std::string(*app) +
                         " makes it wait for its turn like a server instance",
                     "remove the scaling labels; they belong on the jobs of server instances");
  }
  if (has_rule || view.labels.wrong_type) return;
  if (view.labels.Find(schemas::kGroupName) != nullptr) {
    findings.Violate(
        LabelPath(view, schemas::kGroupName),
        "label mind-cluster/group-name has no effect without mind-cluster/scaling-rule",
        "add mind-cluster/scaling-rule with the name of the rule's ConfigMap");
  }
  for (const auto& pod : view.templates) {
    if (pod.labels.Find(schemas::kScalingRule) == nullptr) continue;
    findings.Violate(pod.labels.path.Child(schemas::kScalingRule),
                     "label mind-cluster/scaling-rule has no effect on the pods of " +
                         std::string(pod.name) + "; the operator reads the job's own labels",
                     "move the scaling labels to metadata.labels of the AscendJob");
  }
}

}  // namespace mindgate::policies::scaling
