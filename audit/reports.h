#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit.h"
#include "base/log.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "offline/report.h"
#include "watcher/frame/leader_client.h"

namespace mindgate::audit {

// Findings as objects of a cluster, in the two formats that dashboards of policies read.

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

// Keeps the reports of a cluster as the findings are.

class ReportStore {
 public:
  struct Counts {
    uint64_t written = 0;
    uint64_t deleted = 0;
  };

  // `reader` lists. Both must outlive it.
  ReportStore(kube::Client& reader, log::Logger& logger) : reader_(reader), logger_(logger) {}

  // Writes a report for each workload with findings, in OpenReports where the cluster has them and
  // else in PolicyReports, and nothing where it has neither. Reports that are as they should be are
  // left alone. With `complete`, reports of ours about other workloads of the namespace are
  // deleted, and those in the other format; otherwise some workloads may not have been read.
  // A report that the API server refuses is logged, and the others are written; so is a workload
  // whose uid cannot be part of a name, since its controller was made up.
  // `ns`: empty for what is in no namespace.
  kube::Answer<Counts> Put(watcher::LeaderClient& client, const std::string& ns,
                           std::span<const Workload> workloads, bool complete, Time now);

 private:
  struct Stored;

  kube::Answer<std::vector<Stored>> List(const kube::Resource& resource, const std::string& ns,
                                         const watcher::Term& term);
  kube::Answer<void> Write(watcher::LeaderClient& client, const kube::Resource& resource,
                           const std::string& ns, const json::Json& report);
  // The names of all reports that there are to be.
  kube::Answer<std::set<std::string>> WriteChanged(watcher::LeaderClient& client,
                                                   ReportFormat format, const std::string& ns,
                                                   std::span<const Workload> workloads,
                                                   const std::vector<Stored>& stored, Time now,
                                                   Counts& counts);
  kube::Answer<void> DeleteOthers(watcher::LeaderClient& client, const kube::Resource& resource,
                                  const std::string& ns, const std::set<std::string>& names,
                                  const std::vector<Stored>& stored, Counts& counts);

  kube::Client& reader_;
  log::Logger& logger_;
};

}  // namespace mindgate::audit
