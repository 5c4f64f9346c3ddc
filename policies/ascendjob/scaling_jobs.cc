#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/ascendjob/ascendjob.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "schemas/names.h"
#include "schemas/scaling_rule.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Child;
using json::Value;
using schemas::ScalingRule;
using schemas::ScalingRuleReading;
using schemas::WorkloadView;

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
  const std::string path = view.labels.path.Child(schemas::kGroupName);
  if (rule.tiers.empty()) {
    findings.Violate(view.labels.path.Child(schemas::kScalingRule),
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

void CheckLabels(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const Value* rule = view.labels.Find(schemas::kScalingRule);
  if (rule == nullptr) return;
  if (json::AsString(rule) == "") {
    findings.Violate(
        view.labels.path.Child(schemas::kScalingRule),
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
          view.labels.path.Child(needed.key),
          label + " is missing beside a scaling rule, so the operator fails the job permanently",
          std::string(needed.fix));
    } else if (json::AsString(value) == "") {
      findings.Violate(
          view.labels.path.Child(needed.key),
          label + " is empty beside a scaling rule, so the job is not counted with the service",
          std::string(needed.fix));
    }
  }
}

// The one scaling rule of the namespace that is known here, when it has the job's group and no
// other job names it.
std::optional<std::string_view> OnlyRule(const RuleContext& context, std::string_view named) {
  const schemas::ObjectLookup* objects = context.request.objects;
  const auto group = context.view.Label(schemas::kGroupName);
  if (objects == nullptr || !group) return std::nullopt;
  const Value* only = nullptr;
  size_t rules = 0;
  objects->ForEach("", "ConfigMap", context.ns(), [&](const Value& config_map) {
    if (!schemas::ScalingRuleText(config_map)) return;
    only = &config_map;
    ++rules;
  });
  if (rules != 1) return std::nullopt;
  const auto name = json::FindString(json::Find(*only, "metadata"), "name");
  if (!name || IsNumberedLike(*name, named)) return std::nullopt;
  const auto reading = schemas::ReadScalingRule(*schemas::ScalingRuleText(*only));
  if (!reading.rule || !reading.rule->HasGroup(*group)) return std::nullopt;
  bool used = false;
  objects->ForEach("mindxdl.gitee.com", "AscendJob", context.ns(), [&](const Value& job) {
    const Value* labels = json::FindPath(job, {"metadata", "labels"});
    used = used || json::FindString(labels, schemas::kScalingRule) == *name;
  });
  return used ? std::nullopt : name;
}

void CheckRuleExists(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  if (!name) return;
  const Reference found = RuleConfigMap(context, findings, *name);
  if (found.object != nullptr) return;
  auto meant = FindMeant(context, "", "ConfigMap", context.ns(), *name);
  if (!meant) {
    if (const auto only = OnlyRule(context, *name)) meant = Meant{*only, context.ns()};
  }
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
  findings.Violate(context.view.labels.path.Child(schemas::kScalingRule),
                   "ConfigMap " + Quote(*name) + " is not in the job's namespace" + here + seen +
                       ", so no pods are created until it is",
                   std::move(fix));
}

void CheckGroup(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  if (!name) return;
  const Value* config_map = RuleConfigMap(context, findings, *name).object;
  if (config_map == nullptr) return;
  const std::string path = context.view.labels.path.Child(schemas::kScalingRule);
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

// Jobs of the same service and group whose names come before that of this one; all of them when it
// is new.
size_t JobsBefore(const RuleContext& context, std::string_view rule, std::string_view group) {
  const schemas::ObjectLookup* objects = context.request.objects;
  size_t before = 0;
  bool passed = false;
  if (objects == nullptr) return before;
  objects->ForEach("mindxdl.gitee.com", "AscendJob", context.ns(), [&](const Value& job) {
    const Value* metadata = json::Find(job, "metadata");
    const Value* labels = json::Find(metadata, "labels");
    passed = passed || json::FindString(metadata, "name") == context.view.name;
    if (passed || json::Find(metadata, "deletionTimestamp") != nullptr ||
        json::FindString(labels, schemas::kScalingRule) != rule ||
        json::FindString(labels, schemas::kGroupName) != group ||
        json::FindString(labels, schemas::kJobId) != context.view.Label(schemas::kJobId)) {
      return;
    }
    ++before;
  });
  return before;
}

void CheckRoomInGroup(const RuleContext& context, Findings& findings) {
  const auto name = RuleName(context.view);
  const auto group_name = context.view.Label(schemas::kGroupName);
  if (!name || !group_name) return;
  const size_t before = JobsBefore(context, *name, *group_name);
  if (before == 0) return;
  const Value* config_map = RuleConfigMap(context, findings, *name).object;
  const auto text = config_map == nullptr ? std::nullopt : schemas::ScalingRuleText(*config_map);
  if (!text) return;
  const ScalingRuleReading reading = schemas::ReadScalingRule(*text);
  if (!reading.rule || reading.rule->tiers.empty()) return;
  const schemas::ScalingGroup* group = reading.rule->tiers.front().Find(*group_name);
  if (group == nullptr || group->group_num > static_cast<int64_t>(before)) return;
  findings.Violate(context.view.labels.path.Child(schemas::kGroupName),
                   "group " + Quote(*group_name) + " has " + std::to_string(group->group_num) +
                       " jobs in the largest shape of the scaling rule, and " +
                       std::to_string(before) +
                       " of this service come before this one, which "
                       "gets no pods while they run",
                   "write group_num " + Quote(std::to_string(before + 1)) +
                       " for the group in the first entry of elastic_scaling_list, or leave the "
                       "job out");
}

void CheckPlacement(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const bool has_rule = view.labels.Find(schemas::kScalingRule) != nullptr;
  const auto app = view.Label(schemas::kApp);
  if (has_rule && (app == schemas::kMindieController || app == schemas::kMindieCoordinator)) {
    findings.Violate(view.labels.path.Child(schemas::kScalingRule),
                     "a scaling rule on " + std::string(*app) +
                         " makes it wait for its turn like a server instance",
                     "remove the scaling labels; they belong on the jobs of server instances");
  }
  if (has_rule || view.labels.wrong_type) return;
  if (view.labels.Find(schemas::kGroupName) != nullptr) {
    findings.Violate(
        view.labels.path.Child(schemas::kGroupName),
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

constexpr Rule kScalingJobRules[] = {
    {.id = "MG030",
     .name = "scaling-labels",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "A job with the label mind-cluster/scaling-rule has mind-cluster/group-name and "
                "jobID too, and none of the three is empty.",
     .why = "Without the other two labels the operator fails the job, and adding them later does "
            "not bring it back. Empty values pass that check, but no ConfigMap, group or service "
            "has an empty name, so the job waits forever or is counted wrongly.",
     .fix = "Write the ConfigMap's name, the group_name of the rule and the id of the service.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go",
     .check = CheckLabels},
    {.id = "MG031",
     .name = "scaling-rule-exists",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary =
         "The ConfigMap that mind-cluster/scaling-rule names exists in the namespace of the job.",
     .why = "The operator reads the rule each time it wants to create pods. While it is missing "
            "the job waits without an Event, and the operator retries every 20 seconds.",
     .fix = "Create the ConfigMap in the job's own namespace.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. The "
               "sample in the documents puts rule and jobs in different namespaces, which does not "
               "work. A warning, because the rule may be created after the job.",
     .check = CheckRuleExists},
    {.id = "MG032",
     .name = "scaling-group",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "The group of a job is in every tier of a valid scaling rule.",
     .why = "When the tier that the operator targets lacks the job's group, it dereferences a nil "
            "pointer and crashes, for all jobs of the cluster and again after each restart. Under "
            "a rule that cannot be read no job gets pods.",
     .fix = "Write a group_name of the rule, and list every group in every tier of the rule.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. The "
               "operator's own validation does not check the rule.",
     .check = CheckGroup},
    {.id = "MG033",
     .name = "scaling-server-count",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "server_num_per_group of the job's group is the number of the job's pods.",
     .why = "The operator compares the number only between tiers, never with a job. If they "
            "differ, the rule describes shapes that the service does not have, and MindIE's "
            "controller may use them.",
     .fix = "Make server_num_per_group and the sum of the job's replicas equal.",
     .source = "Documents of MindIE Motor elastic scaling; mind-cluster: "
               "component/ascend-operator/pkg/controllers/scaling/utils.go does not compare. A "
               "warning, because only the documents ask for it.",
     .check = CheckServerCount},
    {.id = "MG196",
     .name = "scaling-group-full",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "A group of a scaling rule has no more jobs than the rule's largest shape wants.",
     .why =
         "The operator makes pods of a job while the shape that it aims at wants another "
         "instance of the group. A third job of a group that the largest shape gives two gets no "
         "pods while the others run, and nothing says so. More instances need a change of the "
         "rule.",
     .fix = "Raise group_num of the group in the rule's first tier, or leave the job out.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go; "
               "documents of MindIE Motor elastic scaling. A spare job is possible: therefore a "
               "warning.",
     .check = CheckRoomInGroup},
    {.id = "MG034",
     .name = "scaling-labels-placement",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary =
         "The scaling labels are all in metadata.labels of the AscendJobs of server instances.",
     .why = "A controller or coordinator under a rule gets pods only when the rule wants its "
            "group, so the service may never start. A group name without a rule, or a rule named "
            "on the pods only, has no effect: the job is created whatever shape the service is in.",
     .fix = "Write all scaling labels on the server jobs, and none on controller and coordinator.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go; "
               "documents of MindIE Motor elastic scaling",
     .check = CheckPlacement},
};

}  // namespace

Family ScalingJobRules() { return kScalingJobRules; }

}  // namespace mindgate::policies::ascendjob
