#include "audit/reports.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/value.h"
#include "kube/answers.h"
#include "schemas/config.h"
#include "schemas/raw_objects.h"

namespace mindgate::audit {
namespace {

using json::Json;
using offline::FindingLevel;
using offline::ReportedFinding;

// The API server bounds no text of a report; readers show a line of it.
constexpr size_t kMaxText = 1024;

std::string OutcomeOf(FindingLevel level) {
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

Json Reference(const Workload& workload) {
  Json reference = {
      {"apiVersion", workload.api_version}, {"kind", workload.kind}, {"name", workload.name}};
  if (!workload.ns.empty()) reference["namespace"] = workload.ns;
  return reference;
}

std::string ReportName(const Workload& workload) { return "mindgate-" + workload.uid; }

Json TimeOf(Time at) {
  return {
      {"seconds", std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count()},
      {"nanos", 0}};
}

}  // namespace

kube::Resource ReportResource(ReportFormat format, bool namespaced) {
  switch (format) {
    case ReportFormat::kOpenReports:
      return namespaced ? kube::Resource{"openreports.io", "v1alpha1", "reports", "Report", true}
                        : kube::Resource{"openreports.io", "v1alpha1", "clusterreports",
                                         "ClusterReport", false};
    case ReportFormat::kPolicyReports:
      break;
  }
  return namespaced
             ? kube::Resource{"wgpolicyk8s.io", "v1alpha2", "policyreports", "PolicyReport", true}
             : kube::Resource{"wgpolicyk8s.io", "v1alpha2", "clusterpolicyreports",
                              "ClusterPolicyReport", false};
}

Json ReportResult(const Workload& workload, const ReportedFinding& finding, Time at) {
  Json result = {{"source", kReportManager},
                 {"policy", finding.rule == nullptr ? finding.id : std::string(finding.rule->name)},
                 {"rule", finding.id},
                 {"result", OutcomeOf(finding.level)},
                 {"severity", SeverityOf(finding)},
                 {"scored", finding.level >= FindingLevel::kDenied},
                 {"message", Cut(FieldMessage(finding), kMaxText)},
                 {"timestamp", TimeOf(at)},
                 {"resources", Json::array({Reference(workload)})}};
  Json properties = Json::object();
  if (!finding.field.empty()) properties["field"] = Cut(finding.field, kMaxText);
  if (!finding.fix.empty()) properties["fix"] = Cut(finding.fix, kMaxText);
  if (!properties.empty()) result["properties"] = std::move(properties);
  return result;
}

Json ReportObject(ReportFormat format, const std::string& ns, const std::string& name,
                  Json results) {
  const kube::Resource resource = ReportResource(format, !ns.empty());
  Json summary = {{"pass", 0}, {"fail", 0}, {"warn", 0}, {"error", 0}, {"skip", 0}};
  for (const Json& result : results) {
    Json& count = summary[result.at("result").get<std::string>()];
    count = count.get<int64_t>() + 1;
  }
  Json metadata = {{"name", name}, {"labels", {{schemas::kManagedBy, kReportManager}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", resource.api_version()},
          {"kind", resource.kind},
          {"metadata", std::move(metadata)},
          {"summary", std::move(summary)},
          {"results", std::move(results)}};
}

Json WorkloadReport(ReportFormat format, const Workload& workload, Time at) {
  std::vector<const ReportedFinding*> findings;
  for (const ReportedFinding& finding : workload.evaluated.findings) findings.push_back(&finding);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto* left, const auto* right) { return left->level > right->level; });
  findings.resize(std::min(findings.size(), kMaxWorkloadResults));
  Json results = Json::array();
  for (const ReportedFinding* finding : findings) {
    results.push_back(ReportResult(workload, *finding, {}));
    results.back().erase("resources");  // the scope says it once
  }
  Json report = ReportObject(format, workload.ns, ReportName(workload), std::move(results));
  report["scope"] = Reference(workload);
  report["scope"]["uid"] = workload.uid;
  if (format == ReportFormat::kOpenReports) report["source"] = kReportManager;
  report["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", workload.api_version},
                                                        {"kind", workload.kind},
                                                        {"name", workload.name},
                                                        {"uid", workload.uid}}});
  report["metadata"]["annotations"] = {{kReportHash, schemas::HashText(report.dump())}};
  for (Json& result : report["results"]) result["timestamp"] = TimeOf(at);
  return report;
}

namespace {

using kube::Reason;

constexpr ReportFormat kFormats[] = {ReportFormat::kOpenReports, ReportFormat::kPolicyReports};

// Who writes the fields of reports (server-side apply).
constexpr const char* kFieldManager = "mindgate-audit";

// The API server takes any text as the uid of an owner that a tenant made up. As a name it refuses
// it in more ways than one: a "/" makes it another path.
bool IsReportName(std::string_view name) {
  const auto parts = Split(name, '.');
  return name.size() <= kube::kMaxName && std::all_of(parts.begin(), parts.end(), IsDns1123Label);
}

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
  std::vector<const Workload*> unnamed;
  for (const Workload& workload : workloads) {
    if (workload.evaluated.findings.empty() || workload.uid.empty()) continue;
    if (!IsReportName(ReportName(workload))) {
      unnamed.push_back(&workload);
      continue;
    }
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
  if (!unnamed.empty()) {
    logger_.Warning("workloads get no report, as their uid cannot be part of a name",
                    {{"namespace", ns},
                     {"workloads", static_cast<int64_t>(unnamed.size())},
                     {"first", unnamed.front()->kind + "/" + unnamed.front()->name}});
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
