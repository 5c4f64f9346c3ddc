#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "audit/reports.h"
#include "cli/audit/audit_report.h"
#include "json/yaml.h"

namespace mindgate::cli {
namespace {

constexpr const char* kReportName = "mindgate-audit";

}  // namespace

void PrintPolicyReports(const audit::Audit& audit, std::ostream& out) {
  const offline::Report report = ReportOf(audit);
  std::map<std::string, std::vector<json::Json>> by_namespace;
  for (size_t i = 0; i < audit.workloads.size(); ++i) {
    auto& results = by_namespace[audit.workloads[i].ns];
    for (const offline::ReportedFinding& finding : report.objects[i].findings) {
      results.push_back(audit::ReportResult(audit.workloads[i], finding, audit.taken));
    }
  }
  for (const auto& [ns, results] : by_namespace) {
    for (size_t from = 0, number = 1; from == 0 || from < results.size();
         from += kMaxResults, ++number) {
      const size_t to = std::min(results.size(), from + kMaxResults);
      const std::string name =
          number == 1 ? kReportName : std::string(kReportName) + "-" + std::to_string(number);
      json::Json part = json::Json::array();
      for (size_t i = from; i < to; ++i) part.push_back(results[i]);
      out << "---\n"
          << json::EncodeYaml(audit::ReportObject(audit::ReportFormat::kPolicyReports, ns, name,
                                                  std::move(part)));
    }
  }
}

}  // namespace mindgate::cli
