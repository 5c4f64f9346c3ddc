#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/reports.h"
#include "base/log.h"
#include "base/time.h"
#include "json/json.h"
#include "kube/client.h"
#include "watcher/frame/leader_client.h"

// Keeps the reports of a cluster as the findings are.
namespace mindgate::audit {

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
  // A report that the API server refuses is logged, and the others are written.
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
