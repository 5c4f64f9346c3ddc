#include "audit/reports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace mindgate::audit {
namespace {

using json::Json;
using offline::FindingLevel;
using offline::ReportedFinding;

ReportedFinding Finding(const std::string& id, FindingLevel level) {
  ReportedFinding finding;
  finding.id = id;
  finding.level = level;
  finding.field = "spec." + id;
  finding.message = "is wrong";
  finding.fix = "write " + id;
  return finding;
}

Workload WrongChat() {
  Workload workload;
  workload.api_version = "apps/v1";
  workload.kind = "Deployment";
  workload.ns = "infer";
  workload.name = "chat";
  workload.uid = "1-2";
  workload.evaluated.findings = {
      Finding("a", FindingLevel::kAudit), Finding("b", FindingLevel::kNote),
      Finding("c", FindingLevel::kWarning), Finding("d", FindingLevel::kDenied),
      Finding("e", FindingLevel::kError)};
  return workload;
}

const Time kThen{std::chrono::seconds(1767225600)};

TEST(ReportsTest, AWorkloadOwnsItsReport) {
  Workload chat = WrongChat();
  chat.evaluated.findings.resize(1);
  Json report = WorkloadReport(ReportFormat::kOpenReports, chat, kThen);
  EXPECT_FALSE(report["metadata"]["annotations"][kReportHash].get<std::string>().empty());
  report["metadata"].erase("annotations");
  EXPECT_EQ(report, Json::parse(R"({
    "apiVersion": "openreports.io/v1alpha1",
    "kind": "Report",
    "metadata": {
      "name": "mindgate-1-2",
      "namespace": "infer",
      "labels": {"app.kubernetes.io/managed-by": "mindgate"},
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat", "uid": "1-2"}]
    },
    "source": "mindgate",
    "scope": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "infer", "name": "chat", "uid": "1-2"},
    "summary": {"pass": 0, "fail": 0, "warn": 0, "error": 0, "skip": 1},
    "results": [{
      "source": "mindgate", "policy": "a", "rule": "a", "result": "skip", "severity": "medium", "scored": false,
      "message": "spec.a: is wrong",
      "properties": {"field": "spec.a", "fix": "write a"},
      "timestamp": {"seconds": 1767225600, "nanos": 0}
    }]
  })"));
}

TEST(ReportsTest, TheWorstFindingsComeFirst) {
  const Json report = WorkloadReport(ReportFormat::kPolicyReports, WrongChat(), kThen);
  std::string results;
  for (const Json& result : report["results"]) {
    results += result["rule"].get<std::string>() + " " + result["result"].get<std::string>() + ", ";
  }
  EXPECT_EQ(results, "e error, d fail, c warn, b skip, a skip, ");
  EXPECT_EQ(report["summary"],
            Json({{"pass", 0}, {"fail", 1}, {"warn", 1}, {"error", 1}, {"skip", 2}}));
  EXPECT_EQ(report["apiVersion"], "wgpolicyk8s.io/v1alpha2");
  EXPECT_EQ(report["kind"], "PolicyReport");
  EXPECT_FALSE(report.contains("source")) << "only OpenReports has it";
}

TEST(ReportsTest, AReportIsBounded) {
  Workload chat = WrongChat();
  ReportedFinding long_one = Finding("long", FindingLevel::kDenied);
  long_one.field = long_one.message = long_one.fix = std::string(2 * 1024, 'x');
  chat.evaluated.findings.assign(2 * kMaxWorkloadResults, long_one);
  const Json report = WorkloadReport(ReportFormat::kOpenReports, chat, kThen);
  EXPECT_EQ(report["results"].size(), kMaxWorkloadResults);
  EXPECT_LT(report.dump().size(), size_t{1} << 20);
}

TEST(ReportsTest, TheHashChangesWithAllButTheTime) {
  const auto hash = [](const Workload& workload, Time at) {
    return WorkloadReport(ReportFormat::kOpenReports, workload,
                          at)["metadata"]["annotations"][kReportHash];
  };
  const Json first = hash(WrongChat(), kThen);
  EXPECT_EQ(hash(WrongChat(), kThen + std::chrono::hours(1)), first);
  Workload changed = WrongChat();
  changed.evaluated.findings[0].fix = "write something else";
  EXPECT_NE(hash(changed, kThen), first);
  changed = WrongChat();
  changed.uid = "1-3";
  EXPECT_NE(hash(changed, kThen), first);
}

TEST(ReportsTest, WhatIsInNoNamespaceHasReportsOfTheCluster) {
  Workload runtime = WrongChat();
  runtime.ns = "";
  const Json open = WorkloadReport(ReportFormat::kOpenReports, runtime, kThen);
  EXPECT_EQ(open["kind"], "ClusterReport");
  EXPECT_FALSE(open["metadata"].contains("namespace"));
  EXPECT_FALSE(open["scope"].contains("namespace"));
  EXPECT_EQ(WorkloadReport(ReportFormat::kPolicyReports, runtime, kThen)["kind"],
            "ClusterPolicyReport");
}

}  // namespace
}  // namespace mindgate::audit
