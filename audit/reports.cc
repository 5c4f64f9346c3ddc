#include "audit/reports.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "schemas/config_load.h"
#include "schemas/raw_objects.h"

namespace mindgate::audit {
namespace {

using json::Json;
using offline::FindingLevel;
using offline::ReportedFinding;

// The API server bounds no text of a report; readers show a line of it.
constexpr size_t kMaxText = 1024;

std::string OutcomeOf(FindingLevel level) {
  switch (level) {
    case FindingLevel::kError:
      return "error";
    case FindingLevel::kDenied:
      return "fail";
    case FindingLevel::kWarning:
      return "warn";
    case FindingLevel::kNote:
    case FindingLevel::kAudit:
      return "skip";
  }
  return "error";
}

std::string SeverityOf(const ReportedFinding& finding) {
  if (finding.rule == nullptr) return "medium";
  switch (finding.rule->severity) {
    case policies::Severity::kError:
      return "high";
    case policies::Severity::kWarning:
      return "medium";
    case policies::Severity::kInfo:
      return "info";
  }
  return "medium";
}

Json Reference(const Workload& workload) {
  Json reference = {
      {"apiVersion", workload.api_version}, {"kind", workload.kind}, {"name", workload.name}};
  if (!workload.ns.empty()) reference["namespace"] = workload.ns;
  return reference;
}

Json TimeOf(Time at) {
  return {
      {"seconds", std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count()},
      {"nanos", 0}};
}

}  // namespace

kube::Resource ReportResource(ReportFormat format, bool namespaced) {
  switch (format) {
    case ReportFormat::kOpenReports:
      return namespaced ? kube::Resource{"openreports.io", "v1alpha1", "reports", "Report", true}
                        : kube::Resource{"openreports.io", "v1alpha1", "clusterreports",
                                         "ClusterReport", false};
    case ReportFormat::kPolicyReports:
      break;
  }
  return namespaced
             ? kube::Resource{"wgpolicyk8s.io", "v1alpha2", "policyreports", "PolicyReport", true}
             : kube::Resource{"wgpolicyk8s.io", "v1alpha2", "clusterpolicyreports",
                              "ClusterPolicyReport", false};
}

Json ReportResult(const Workload& workload, const ReportedFinding& finding, Time at) {
  Json result = {{"source", kReportManager},
                 {"policy", finding.rule == nullptr ? finding.id : std::string(finding.rule->name)},
                 {"rule", finding.id},
                 {"result", OutcomeOf(finding.level)},
                 {"severity", SeverityOf(finding)},
                 {"scored", finding.level >= FindingLevel::kDenied},
                 {"message", Cut(FieldMessage(finding), kMaxText)},
                 {"timestamp", TimeOf(at)},
                 {"resources", Json::array({Reference(workload)})}};
  Json properties = Json::object();
  if (!finding.field.empty()) properties["field"] = Cut(finding.field, kMaxText);
  if (!finding.fix.empty()) properties["fix"] = Cut(finding.fix, kMaxText);
  if (!properties.empty()) result["properties"] = std::move(properties);
  return result;
}

Json ReportObject(ReportFormat format, const std::string& ns, const std::string& name,
                  Json results) {
  const kube::Resource resource = ReportResource(format, !ns.empty());
  Json summary = {{"pass", 0}, {"fail", 0}, {"warn", 0}, {"error", 0}, {"skip", 0}};
  for (const Json& result : results) {
    Json& count = summary[result.at("result").get<std::string>()];
    count = count.get<int64_t>() + 1;
  }
  Json metadata = {{"name", name}, {"labels", {{schemas::kManagedBy, kReportManager}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", resource.api_version()},
          {"kind", resource.kind},
          {"metadata", std::move(metadata)},
          {"summary", std::move(summary)},
          {"results", std::move(results)}};
}

Json WorkloadReport(ReportFormat format, const Workload& workload, Time at) {
  std::vector<const ReportedFinding*> findings;
  for (const ReportedFinding& finding : workload.judged.findings) findings.push_back(&finding);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto* left, const auto* right) { return left->level > right->level; });
  findings.resize(std::min(findings.size(), kMaxWorkloadResults));
  Json results = Json::array();
  for (const ReportedFinding* finding : findings) {
    results.push_back(ReportResult(workload, *finding, {}));
    results.back().erase("resources");  // the scope says it once
  }
  Json report = ReportObject(format, workload.ns, "mindgate-" + workload.uid, std::move(results));
  report["scope"] = Reference(workload);
  report["scope"]["uid"] = workload.uid;
  if (format == ReportFormat::kOpenReports) report["source"] = kReportManager;
  report["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", workload.api_version},
                                                        {"kind", workload.kind},
                                                        {"name", workload.name},
                                                        {"uid", workload.uid}}});
  report["metadata"]["annotations"] = {{kReportHash, schemas::HashText(report.dump())}};
  for (Json& result : report["results"]) result["timestamp"] = TimeOf(at);
  return report;
}

}  // namespace mindgate::audit
