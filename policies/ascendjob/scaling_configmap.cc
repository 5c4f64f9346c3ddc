#include <map>
#include <vector>

#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"
#include "schemas/scaling_rule.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Value;

std::string RulePath() { return json::Child("/data", schemas::kScalingRuleKey); }

// Each issue at the ConfigMap's entry, its place inside the text in front.
void Report(const json::Issues& issues, Findings& findings) {
  for (const json::Issue& issue : issues.items()) {
    findings.Violate(RulePath(), json::LineText(issue.at) + ": " + issue.message, issue.hint,
                     issue.at);
  }
  if (issues.dropped() > 0) {
    findings.Violate(RulePath(), "and " + std::to_string(issues.dropped()) + " more faults",
                     "correct the faults above first");
  }
}

// "a", "b" and 3 more
std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 3;
  return JoinFirst(names, kMaxNames, ", ", [](const std::string& name) { return Quote(name); });
}

void CheckRuleKey(const RuleContext& context, Findings& findings) {
  const auto key = schemas::MisspelledRuleKey(*context.view.object);
  if (!key) return;
  findings.Violate(json::Child("/data", *key),
                   "no component reads " + Quote(*key) +
                       ", did you mean \"elastic_scaling.json\"? The operator finds no rule here, "
                       "and no job under it gets pods",
                   "write elastic_scaling.json instead of " + std::string(*key));
}

void CheckReadable(const RuleContext& context, Findings& findings) {
  const Value* data = json::Find(*context.view.object, "data");
  const Value* value = json::Find(data, schemas::kScalingRuleKey);
  if (value == nullptr) return;  // a rank table
  if (!value->is_string()) {
    findings.Violate(
        RulePath(),
        "elastic_scaling.json is of type " + std::string(json::TypeName(*value)) +
            ", but a ConfigMap holds text only, so the API server refuses it",
        "write the rule as a block of text: elastic_scaling.json: | and the JSON below");
    return;
  }
  Report(context.view.scaling_rule->refused, findings);
}

void CheckWorkable(const RuleContext& context, Findings& findings) {
  if (const auto& reading = context.view.scaling_rule) Report(reading->unworkable, findings);
}

void CheckDocumented(const RuleContext& context, Findings& findings) {
  if (const auto& reading = context.view.scaling_rule) Report(reading->doubtful, findings);
}

void CheckJobsOfRule(const RuleContext& context, Findings& findings) {
  const auto& reading = context.view.scaling_rule;
  if (!reading || !reading->rule) return;
  constexpr std::string_view kGroup = "mindxdl.gitee.com";
  constexpr std::string_view kKind = "AscendJob";
  const schemas::ObjectLookup* objects = context.request.objects;
  std::map<std::string, std::vector<std::string>, std::less<>> jobs_by_lost_group;
  if (objects != nullptr) {
    objects->ForEach(kGroup, kKind, context.ns(), [&](const Value& job) {
      const Value* metadata = json::Find(job, "metadata");
      const Value* labels = json::Find(metadata, "labels");
      if (json::FindString(labels, schemas::kScalingRule) != context.view.name ||
          json::Find(metadata, "deletionTimestamp") != nullptr) {
        return;
      }
      const auto group = json::FindString(labels, schemas::kGroupName);
      if (!group || reading->rule->HasGroup(*group)) return;
      jobs_by_lost_group[std::string(*group)].emplace_back(
          json::FindString(metadata, "name").value_or(""));
    });
  }
  for (const auto& [group, jobs] : jobs_by_lost_group) {
    findings.Violate(
        RulePath(),
        "group " + Quote(group) + " is in no tier, but AscendJob " + SomeOf(jobs) +
            " belongs to it and " +
            (reading->rule->tiers.empty() ? "gets no pods any more"
                                          : "crashes the operator when it asks for pods"),
        "keep the group in every tier, or delete its jobs first");
  }
  if (jobs_by_lost_group.empty() && (objects == nullptr || !objects->IsComplete(kGroup, kKind))) {
    findings.Skip("needs the AscendJobs under the rule, which are not all known here");
  }
}

void CheckRunningController(const RuleContext& context, Findings& findings) {
  if (context.request.operation != schemas::Operation::kUpdate) return;
  const auto& reading = context.view.scaling_rule;
  if (!reading || !reading->rule) return;
  if (context.request.old_object == nullptr) {
    findings.Skip("needs the ConfigMap as it was before the update, which is not known here");
    return;
  }
  if (context.old_view == nullptr || !context.old_view->scaling_rule) return;
  if (context.old_view->scaling_rule->rule == reading->rule) return;
  findings.Violate(
      RulePath(),
      "the rule changes, but a running MindIE controller keeps the old one until it restarts",
      "restart the controller's pod after this change");
}

constexpr Rule kScalingConfigMapRules[] = {
    {.id = "MG035",
     .name = "scaling-rule-readable",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kConfigMaps,
     .summary = "The text under elastic_scaling.json is a rule that the operator can read.",
     .why =
         "One fault makes the operator refuse the whole rule: a comment, a number without quotes, "
         "a missing number, a group that a tier adds, a number that grows down the list. Running "
         "pods stay, but none is recreated after a fault, and only the operator's log says why. "
         "mindgate itself reads no more than 64 tiers of 64 groups, in at most 256 KiB of text: no "
         "service has as many shapes, and a decision may not cost more than its text.",
     .fix = "Write plain JSON without comments, every number in quotes, the largest shape first.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/scaling/{controller,utils}.go. "
         "The samples in the documents have comments inside the JSON and must not be used "
         "unchanged.",
     .check = CheckReadable},
    {.id = "MG036",
     .name = "scaling-rule-workable",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kConfigMaps,
     .summary = "Every job under the rule can get pods, in every tier.",
     .why = "The operator accepts an empty list, tiers without some group, a group written twice, "
            "negative numbers and names that are not valid label values. Then jobs wait forever, "
            "one of two entries is silently ignored, or a job of the missing group crashes the "
            "operator once the service has shrunk.",
     .fix = "List every group once in every tier, with \"0\" where a tier wants none of it.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/scaling/{controller,utils}.go",
     .check = CheckWorkable},
    {.id = "MG037",
     .name = "scaling-rule-documented",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The rule is as the documents and MindIE's controller expect it.",
     .why = "The operator accepts more than they do: keys in any letter case, a "
            "server_num_per_group that shrinks, a minimal shape without some group. MindIE's "
            "controller reads the first two groups of the first tier by position, as prefill and "
            "decode, and picks its victims after a fault by those numbers.",
     .fix = "Write the documented keys, the prefill group first and the decode group second, and "
            "the same server_num_per_group in all tiers.",
     .source = "Documents of MindIE Motor elastic scaling; MindIE Motor: "
               "mindie_motor/src/controller/fault_manager/FaultManager.cpp; mind-cluster: "
               "component/ascend-operator/pkg/controllers/scaling/utils.go is laxer. A warning, "
               "because the code decides.",
     .check = CheckDocumented},
    {.id = "MG038",
     .name = "scaling-rule-jobs",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kConfigMaps,
     .summary = "The rule keeps the groups of the AscendJobs that exist under it.",
     .why = "A job whose group was removed from the rule crashes the operator the next time it "
            "asks for pods, for example to replace one after a fault.",
     .fix = "Keep the group in every tier, or delete its jobs before the change.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go",
     .check = CheckJobsOfRule},
    {.id = "MG039",
     .name = "scaling-rule-update",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The MindIE controller is restarted after its rule changes.",
     .why = "The operator reads the rule again each time, but the controller mounts it with "
            "subPath, which Kubernetes never refreshes. Until the controller restarts, the two "
            "decide by different rules.",
     .fix = "Restart the controller's pod after the change, and update the ConfigMap in place: "
            "while it is missing, no pod is created.",
     .source = "MindIE Motor: mindie_motor/src/example/deploy_scripts/deploy_ac_job.py; "
               "Kubernetes: volumes, subPath. A warning, because the change itself is right.",
     .check = CheckRunningController},
    {.id = "MG049",
     .name = "scaling-rule-key",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The data key of a scaling rule is elastic_scaling.json.",
     .why = "The operator reads this key only. In a ConfigMap that has the rule under another one "
            "it finds none, and no job under the rule gets pods.",
     .fix = "Write elastic_scaling.json: | and the rule below it.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/scaling/controller.go. "
               "`mindgate apply` reports it; the webhook is not sent ConfigMaps without the key. A "
               "warning, because other programs may have a file of a similar name",
     .check = CheckRuleKey},
};

}  // namespace

Family ScalingConfigMapRules() { return kScalingConfigMapRules; }

}  // namespace mindgate::policies::ascendjob
