#include <map>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/scaling_checks.h"
#include "schemas/names.h"
#include "schemas/scaling_rule.h"

namespace mindgate::policies::scaling {
namespace {

using json::Value;

std::string RulePath() { return json::Child("/data", schemas::kScalingRuleKey); }

// Each issue at the ConfigMap's entry, its place inside the text in front.
void Report(const json::Issues& issues, Findings& findings) {
  for (const json::Issue& issue : issues.items()) {
    findings.Violate(RulePath(),
                     "line " + std::to_string(issue.at.line) + ", column " +
                         std::to_string(issue.at.column) + ": " + issue.message,
                     issue.hint, issue.at);
  }
  if (issues.dropped() > 0) {
    findings.Violate(RulePath(), "and " + std::to_string(issues.dropped()) + " more faults",
                     "correct the faults above first");
  }
}

// "a", "b" and 3 more
std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 3;
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    out += (i == 0 ? "" : ", ") + Quote(names[i]);
  }
  if (names.size() > kMaxNames) out += " and " + std::to_string(names.size() - kMaxNames) + " more";
  return out;
}

}  // namespace

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
  findings.Violate(RulePath(),
                   "the rule changes, but a running MindIE controller keeps the old one until it "
                   "restarts",
                   "restart the controller's pod after this change");
}

}  // namespace mindgate::policies::scaling
