#pragma once

#include <prometheus/metric_family.h>

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/report_store.h"

// What the newest audit of each namespace found, as metrics.
namespace mindgate::audit {

class AuditMetrics {
 public:
  // Replaces what was known of the namespace.
  void Set(const std::string& ns, const std::vector<Workload>& workloads, bool complete);
  void Remove(const std::string& ns) { namespaces_.erase(ns); }
  void Add(const ReportStore::Counts& reports);

  // Workloads by framework and outcome, findings by rule, framework and level, the namespaces
  // that were audited, wholly or in part, and the reports that were written and deleted.
  void AddMetrics(std::vector<prometheus::MetricFamily>& families) const;

 private:
  struct FindingKey {
    std::string rule;
    std::string framework;
    std::string level;
    friend auto operator<=>(const FindingKey&, const FindingKey&) = default;
  };
  struct WorkloadKey {
    std::string framework;
    std::string outcome;
    friend auto operator<=>(const WorkloadKey&, const WorkloadKey&) = default;
  };
  struct Counts {
    std::map<FindingKey, size_t> findings{};
    std::map<WorkloadKey, size_t> workloads{};
    bool complete = true;
  };

  std::map<std::string, Counts> namespaces_;
  ReportStore::Counts reports_;
};

}  // namespace mindgate::audit
