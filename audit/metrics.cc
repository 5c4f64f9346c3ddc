#include "audit/metrics.h"

#include <utility>

#include "admission/admit.h"
#include "base/metric_family.h"
#include "offline/report.h"

namespace mindgate::audit {

using prometheus::MetricFamily;
using prometheus::MetricType;

void AuditMetrics::Set(const std::string& ns, const std::vector<Workload>& workloads,
                       bool complete) {
  Counts counts{.complete = complete};
  for (const Workload& workload : workloads) {
    // A ConfigMap with a scaling rule, for example, is of no framework.
    const std::string framework = workload.framework.empty() ? "none" : workload.framework;
    ++counts.workloads[{framework, std::string(admission::OutcomeName(workload.judged.outcome))}];
    for (const offline::ReportedFinding& finding : workload.judged.findings) {
      ++counts.findings[{finding.id, framework,
                         std::string(offline::FindingLevelName(finding.level))}];
    }
  }
  namespaces_[ns] = std::move(counts);
}

void AuditMetrics::Add(const ReportStore::Counts& reports) {
  reports_.written += reports.written;
  reports_.deleted += reports.deleted;
}

void AuditMetrics::AddMetrics(std::vector<MetricFamily>& families) const {
  Counts all;
  size_t complete = 0;
  for (const auto& [ns, counts] : namespaces_) {
    for (const auto& [key, count] : counts.findings) all.findings[key] += count;
    for (const auto& [key, count] : counts.workloads) all.workloads[key] += count;
    if (counts.complete) ++complete;
  }
  MetricFamily findings = MakeMetricFamily(
      "mindgate_audit_findings", "Findings about what the cluster runs.", MetricType::Gauge);
  for (const auto& [key, count] : all.findings) {
    AddSeries(findings, {{"rule", key.rule}, {"framework", key.framework}, {"level", key.level}},
              static_cast<double>(count));
  }
  MetricFamily workloads = MakeMetricFamily(
      "mindgate_audit_workloads",
      "Workloads with NPUs or findings, by what admission would answer today.", MetricType::Gauge);
  for (const auto& [key, count] : all.workloads) {
    AddSeries(workloads, {{"framework", key.framework}, {"outcome", key.outcome}},
              static_cast<double>(count));
  }
  MetricFamily audited = MakeMetricFamily(
      "mindgate_audit_namespaces",
      "Namespaces that were audited, and what is in none as one more, by whether all of them could "
      "be read.",
      MetricType::Gauge);
  AddSeries(audited, {{"read", "all"}}, static_cast<double>(complete));
  AddSeries(audited, {{"read", "in-part"}}, static_cast<double>(namespaces_.size() - complete));
  MetricFamily reports =
      MakeMetricFamily("mindgate_audit_reports_total", "Reports that were written and deleted.",
                       MetricType::Counter);
  AddSeries(reports, {{"call", "write"}}, static_cast<double>(reports_.written));
  AddSeries(reports, {{"call", "delete"}}, static_cast<double>(reports_.deleted));
  families.push_back(std::move(findings));
  families.push_back(std::move(workloads));
  families.push_back(std::move(audited));
  families.push_back(std::move(reports));
}

}  // namespace mindgate::audit
