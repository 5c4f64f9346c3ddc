#include <map>
#include <vector>

#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "schemas/scaling_rule.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Child;
using json::Value;
using schemas::RankTable;

// The rank table of a MindIE service; null pointer for other ConfigMaps and for the tables of
// training jobs.
const RankTable* MindieTable(const RuleContext& context) {
  if (context.view.labels.wrong_type || !context.view.rank_table) return nullptr;
  return context.view.rank_table->OfMindie() ? &*context.view.rank_table : nullptr;
}

// True when the object has been stored before, so that the operator may have filled it.
bool IsStored(const RuleContext& context) {
  return context.request.operation == schemas::Operation::kUpdate ||
         json::FindPath(*context.view.object, {"metadata", "resourceVersion"}) != nullptr;
}

void CheckBothDeployServers(const RuleContext& context, Findings& findings) {
  const RankTable* table = MindieTable(context);
  if (!table || table->standalone == nullptr || table->distributed == nullptr) return;
  findings.Violate(context.view.labels.path.Child(schemas::kDeployServerStandalone),
                   "grt-server/deploy-server and grt-group/deploy-server are both set, so the "
                   "whole service gets no rank table",
                   "remove one: keep grt-group/deploy-server for distributed instances, "
                   "grt-server/deploy-server for others");
}

void CheckDeployServer(const RuleContext& context, Findings& findings) {
  const RankTable* table = MindieTable(context);
  if (!table || table->standalone != nullptr || table->distributed != nullptr) return;
  findings.Violate(context.view.labels.path.Child(schemas::kDeployServerDistributed),
                   "neither grt-group/deploy-server nor grt-server/deploy-server is set, so "
                   "ClusterD makes no rank table for the service",
                   "write grt-group/deploy-server: \"1\" (or grt-server/deploy-server) on the "
                   "ConfigMap of every server job");
}

void CheckRankTableLabels(const RuleContext& context, Findings& findings) {
  const RankTable* table = MindieTable(context);
  if (!table) return;
  const schemas::Pointer& labels = context.view.labels.path;
  if (table->job_id == nullptr || json::AsString(table->job_id) == "") {
    findings.Violate(labels.Child(schemas::kJobId),
                     std::string("label jobID is ") + (table->job_id ? "empty" : "missing") +
                         ", so the table belongs to no service",
                     "write the jobID of AscendJob " + Quote(table->job_name));
  }
  const auto consumer = json::AsString(table->consumer);
  if (table->consumer == nullptr || (consumer && *consumer != "true")) {
    findings.Violate(labels.Child(schemas::kRankTableConsumer),
                     "label mx-consumer-cim is " +
                         (consumer ? Quote(*consumer) + " instead of \"true\"" : "missing") +
                         ", so ClusterD does not see the table change",
                     "write mx-consumer-cim: \"true\"");
  }
  if (table->ring_controller == nullptr) {
    findings.Violate(
        labels.Child(schemas::kRingController),
        "label ring-controller.atlas is missing; some releases ignore rank tables without it",
        "write ring-controller.atlas: ascend-910b, as on the job");
  }
}

void CheckRankTableContent(const RuleContext& context, Findings& findings) {
  const auto& table = context.view.rank_table;
  if (!table) return;
  const std::string path = Child("/data", schemas::kRankTableKey);
  const std::string fix = "write hccl.json: '{\"status\":\"initializing\"}'";
  if (table->content == nullptr) {
    findings.Violate(path,
                     "hccl.json is missing, so pods that start before the table is filled find no "
                     "file to wait for",
                     fix);
  } else if (table->fault) {
    findings.Violate(path,
                     "hccl.json is not a JSON object (" + json::LineText(table->fault->at) + ": " +
                         table->fault->message + "), so pods that read it early fail",
                     fix, table->fault->at);
  } else if (table->content->is_string() && table->status != schemas::kRankTableInitializing &&
             !(IsStored(context) && table->status == schemas::kRankTableCompleted)) {
    findings.Violate(path,
                     "hccl.json has status " + (table->status ? Quote(*table->status) : "missing") +
                         " instead of \"initializing\", so its devices may be taken for the job's",
                     fix);
  }
}

constexpr Rule kRankTableRules[] = {
    {.id = "MG042",
     .name = "rank-table-both-deploy-servers",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kConfigMaps,
     .summary = "A rank table does not carry grt-server/deploy-server and grt-group/deploy-server "
                "at once.",
     .why = "ClusterD gives up on the whole service when one of its rank tables has both labels, "
            "so no instance ever learns about the others.",
     .fix = "Keep the one that says how the instance is deployed.",
     .source = "mind-cluster: component/clusterd/pkg/domain/epranktable",
     .check = CheckBothDeployServers},
    {.id = "MG043",
     .name = "rank-table-deploy-server",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The rank table of a MindIE server carries grt-group/deploy-server or "
                "grt-server/deploy-server.",
     .why = "ClusterD gives up on the whole service when one of its rank tables has neither label: "
            "it tries three times and then waits until something changes.",
     .fix = "Write one of the two labels on the ConfigMap of every server job.",
     .source = "mind-cluster: component/clusterd/pkg/domain/epranktable. A warning, because the "
               "documents and the vendor's samples lack the label, and MindIE's deploy script can "
               "make the global rank table without ClusterD.",
     .check = CheckDeployServer},
    {.id = "MG044",
     .name = "rank-table-labels",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "The rank table of a MindIE server carries jobID, mx-consumer-cim: \"true\" and "
                "ring-controller.atlas.",
     .why = "ClusterD collects the tables of a service by jobID and watches those with "
            "mx-consumer-cim. Without them the instance is missing from the global rank table, or "
            "a change after a fault goes unseen.",
     .fix = "Write the same three labels as on the job.",
     .source =
         "mind-cluster: component/clusterd/pkg/domain/epranktable; documents of MindIE Motor. A "
         "warning, because MindIE's deploy script can make the global rank table without ClusterD. "
         "No code of the current release reads ring-controller.atlas on a ConfigMap.",
     .check = CheckRankTableLabels},
    {.id = "MG045",
     .name = "rank-table-content",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kConfigMaps,
     .summary = "A new rank table holds hccl.json with status initializing.",
     .why = "Pods wait while the status is initializing. A table that is missing or broken makes "
            "them fail, and one copied with status completed gives them and ClusterD the devices "
            "of another run.",
     .fix = "Write hccl.json: '{\"status\":\"initializing\"}' and nothing else.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go, "
               "component/clusterd/pkg/domain/epranktable. A warning, because the operator "
               "overwrites the text once it knows the devices.",
     .check = CheckRankTableContent},
};

}  // namespace

Family RankTableRules() { return kRankTableRules; }

namespace {

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
