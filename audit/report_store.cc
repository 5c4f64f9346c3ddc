#include "audit/report_store.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/value.h"
#include "schemas/raw_objects.h"

namespace mindgate::audit {
namespace {

using json::Json;
using kube::Reason;

constexpr ReportFormat kFormats[] = {ReportFormat::kOpenReports, ReportFormat::kPolicyReports};

// Who writes the fields of reports (server-side apply).
constexpr const char* kFieldManager = "mindgate-audit";

std::string NameOf(const Json& report) {
  return report.at("metadata").at("name").get<std::string>();
}

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
      {.label_selector = std::string(schemas::kManagedBy) + "=" + std::string(kReportManager),
       .metadata_only = true},
      nullptr, listing, term.ended());
  if (!listed) return tl::make_unexpected(listed.error());
  return stored;
}

kube::Answer<void> ReportStore::Write(watcher::LeaderClient& client, const kube::Resource& resource,
                                      const std::string& ns, const Json& report) {
  const std::string name = NameOf(report);
  const auto written =
      client.Apply(resource, ns, name, report, true, {.field_manager = kFieldManager});
  if (written) return {};
  // The uid of an owner that a tenant made up need not be a part of a name.
  if (written.error().reason != Reason::kInvalid) return tl::make_unexpected(written.error());
  logger_.Warning("a report is refused",
                  {{"namespace", ns}, {"report", name}, {"fault", written.error().message}});
  return {};
}

// One after the other, since all of a namespace may be many.
kube::Answer<std::set<std::string>> ReportStore::WriteChanged(watcher::LeaderClient& client,
                                                              ReportFormat format,
                                                              const std::string& ns,
                                                              std::span<const Workload> workloads,
                                                              const std::vector<Stored>& stored,
                                                              Time now, Counts& counts) {
  const kube::Resource resource = ReportResource(format, !ns.empty());
  std::map<std::string, std::string> hashes;  // by name
  for (const Stored& report : stored) hashes.emplace(report.name, report.hash);
  std::set<std::string> names;
  for (const Workload& workload : workloads) {
    if (workload.judged.findings.empty() || workload.uid.empty()) continue;
    const Json report = WorkloadReport(format, workload, now);
    const std::string name = NameOf(report);
    if (!names.insert(name).second) continue;
    const auto found = hashes.find(name);
    const Json& hash = report.at("metadata").at("annotations").at(kReportHash);
    if (found != hashes.end() && hash == found->second) continue;
    if (auto written = Write(client, resource, ns, report); !written) {
      return tl::make_unexpected(written.error());
    }
    ++counts.written;
  }
  return names;
}

kube::Answer<void> ReportStore::DeleteOthers(watcher::LeaderClient& client,
                                             const kube::Resource& resource, const std::string& ns,
                                             const std::set<std::string>& names,
                                             const std::vector<Stored>& stored, Counts& counts) {
  for (const Stored& report : stored) {
    if (names.contains(report.name)) continue;
    auto deleted = client.DeleteReport(resource, ns, report.name, report.uid);
    if (deleted) ++counts.deleted;
    // Somebody else was faster.
    const bool is_gone = !deleted && (deleted.error().reason == Reason::kNotFound ||
                                      deleted.error().reason == Reason::kConflict);
    if (!deleted && !is_gone) return deleted;
  }
  return {};
}

kube::Answer<ReportStore::Counts> ReportStore::Put(watcher::LeaderClient& client,
                                                   const std::string& ns,
                                                   std::span<const Workload> workloads,
                                                   bool complete, Time now) {
  Counts counts;
  for (const ReportFormat format : kFormats) {
    const kube::Resource resource = ReportResource(format, !ns.empty());
    const auto stored = List(resource, ns, client.term());
    if (!stored && stored.error().reason == Reason::kNotFound) continue;
    if (!stored) return tl::make_unexpected(stored.error());
    const auto names = WriteChanged(client, format, ns, workloads, *stored, now, counts);
    if (!names) return tl::make_unexpected(names.error());
    if (complete) {
      const auto deleted = DeleteOthers(client, resource, ns, *names, *stored, counts);
      if (!deleted) return tl::make_unexpected(deleted.error());
    }
    workloads = {};  // the other format, where the cluster has both, gets none
  }
  return counts;
}

}  // namespace mindgate::audit
