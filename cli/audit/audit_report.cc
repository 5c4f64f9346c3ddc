#include "cli/audit/audit_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/manifests/report_formats.h"
#include "cli/what_if/what_if_print.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using audit::LossEffect;
using audit::Recovery;
using audit::Workload;
using offline::FindingLevel;

void AddLoss(const std::optional<LossEffect>& effect, std::string_view id, const Workload& workload,
             offline::Reporter& reporter, offline::ReportedObject& object) {
  if (!effect || effect->recovery == Recovery::kRecovers) return;
  offline::ReportedFinding finding;
  finding.id = id;
  finding.level =
      effect->recovery == Recovery::kDegraded ? FindingLevel::kNote : FindingLevel::kWarning;
  finding.message = "if " + effect->loss + " dies, " + effect->instance.owner + " " +
                    EffectText(effect->instance);
  finding.fix = effect->instance.fix;
  reporter.Add(std::move(finding), workload.api_version, object);
}

OrderedJson EffectJson(const std::optional<LossEffect>& effect) {
  if (!effect) return nullptr;
  return {{"recovery", audit::RecoveryName(effect->recovery)},
          {"loss", effect->loss},
          {"podGroup", effect->instance.pod_group},
          {"text", EffectText(effect->instance)},
          {"fix", effect->instance.fix}};
}

OrderedJson FindingJson(const offline::ReportedFinding& finding) {
  return {{"rule", finding.id},
          {"name", finding.rule == nullptr ? finding.id : std::string(finding.rule->name)},
          {"level", offline::FindingLevelName(finding.level)},
          {"field", finding.field},
          {"message", finding.message},
          {"fix", finding.fix}};
}

OrderedJson WorkloadJson(const Workload& workload, bool supposed) {
  OrderedJson findings = OrderedJson::array();
  for (const auto& finding : workload.judged.findings) findings.push_back(FindingJson(finding));
  OrderedJson json = {{"namespace", workload.ns},
                      {"apiVersion", workload.api_version},
                      {"kind", workload.kind},
                      {"name", workload.name},
                      {"framework", workload.framework},
                      {"outcome", admission::OutcomeName(workload.judged.outcome)},
                      {"changes", workload.judged.changes},
                      {"findings", std::move(findings)}};
  if (!supposed) return json;
  const audit::Losses& losses = workload.losses;
  json["npus"] = losses.npus;
  json["pods"] = losses.pods;
  json["podsWithoutNode"] = losses.waiting;
  json["cardDies"] = EffectJson(losses.card);
  json["nodeDies"] = EffectJson(losses.node);
  return json;
}

}  // namespace

offline::Report ReportOf(const audit::Audit& audit) {
  offline::Report report;
  report.counts = audit.counts;
  offline::Reporter reporter(false);
  for (const Workload& workload : audit.workloads) {
    offline::ReportedObject object = workload.judged;
    AddLoss(workload.losses.card, audit::kLossOfCard, workload, reporter, object);
    AddLoss(workload.losses.node, audit::kLossOfNode, workload, reporter, object);
    report.objects.push_back(std::move(object));
  }
  return report;
}

std::string EffectText(const what_if::InstanceForecast& instance) {
  return InstanceVerdict(instance) + (instance.why.empty() ? "" : ": " + instance.why);
}

OrderedJson AuditJson(const audit::Audit& audit) {
  OrderedJson workloads = OrderedJson::array();
  for (const Workload& workload : audit.workloads) {
    workloads.push_back(WorkloadJson(workload, audit.supposed));
  }
  return {{"taken", FormatTime(audit.taken)},
          {"namespace", audit.ns},
          {"summary",
           {{"admitted", audit.counts.admitted},
            {"denied", audit.counts.denied},
            {"errors", audit.counts.errors},
            {"ended", audit.ended}}},
          {"lossesSupposed", audit.supposed},
          {"unread", audit.unread},
          {"workloads", std::move(workloads)}};
}

}  // namespace mindgate::cli
