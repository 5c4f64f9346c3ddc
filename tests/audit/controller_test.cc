#include "audit/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "audit/audited_server.h"
#include "audit/reports.h"
#include "support/eventually.h"

namespace mindgate::audit {
namespace {

using json::Json;
using mindgate::testing::Eventually;
namespace resources = kube::resources;

struct ControllerTest : testing::AuditedServer {
  kube::Client writer{*transport, sleeper, watcher::LeaderClient::kOptions};
  Snapshot<schemas::Config> config;
  std::atomic<bool> leads = true;
  const kube::Resource reports = ReportResource(ReportFormat::kOpenReports, true);
  std::unique_ptr<Controller> controller;
  std::jthread following_pods;
  std::jthread running;  // both end before what they use

  ControllerTest() { server.Register({.resource = reports, .custom = true}); }

  void SetConfig(bool on, bool off_mg050 = false) {
    auto loaded = std::make_shared<schemas::Config>();
    loaded->audit.on = on;
    if (off_mg050) loaded->rules["MG050"] = schemas::Mode::kOff;
    config.Set(std::move(loaded));
  }
  void Start(const std::string& ns = "") {
    controller = std::make_unique<Controller>(
        client, writer, sleeper, clock, logger, pods, config,
        Controller::Options{.ns = ns, .term = [this]() -> std::optional<watcher::Term> {
                              if (!leads) return std::nullopt;
                              return watcher::Term(clock.WallNow(), [this] { return leads.load(); },
                                                   {});
                            }});
    following_pods = std::jthread([this](const std::stop_token& stop) { pods.Run(stop); });
    running = std::jthread([this](const std::stop_token& stop) { controller->Run(stop); });
  }
  // Of a series without its labels, summed up; 0 where there is none.
  double Metric(const std::string& name) const {
    std::vector<prometheus::MetricFamily> families;
    controller->AddMetrics(families);
    double sum = 0;
    for (const prometheus::MetricFamily& family : families) {
      if (family.name != name) continue;
      for (const auto& series : family.metric) sum += series.gauge.value + series.counter.value;
    }
    return sum;
  }
  std::string Findings(const std::string& ns) const {
    const Json report = server.Find(reports, ns, "mindgate-uid-" + ns);
    if (report.is_null()) return "";
    std::string rules;
    for (const Json& result : report["results"]) rules += result["rule"].get<std::string>() + " ";
    return rules;
  }
  bool AwaitFindings(const std::string& ns, const std::string& want) const {
    return Eventually([&] { return Findings(ns) == want; });
  }
  // How often the Deployments of the namespace were listed to be evaluated.
  size_t Audits(const std::string& ns) const {
    return server.Count({.method = "GET", .target_part = "/namespaces/" + ns + "/deployments"});
  }
};

TEST_F(ControllerTest, WritesAReportForEachWorkloadWithFindings) {
  SetConfig(true);
  PutChat("infer", "forced");
  PutChat("train", "force");
  PutChat("serve", "forced");
  Start();
  EXPECT_TRUE(AwaitFindings("infer", "MG050 "));
  EXPECT_TRUE(AwaitFindings("serve", "MG050 "));
  EXPECT_TRUE(Eventually([&] { return Metric("mindgate_audit_workloads") == 3; }));
  EXPECT_EQ(Metric("mindgate_audit_findings"), 2);
  EXPECT_EQ(Metric("mindgate_audit_reports_total"), 2);
  EXPECT_EQ(server.size(reports), 2u);
}

TEST_F(ControllerTest, AuditsAgainWhatHasChangedOnceAMinuteHasPassed) {
  SetConfig(true);
  PutChat("infer", "forced");
  Start();
  ASSERT_TRUE(AwaitFindings("infer", "MG050 "));
  PutChat("infer", "force");
  // Of the interval of an hour little passes.
  EXPECT_TRUE(Eventually([&] {
    clock.Advance(std::chrono::milliseconds(100));
    return Findings("infer").empty();
  }));
}

TEST_F(ControllerTest, AuditsEverythingWithinTheInterval) {
  SetConfig(true);
  PutChat("infer", "force");
  Start();
  ASSERT_TRUE(Eventually([&] { return Metric("mindgate_audit_workloads") == 1; }));
  const size_t before = Audits("infer");
  EXPECT_TRUE(Eventually([&] {
    clock.Advance(std::chrono::minutes(1));
    return Audits("infer") > before;
  }));
}

TEST_F(ControllerTest, AppliesANewConfiguration) {
  SetConfig(true);
  PutChat("infer", "forced");
  Start();
  ASSERT_TRUE(AwaitFindings("infer", "MG050 "));
  SetConfig(true, true);
  controller->EnqueueAll();
  EXPECT_TRUE(Eventually([&] {
    clock.Advance(std::chrono::milliseconds(100));
    return Findings("infer").empty();
  }));
  SetConfig(false);
  EXPECT_FALSE(controller->enabled());
  EXPECT_EQ(Metric("mindgate_audit_namespaces"), 0) << "what is off has no metrics";
}

// A kind that mindgate.yaml gets while the watcher runs.
TEST_F(ControllerTest, FollowsKindsThatAreAdded) {
  const schemas::SiteKinds ray = Installed("ray");
  const auto put = [&](const std::string& fault_scheduling) {
    const Json job = {
        {"apiVersion", "ray.io/v1"},
        {"kind", "RayCluster"},
        {"metadata", {{"name", "r"}, {"namespace", "infer"}, {"uid", "uid-infer"}}},
        {"spec",
         {{"headGroupSpec",
           {{"template",
             {{"metadata", {{"labels", {{"fault-scheduling", fault_scheduling}}}}},
              {"spec", {{"containers", Json::array({::mindgate::testing::NpuContainer()})}}}}}}}}}};
    server.Put(ResourceOf(*ray.Find("ray.io", "RayCluster")), job);
  };
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "infer"}}}});
  SetConfig(true);
  Start();
  ASSERT_TRUE(WaitForAllWatches());
  auto loaded = std::make_shared<schemas::Config>(*config.Get());
  loaded->kinds = ray;
  config.Set(std::move(loaded));
  controller->EnqueueAll();
  EXPECT_TRUE(server.WaitForWatches(AllWatches() + ray.size()));
  put("forced");
  EXPECT_TRUE(Eventually([&] {
    clock.Advance(std::chrono::milliseconds(100));
    return Findings("infer") == "MG050 ";
  })) << Findings("infer");
}

TEST_F(ControllerTest, ForgetsANamespaceThatIsGone) {
  SetConfig(true);
  PutChat("infer", "forced");
  Start();
  ASSERT_TRUE(AwaitFindings("infer", "MG050 "));
  ASSERT_TRUE(Eventually([&] { return Metric("mindgate_audit_findings") == 1; }));
  server.Remove(resources::kNamespaces, "", "infer");
  EXPECT_TRUE(Eventually([&] { return Metric("mindgate_audit_findings") == 0; }));
}

TEST_F(ControllerTest, OnlyTheLeaderAudits) {
  SetConfig(true);
  leads = false;
  PutChat("infer", "forced");
  Start();
  ASSERT_TRUE(WaitForAllWatches());
  EXPECT_EQ(Metric("mindgate_audit_namespaces"), 0);
  leads = true;
  controller->EnqueueAll();
  EXPECT_TRUE(AwaitFindings("infer", "MG050 "));
}

TEST_F(ControllerTest, KeepsToItsNamespace) {
  SetConfig(true);
  PutChat("infer", "forced");
  PutChat("train", "forced");
  Start("infer");
  ASSERT_TRUE(AwaitFindings("infer", "MG050 "));
  EXPECT_EQ(server.size(reports), 1u);
}

TEST_F(ControllerTest, CountsWhatItMayNotRead) {
  SetConfig(true);
  PutChat("infer", "forced");
  server.Forbid("list", "stormservices");
  Start();
  EXPECT_TRUE(AwaitFindings("infer", "MG050 "));
  EXPECT_TRUE(Eventually([&] {
    std::vector<prometheus::MetricFamily> families;
    controller->AddMetrics(families);
    const auto& series = families.at(2).metric.at(1);
    EXPECT_EQ(families.at(2).name, "mindgate_audit_namespaces");
    EXPECT_EQ(series.label.at(0).value, "in-part");
    return series.gauge.value > 0;
  }));
}

// Time passes with each look at the clock.
class TickingClock final : public Clock {
 public:
  Instant Now() const override { return Instant(std::chrono::milliseconds(10) * ++ticks_); }
  Time WallNow() const override { return Time(std::chrono::seconds(1767225600)); }

 private:
  mutable std::atomic<int> ticks_ = 0;
};

TEST_F(ControllerTest, PausesForMuchLongerThanAnAuditTook) {
  SetConfig(true);
  PutChat("infer", "force");
  const TickingClock ticking;
  controller = std::make_unique<Controller>(
      client, writer, sleeper, ticking, logger, pods, config,
      Controller::Options{.term = [&]() -> std::optional<watcher::Term> {
        return watcher::Term(ticking.WallNow(), [] { return true; }, {});
      }});
  running = std::jthread([this](const std::stop_token& stop) { controller->Run(stop); });
  // 10 ms at least, times 49.
  EXPECT_TRUE(Eventually([&] {
    const auto pauses = sleeper.pauses();
    return std::any_of(pauses.begin(), pauses.end(), [](std::chrono::milliseconds pause) {
      return pause >= std::chrono::milliseconds(490) && pause.count() % 490 == 0;
    });
  }));
  running = {};  // before the clock
}

}  // namespace
}  // namespace mindgate::audit
