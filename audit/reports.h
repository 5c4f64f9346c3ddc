#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/audit.h"
#include "base/time.h"
#include "json/json.h"
#include "kube/resource.h"
#include "offline/report.h"

// Findings as objects of a cluster, in the two formats that dashboards of policies read.
namespace mindgate::audit {

// OpenReports (openreports.io/v1alpha1) is the successor of PolicyReports
// (wgpolicyk8s.io/v1alpha2); what is used here is the same in both.
enum class ReportFormat : uint8_t { kOpenReports, kPolicyReports };

// A report about what is in a namespace, or about what is in none.
kube::Resource ReportResource(ReportFormat format, bool namespaced);

// Every report has the label schemas::kManagedBy with this value.
inline constexpr std::string_view kReportManager = "mindgate";
// An annotation of WorkloadReport: equal where all but the time is.
inline constexpr std::string_view kReportHash = "mindgate.io/report-hash";

// One finding, as it was `at` that time. Texts are at most 1 KiB each.
json::Json ReportResult(const Workload& workload, const offline::ReportedFinding& finding, Time at);

// A report with these results, and how many there are of each outcome.
json::Json ReportObject(ReportFormat format, const std::string& ns, const std::string& name,
                        json::Json results);

// The report about one workload. The workload owns it, so that Kubernetes deletes it with the
// workload, and its name holds the workload's uid, so that no other workload has the same. At most
// kMaxWorkloadResults findings, the worst first.
json::Json WorkloadReport(ReportFormat format, const Workload& workload, Time at);

// A result has up to 4 KiB, and etcd takes objects of 1.5 MiB.
inline constexpr size_t kMaxWorkloadResults = 200;

}  // namespace mindgate::audit
