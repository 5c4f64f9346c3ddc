#include "audit/report_store.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "audit/reports.h"
#include "json/value.h"

namespace mindgate::audit {
namespace {

using json::Json;
using kube::Reason;

constexpr ReportFormat kFormats[] = {ReportFormat::kOpenReports, ReportFormat::kPolicyReports};

// Who writes the fields of reports (server-side apply).
constexpr const char* kFieldManager = "mindgate-audit";

}  // namespace

struct ReportStore::Stored {
  std::string name;
  std::string uid;
  std::string hash;
};

kube::Answer<std::vector<ReportStore::Stored>> ReportStore::List(const kube::Resource& resource,
                                                                 const std::string& ns,
                                                                 const watcher::Term& term) {
  std::vector<Stored> stored;
  const kube::Listing listing{
      .started = [&] { stored.clear(); },
      .item =
          [&](const json::Value& object) {
            const json::Value* metadata = json::Find(object, "metadata");
            stored.push_back({json::TextAt(metadata, {"name"}), json::TextAt(metadata, {"uid"}),
                              json::TextAt(metadata, {"annotations", kReportHash})});
          }};
  const auto listed = reader_.ListAll(
      resource, ns,
      {.label_selector = std::string(kManagedBy) + "=" + std::string(kReportManager),
       .metadata_only = true},
      nullptr, listing, term.ended());
  if (!listed) return tl::make_unexpected(listed.error());
  return stored;
}

kube::Answer<void> ReportStore::Write(watcher::LeaderClient& client, const kube::Resource& resource,
                                      const std::string& ns, const Json& report) {
  const std::string name = report.at("metadata").at("name").get<std::string>();
  const auto written =
      client.Apply(resource, ns, name, report, true, {.field_manager = kFieldManager});
  if (written) return {};
  // The uid of an owner that a tenant made up need not be a part of a name.
  if (written.error().reason != Reason::kInvalid) return tl::make_unexpected(written.error());
  logger_.Warning("a report is refused",
                  {{"namespace", ns}, {"report", name}, {"fault", written.error().message}});
  return {};
}

kube::Answer<ReportStore::Counts> ReportStore::Put(watcher::LeaderClient& client,
                                                   const std::string& ns,
                                                   const std::vector<Workload>& workloads,
                                                   bool complete, Time now) {
  Counts counts;
  bool is_written = false;
  for (const ReportFormat format : kFormats) {
    const kube::Resource resource = ReportResource(format, !ns.empty());
    const auto stored = List(resource, ns, client.term());
    if (!stored && stored.error().reason == Reason::kNotFound) continue;
    if (!stored) return tl::make_unexpected(stored.error());
    std::map<std::string, std::string> hashes;  // by name
    for (const Stored& report : *stored) hashes.emplace(report.name, report.hash);
    std::set<std::string> wanted;
    for (const Workload& workload : workloads) {
      if (is_written || workload.judged.findings.empty() || workload.uid.empty()) continue;
      const Json report = WorkloadReport(format, workload, now);
      const Json& metadata = report.at("metadata");
      const std::string name = metadata.at("name").get<std::string>();
      if (!wanted.insert(name).second) continue;
      const auto found = hashes.find(name);
      if (found != hashes.end() && metadata.at("annotations").at(kReportHash) == found->second) {
        continue;
      }
      if (const auto written = Write(client, resource, ns, report); !written) {
        return tl::make_unexpected(written.error());
      }
      ++counts.written;
    }
    is_written = true;
    for (const Stored& report : *stored) {
      if (!complete || wanted.contains(report.name)) continue;
      const auto deleted = client.DeleteReport(resource, ns, report.name, report.uid);
      const bool is_gone = !deleted && (deleted.error().reason == Reason::kNotFound ||
                                        deleted.error().reason == Reason::kConflict);
      if (!deleted && !is_gone) return tl::make_unexpected(deleted.error());
      if (deleted) ++counts.deleted;
    }
  }
  return counts;
}

}  // namespace mindgate::audit
