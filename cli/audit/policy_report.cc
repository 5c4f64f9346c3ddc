#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/audit/audit_report.h"
#include "cli/manifests/report_formats.h"
#include "json/yaml.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;

constexpr const char* kSource = "mindgate";
constexpr const char* kReportName = "mindgate-audit";

// The API server bounds no text of a report; readers show a line of it.
constexpr size_t kMaxMessage = 1024;

std::string ResultOf(FindingLevel level) {
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

json::Json ResultJson(const audit::Workload& workload, const ReportedFinding& finding, Time taken) {
  json::Json resource = {
      {"apiVersion", workload.api_version}, {"kind", workload.kind}, {"name", workload.name}};
  if (!workload.ns.empty()) resource["namespace"] = workload.ns;
  json::Json result = {
      {"source", kSource},
      {"policy", finding.rule == nullptr ? finding.id : std::string(finding.rule->name)},
      {"rule", finding.id},
      {"result", ResultOf(finding.level)},
      {"severity", SeverityOf(finding)},
      {"scored", finding.level >= FindingLevel::kDenied},
      {"message", Cut(FieldMessage(finding), kMaxMessage)},
      {"timestamp",
       {{"seconds",
         std::chrono::duration_cast<std::chrono::seconds>(taken.time_since_epoch()).count()},
        {"nanos", 0}}},
      {"resources", json::Json::array({std::move(resource)})}};
  json::Json properties = json::Json::object();
  if (!finding.field.empty()) properties["field"] = Cut(finding.field, kMaxMessage);
  if (!finding.fix.empty()) properties["fix"] = Cut(finding.fix, kMaxMessage);
  if (!properties.empty()) result["properties"] = std::move(properties);
  return result;
}

json::Json PolicyReport(const std::string& ns, size_t number,
                        const std::vector<json::Json>& results) {
  json::Json summary = {{"pass", 0}, {"fail", 0}, {"warn", 0}, {"error", 0}, {"skip", 0}};
  for (const json::Json& result : results) {
    json::Json& count = summary[result.at("result").get<std::string>()];
    count = count.get<int64_t>() + 1;
  }
  json::Json metadata = {
      {"name", number == 1 ? kReportName : std::string(kReportName) + "-" + std::to_string(number)},
      {"labels", {{"app.kubernetes.io/managed-by", kSource}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", "wgpolicyk8s.io/v1alpha2"},
          {"kind", ns.empty() ? "ClusterPolicyReport" : "PolicyReport"},
          {"metadata", std::move(metadata)},
          {"summary", std::move(summary)},
          {"results", results}};
}

}  // namespace

void PrintPolicyReports(const audit::Audit& audit, std::ostream& out) {
  const offline::Report report = ReportOf(audit);
  std::map<std::string, std::vector<json::Json>> by_namespace;
  for (size_t i = 0; i < audit.workloads.size(); ++i) {
    auto& results = by_namespace[audit.workloads[i].ns];
    for (const ReportedFinding& finding : report.objects[i].findings) {
      results.push_back(ResultJson(audit.workloads[i], finding, audit.taken));
    }
  }
  for (const auto& [ns, results] : by_namespace) {
    for (size_t from = 0, number = 1; from == 0 || from < results.size();
         from += kMaxResults, ++number) {
      const size_t to = std::min(results.size(), from + kMaxResults);
      out << "---\n"
          << json::EncodeYaml(PolicyReport(ns, number,
                                           {results.begin() + static_cast<ptrdiff_t>(from),
                                            results.begin() + static_cast<ptrdiff_t>(to)}));
    }
  }
}

}  // namespace mindgate::cli
