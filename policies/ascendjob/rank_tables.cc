
#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"
#include "schemas/rank_table.h"

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

}  // namespace mindgate::policies::ascendjob
