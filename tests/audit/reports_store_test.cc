#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/reports.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::audit {
namespace {

using json::Json;
using kube::testing::FakeApiServer;

Workload Wrong(const std::string& name, const std::string& message = "is wrong") {
  Workload workload;
  workload.api_version = "apps/v1";
  workload.kind = "Deployment";
  workload.ns = "infer";
  workload.name = name;
  workload.uid = "uid-" + name;
  offline::ReportedFinding& finding = workload.evaluated.findings.emplace_back();
  finding.id = "MG050";
  finding.level = offline::FindingLevel::kDenied;
  finding.message = message;
  return workload;
}

struct ReportStoreTest : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock,
                     [this](std::string_view line) { logged += line; }};
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, watcher::LeaderClient::kOptions};
  bool leads = true;
  watcher::LeaderClient writer{client,
                               watcher::Term(clock.WallNow(), [this] { return leads; }, {})};
  ReportStore store{client, logger};
  std::string logged;
  const kube::Resource open = ReportResource(ReportFormat::kOpenReports, true);
  const kube::Resource old = ReportResource(ReportFormat::kPolicyReports, true);

  ReportStoreTest() {
    server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "infer"}}}});
  }

  // "1 written, 0 deleted", or the reason why not.
  std::string Put(const std::vector<Workload>& workloads, bool complete = true) {
    const auto put = store.Put(writer, "infer", workloads, complete, clock.WallNow());
    if (!put) return std::string(kube::ReasonName(put.error().reason));
    return std::to_string(put->written) + " written, " + std::to_string(put->deleted) + " deleted";
  }
  std::string Message(const kube::Resource& resource, const std::string& name) const {
    const Json report = server.Find(resource, "infer", "mindgate-uid-" + name);
    return report.is_null() ? "" : report["results"][0]["message"].get<std::string>();
  }
};

TEST_F(ReportStoreTest, WritesNothingWhereNoReportsAre) {
  EXPECT_EQ(Put({Wrong("chat")}), "0 written, 0 deleted");
}

TEST_F(ReportStoreTest, KeepsReportsAsTheFindingsAre) {
  server.Register({.resource = old, .custom = true});
  Workload right = Wrong("right");
  right.evaluated.findings.clear();
  Workload unknown = Wrong("unknown");
  unknown.uid.clear();  // of a controller that somebody made up
  EXPECT_EQ(Put({Wrong("chat"), Wrong("rank"), right, unknown}), "2 written, 0 deleted");
  EXPECT_EQ(server.size(old), 2u);
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(Put({Wrong("chat"), Wrong("rank")}), "0 written, 0 deleted")
      << "no finding has changed";
  EXPECT_EQ(Put({Wrong("chat", "is worse")}), "1 written, 1 deleted");
  EXPECT_EQ(Message(old, "chat"), "is worse");
  EXPECT_EQ(server.size(old), 1u);
  EXPECT_EQ(Put({}), "0 written, 1 deleted");
}

TEST_F(ReportStoreTest, DeletesNothingAboutWhatCouldNotBeRead) {
  server.Register({.resource = open, .custom = true});
  EXPECT_EQ(Put({Wrong("chat")}), "1 written, 0 deleted");
  EXPECT_EQ(Put({Wrong("rank")}, false), "1 written, 0 deleted");
  EXPECT_EQ(server.size(open), 2u);
}

TEST_F(ReportStoreTest, LeavesReportsOfOthersAlone) {
  server.Register({.resource = old, .custom = true});
  server.Put(old, {{"metadata",
                    {{"name", "polr-kyverno"},
                     {"namespace", "infer"},
                     {"labels", {{"app.kubernetes.io/managed-by", "kyverno"}}}}}});
  EXPECT_EQ(Put({}), "0 written, 0 deleted");
  EXPECT_EQ(server.size(old), 1u);
}

TEST_F(ReportStoreTest, PrefersOpenReportsAndMovesThere) {
  server.Register({.resource = old, .custom = true});
  EXPECT_EQ(Put({Wrong("chat")}), "1 written, 0 deleted");
  server.Register({.resource = open, .custom = true});
  EXPECT_EQ(Put({Wrong("chat")}), "1 written, 1 deleted");
  EXPECT_EQ(server.size(old), 0u);
  EXPECT_EQ(Message(open, "chat"), "is wrong");
}

TEST_F(ReportStoreTest, GoesOnWhenAReportIsRefused) {
  server.Register({.resource = open, .custom = true});
  server.AnswerNext(1, {.method = "PATCH", .target_part = "mindgate-uid-chat"},
                    kube::testing::StatusAnswer(422, "Invalid", "a name has no spaces"));
  EXPECT_EQ(Put({Wrong("chat"), Wrong("rank")}), "2 written, 0 deleted");
  EXPECT_EQ(Message(open, "rank"), "is wrong");
  EXPECT_NE(logged.find("a report is refused"), std::string::npos) << logged;
  EXPECT_NE(logged.find("a name has no spaces"), std::string::npos) << logged;
}

// Of an owner that a tenant made up: the API server only wants the uid not to be empty.
TEST_F(ReportStoreTest, LeavesOutWhatNoReportCanBeNamedAfter) {
  server.Register({.resource = open, .custom = true});
  std::vector<Workload> workloads;
  const std::vector<std::string> uids = {"a/b",
                                         "../x",
                                         "a b",
                                         "a?b",
                                         "A",
                                         "a_b",
                                         "-",
                                         "a..b",
                                         "a.",
                                         "a%",
                                         "caf\u00e9",
                                         "a\nb",
                                         std::string(300, 'a')};
  for (const std::string& uid : uids) {
    workloads.push_back(Wrong("made-up"));
    workloads.back().uid = uid;
  }
  workloads.push_back(Wrong("rank"));
  EXPECT_EQ(Put(workloads), "1 written, 0 deleted");
  EXPECT_EQ(Message(open, "rank"), "is wrong");
  EXPECT_EQ(server.size(open), 1u);
  EXPECT_NE(logged.find("workloads get no report"), std::string::npos) << logged;
  EXPECT_NE(logged.find("workloads=" + std::to_string(uids.size())), std::string::npos) << logged;
  EXPECT_NE(logged.find("Deployment/made-up"), std::string::npos) << logged;
  logged.clear();
  EXPECT_EQ(Put({Wrong("rank")}), "0 written, 0 deleted");
  EXPECT_EQ(logged, "");
}

TEST_F(ReportStoreTest, ReportsWhatFails) {
  server.Register({.resource = open, .custom = true});
  server.Forbid("patch", "reports");
  EXPECT_EQ(Put({Wrong("chat")}), "Forbidden");
  server.AllowAll();
  server.Forbid("list", "reports");
  EXPECT_EQ(Put({Wrong("chat")}), "Forbidden");
  server.AllowAll();
  leads = false;
  EXPECT_EQ(Put({Wrong("chat")}), "Stopped");
  EXPECT_EQ(server.size(open), 0u);
}

}  // namespace
}  // namespace mindgate::audit
