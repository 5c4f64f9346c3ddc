#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <utility>
#include <vector>

#include "audit/controller.h"
#include "support/golden.h"
#include "support/metric_contract.h"

namespace mindgate::audit {
namespace {

using offline::FindingLevel;

Workload Evaluated(const std::string& framework, admission::Outcome outcome,
                   const std::vector<std::pair<std::string, FindingLevel>>& findings) {
  Workload workload;
  workload.framework = framework;
  workload.evaluated.outcome = outcome;
  for (const auto& [id, level] : findings) {
    offline::ReportedFinding& finding = workload.evaluated.findings.emplace_back();
    finding.id = id;
    finding.level = level;
  }
  return workload;
}

std::string Serialized(const AuditMetrics& metrics) {
  std::vector<prometheus::MetricFamily> families;
  metrics.AddMetrics(families);
  return prometheus::TextSerializer().Serialize(families);
}

// The lines of series, without help and types.
std::string Text(const AuditMetrics& metrics) {
  const std::string all = Serialized(metrics);
  std::string series;
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at) + 1;
    if (all[at] != '#') series += all.substr(at, end - at);
    at = end;
  }
  return series;
}

TEST(AuditMetricsTest, CountsTheNewestAuditOfEachNamespace) {
  AuditMetrics metrics;
  metrics.Set("a",
              {Evaluated("deployment", admission::Outcome::kDenied,
                         {{"MG050", FindingLevel::kDenied}, {"MG068", FindingLevel::kWarning}}),
               Evaluated("deployment", admission::Outcome::kAdmitted, {})},
              true);
  metrics.Set(
      "b",
      {Evaluated("deployment", admission::Outcome::kDenied, {{"MG050", FindingLevel::kDenied}}),
       Evaluated("", admission::Outcome::kAdmitted, {{"MG101", FindingLevel::kAudit}})},
      false);
  metrics.Add({.written = 2, .deleted = 1});
  metrics.Add({.written = 3, .deleted = 0});
  EXPECT_EQ(Text(metrics),
            "mindgate_audit_findings{rule=\"MG050\",framework=\"deployment\",level=\"denied\"} 2\n"
            "mindgate_audit_findings{rule=\"MG068\",framework=\"deployment\",level=\"warning\"} 1\n"
            "mindgate_audit_findings{rule=\"MG101\",framework=\"none\",level=\"audit\"} 1\n"
            "mindgate_audit_workloads{framework=\"deployment\",outcome=\"admitted\"} 1\n"
            "mindgate_audit_workloads{framework=\"deployment\",outcome=\"denied\"} 2\n"
            "mindgate_audit_workloads{framework=\"none\",outcome=\"admitted\"} 1\n"
            "mindgate_audit_namespaces{read=\"all\"} 1\n"
            "mindgate_audit_namespaces{read=\"in-part\"} 1\n"
            "mindgate_audit_reports_total{call=\"write\"} 5\n"
            "mindgate_audit_reports_total{call=\"delete\"} 1\n");
  mindgate::testing::ExpectGolden("tests/audit/metrics.want",
                                  mindgate::testing::MetricContract(Serialized(metrics)));
  metrics.Set("a", {}, true);
  metrics.Remove("b");
  EXPECT_EQ(Text(metrics),
            "mindgate_audit_namespaces{read=\"all\"} 1\n"
            "mindgate_audit_namespaces{read=\"in-part\"} 0\n"
            "mindgate_audit_reports_total{call=\"write\"} 5\n"
            "mindgate_audit_reports_total{call=\"delete\"} 1\n");
}

}  // namespace
}  // namespace mindgate::audit
