#include "faults/feed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/running_clock.h"

// Whose reports of faults count: those of ClusterD, or those of the nodes.
namespace mindgate::faults {
namespace {

using json::Json;
using mindgate::testing::Eventually;
namespace resources = kube::resources;

constexpr int64_t kBegin = 1767225600;  // when the clock begins

struct Reporting {
  mindgate::testing::RunningClock clock;
  kube::testing::FakeApiServer server{{.clock = &clock}};

  void Put(const std::string& ns, const std::string& name, const char* label, const Json& data) {
    const std::string text = label;
    const size_t equals = text.find('=');
    server.Put(resources::kConfigMaps,
               {{"metadata",
                 {{"namespace", ns},
                  {"name", name},
                  {"labels", {{text.substr(0, equals), text.substr(equals + 1)}}}}},
                {"data", data}});
  }
  static Json Devices(const std::string& unhealthy, int64_t at) {
    return {{"DeviceList", {{"huawei.com/Ascend910-Unhealthy", unhealthy}}},
            {"UpdateTime", kBegin + at}};
  }
  // A part of ClusterD's: {node: {unhealthy chips, seconds after the begin}}.
  void PutPart(const std::string& name,
               const std::map<std::string, std::pair<std::string, int64_t>>& nodes) {
    Json all = Json::object();
    for (const auto& [node, reported] : nodes) {
      all["mindx-dl-deviceinfo-" + node] = Devices(reported.first, reported.second);
    }
    Put("mindx-dl", name, "mx-consumer-volcano=true", {{name, all.dump()}});
  }
  void PutEmptyPart(const std::string& name) {
    Put("mindx-dl", name, "mx-consumer-volcano=true", {{name, ""}});
  }
  void PutNode(const std::string& node, const std::string& unhealthy, int64_t at) {
    Put("kube-system", "mindx-dl-deviceinfo-" + node, "mx-consumer-cim=true",
        {{"DeviceInfoCfg", Json({{"DeviceInfo", Devices(unhealthy, at)}}).dump()}});
  }
  void PutMachine(const std::string& node, const char* status) {
    Put("mindx-dl", "mindx-dl-nodeinfo-" + node, "mx-consumer-cim=true",
        {{"NodeInfo", Json({{"NodeInfo", {{"NodeStatus", status}}}}).dump()}});
  }
};

struct Following {
  explicit Following(Reporting& of, Source from = Source::kAuto,
                     const std::set<std::string>& public_namespaces = {"kube-system", "mindx-dl"})
      : source(from),
        namespaces(std::make_shared<const std::set<std::string>>(public_namespaces)),
        transport(kube::MakeTransport(kube::testing::AccessTo(of.server.url()), "mindgate/test")),
        client(*transport, sleeper, {}),
        feed(client, sleeper, of.clock,
             {.source = [this] { return source.load(); },
              .public_namespaces = [this] { return *namespaces.Get(); },
              .changed = [](const std::vector<std::string>&, const std::string&) {},
              .on_synced = [this] { ++synced; }}) {
    thread = std::jthread([this](const std::stop_token& stop) { feed.Run(stop); });
  }
  // "n0: Ascend910-3; n1: UnHealthy"
  std::string Faulty() const {
    std::string text;
    const auto reported = feed.faults();
    for (const auto& [node, faults] : *reported) {
      if (!text.empty()) text += "; ";
      text += node + ":";
      for (const std::string& chip : faults.devices.unhealthy) text += " " + chip;
      if (faults.IsUnhealthy()) text += " UnHealthy";
    }
    return text;
  }
  bool Becomes(const std::string& faulty) const {
    return Eventually([&] { return feed.current() && Faulty() == faulty; });
  }

  // Of what is known of the node now.
  std::vector<ReportVersion> ReportsOf(const std::string& node) const {
    const auto reported = feed.faults();
    const auto found = reported->find(node);
    if (found == reported->end()) return {};
    return feed.ReportsOf(node, found->second).value_or(std::vector<ReportVersion>());
  }

  std::atomic<Source> source;
  Snapshot<std::set<std::string>> namespaces;
  std::atomic<int> synced = 0;
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client client;
  Feed feed;
  std::jthread thread;
};

TEST(FaultFeed, ClusterDCountsWhileItReports) {
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}, {"n1", {"", 0}}});
  reporting.PutNode("n1", "Ascend910-5", 1);
  Following following(reporting);
  EXPECT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  EXPECT_TRUE(following.feed.by_clusterd());
  EXPECT_EQ(reporting.server.Count({.target_part = "namespaces/kube-system/configmaps"}), 0u);
}

// With what is asked for again before a step.
TEST(FaultFeed, KnowsTheVersionsThatItsFaultsRestOn) {
  Reporting reporting;
  const auto version = [&](const char* ns, const char* name) {
    return reporting.server.Find(resources::kConfigMaps, ns, name)["metadata"]["resourceVersion"]
        .get<std::string>();
  };
  reporting.PutNode("n0", "Ascend910-5", 0);
  reporting.PutMachine("n0", "UnHealthy");
  reporting.PutNode("n1", "", 0);
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n0: Ascend910-5 UnHealthy")) << following.Faulty();
  EXPECT_EQ(following.ReportsOf("n0"),
            (std::vector<ReportVersion>{{"kube-system", "mindx-dl-deviceinfo-n0",
                                         version("kube-system", "mindx-dl-deviceinfo-n0")},
                                        {"mindx-dl", "mindx-dl-nodeinfo-n0",
                                         version("mindx-dl", "mindx-dl-nodeinfo-n0")}}));
  EXPECT_EQ(following.ReportsOf("n1"), std::vector<ReportVersion>());
  // Also when nothing but the time changes.
  reporting.PutNode("n0", "Ascend910-5", 5);
  EXPECT_TRUE(Eventually([&] {
    const auto reports = following.ReportsOf("n0");
    return !reports.empty() &&
           reports.front().version == version("kube-system", "mindx-dl-deviceinfo-n0");
  }));
  // Who knows something else gets a report.
  EXPECT_EQ(following.feed.ReportsOf("n0", {}), std::nullopt);
  EXPECT_EQ(following.feed.ReportsOf("n1", {}), std::nullopt);
  // Those that do not count do not matter.
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 9}}});
  ASSERT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  EXPECT_EQ(following.ReportsOf("n0"),
            (std::vector<ReportVersion>{{"mindx-dl", "cluster-info-device-0",
                                         version("mindx-dl", "cluster-info-device-0")}}));
}

TEST(FaultFeed, TheNodesCountWithoutClusterD) {
  Reporting reporting;
  reporting.PutNode("n1", "Ascend910-5", 0);
  reporting.PutMachine("n2", "UnHealthy");
  Following following(reporting);
  EXPECT_TRUE(following.Becomes("n1: Ascend910-5; n2: UnHealthy")) << following.Faulty();
  EXPECT_FALSE(following.feed.by_clusterd());
  // NodeD deletes its ConfigMap when all is well.
  reporting.server.Remove(resources::kConfigMaps, "mindx-dl", "mindx-dl-nodeinfo-n2");
  EXPECT_TRUE(following.Becomes("n1: Ascend910-5")) << following.Faulty();
}

// Parts without content are what is left of a ClusterD that needed more of them, or that is gone.
TEST(FaultFeed, EmptyPartsAreNoReportsOfClusterD) {
  Reporting reporting;
  reporting.PutEmptyPart("cluster-info-device-0");
  reporting.PutEmptyPart("cluster-info-node-cm");
  reporting.PutNode("n1", "Ascend910-5", 0);
  Following following(reporting);
  EXPECT_TRUE(following.Becomes("n1: Ascend910-5")) << following.Faulty();
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  EXPECT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  reporting.PutEmptyPart("cluster-info-device-0");
  EXPECT_TRUE(following.Becomes("n1: Ascend910-5")) << following.Faulty();
}

// ClusterD crashed: its parts stay as they were, and the device plugins go on.
TEST(FaultFeed, ClusterDThatIsGoneDoesNotHideWhatTheNodesReport) {
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}, {"n1", {"", 0}}});
  reporting.PutNode("n0", "", 0);
  reporting.PutNode("n1", "", 0);
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  reporting.clock.Advance(FaultStore::kStaleAfter + std::chrono::seconds(60));
  reporting.PutNode("n1", "Ascend910-5", 660);
  EXPECT_TRUE(following.Becomes("n1: Ascend910-5")) << following.Faulty();
  EXPECT_FALSE(following.feed.by_clusterd());
  // It is back.
  reporting.PutPart("cluster-info-device-0", {{"n0", {"", 661}}, {"n1", {"Ascend910-6", 661}}});
  EXPECT_TRUE(following.Becomes("n1: Ascend910-6")) << following.Faulty();
}

// Our clock may be wrong, and the device plugins may be gone as well: ClusterD still knows best.
TEST(FaultFeed, ReportsThatAreOldEverywhereAreClusterDs) {
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  reporting.PutNode("n0", "Ascend910-4", 30);
  reporting.clock.Advance(std::chrono::hours(1));
  Following following(reporting);
  ASSERT_TRUE(
      reporting.server.WaitForRequests({.target_part = "namespaces/kube-system/configmaps"}, 1));
  EXPECT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
}

// The clock of one node is a day ahead, and its last entry stays for a day.
TEST(FaultFeed, AClockThatIsAheadDoesNotHideThatClusterDIsGone) {
  constexpr int64_t kDay = 86400;
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"", 0}}, {"n1", {"", kDay}}});
  reporting.PutNode("n0", "", 0);
  reporting.PutNode("n1", "", kDay);
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("")) << following.Faulty();
  reporting.clock.Advance(FaultStore::kStaleAfter + std::chrono::seconds(60));
  reporting.PutNode("n0", "Ascend910-5", 660);
  EXPECT_TRUE(following.Becomes("n0: Ascend910-5")) << following.Faulty();
  EXPECT_FALSE(following.feed.by_clusterd());
}

// Whose reports count, from the times of ClusterD's and of the nodes' reports in seconds.
TEST(FaultStore, ClusterDIsGoneWhenANodeReportsAfterItAndNothingOfItIsNew) {
  using Times = std::map<std::string, int64_t>;
  constexpr int64_t kNow = 100000;
  constexpr int64_t kDay = 86400;
  struct Case {
    const char* name;
    Times clusterd;
    Times nodes;
    bool wants_nodes;
    bool by_clusterd;
  };
  const Case cases[] = {
      {"it is alive", {{"n0", kNow - 300}, {"n1", kNow - 10}}, {}, false, true},
      {"one node is not updated",
       {{"n0", kNow - 9000}, {"n1", kNow - 10}},
       {{"n0", kNow - 10}},
       false,
       true},
      {"nothing is known of the nodes yet", {{"n0", kNow - 700}}, {}, true, true},
      {"both are old", {{"n0", kNow - 700}}, {{"n0", kNow - 690}}, true, true},
      {"it is gone", {{"n0", kNow - 700}}, {{"n0", kNow - 10}}, true, false},
      {"one node of two reports",
       {{"n0", kNow - 700}, {"n1", kNow - 700}},
       {{"n0", kNow - 700}, {"n1", kNow - 10}},
       true,
       false},
      {"a clock is ahead",
       {{"n0", kNow - 700}, {"n1", kNow + kDay}},
       {{"n0", kNow - 10}, {"n1", kNow + kDay}},
       true,
       false},
      {"the clock of a node that is behind",
       {{"n0", kNow - kDay}},
       {{"n0", kNow - kDay + 600}},
       true,
       false},
      {"two clocks, each in step with itself",
       {{"n0", kNow - 700}, {"n1", kNow + kDay}},
       {{"n0", kNow - 690}, {"n1", kNow + kDay + 10}},
       true,
       true},
      {"our clock is behind", {{"n0", kNow + 3600}}, {{"n0", kNow + 3610}}, true, true},
      {"our clock is behind, and it is gone",
       {{"n0", kNow + 3600}},
       {{"n0", kNow + 4300}},
       true,
       false},
      {"a node that it does not know", {{"n0", kNow - 700}}, {{"n9", kNow - 10}}, true, false},
      {"one of which the clock is ahead", {{"n0", kNow - 700}}, {{"n9", kNow + kDay}}, true, true},
  };
  const auto reported_of = [](const Times& times, bool has_content) {
    ReportSummary reported{.has_content = has_content};
    for (const auto& [node, at] : times) {
      const Time time{std::chrono::seconds(at)};
      reported.times.emplace_back(node, time);
      reported.newest = std::max(reported.newest.value_or(time), time);
    }
    return reported;
  };
  for (const Case& each : cases) {
    FaultStore all;
    const ReportSummary clusterd = reported_of(each.clusterd, true);
    all.Put(Writer::kClusterD, "mindx-dl/cluster-info-device-0", &clusterd);
    for (const auto& [node, at] : each.nodes) {
      const ReportSummary own = reported_of({{node, at}}, false);
      all.Put(Writer::kNodes, "kube-system/mindx-dl-deviceinfo-" + node, &own);
    }
    const Time now{std::chrono::seconds(kNow)};
    EXPECT_EQ(all.WantsNodes(Source::kAuto, now), each.wants_nodes) << each.name;
    EXPECT_EQ(all.ChooseSources(Source::kAuto, now).clusterd, each.by_clusterd) << each.name;
    // What was deleted shows nothing any more.
    for (const auto& [node, at] : each.nodes) {
      all.Put(Writer::kNodes, "kube-system/mindx-dl-deviceinfo-" + node, nullptr);
    }
    EXPECT_TRUE(all.ChooseSources(Source::kAuto, now).clusterd) << each.name;
  }
}

TEST(FaultFeed, TheOptionDecidesWhoCounts) {
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  reporting.PutNode("n1", "Ascend910-5", 0);
  {
    Following following(reporting, Source::kNodes);
    EXPECT_TRUE(following.Becomes("n1: Ascend910-5")) << following.Faulty();
  }
  reporting.PutEmptyPart("cluster-info-device-0");
  Following following(reporting, Source::kClusterD);
  EXPECT_TRUE(following.Becomes("")) << following.Faulty();
}

// A node moves between parts, and the part that it left may stay as it was.
TEST(FaultFeed, OfTwoPartsTheNewerOneCounts) {
  Reporting reporting;
  reporting.PutPart("cluster-info-device-0", {{"n0", {"", 0}}});
  reporting.PutPart("cluster-info-device-1", {{"n1", {"Ascend910-3", 0}}});
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n1: Ascend910-3")) << following.Faulty();
  reporting.PutPart("cluster-info-device-0", {{"n0", {"", 5}}, {"n1", {"", 5}}});
  EXPECT_TRUE(following.Becomes("")) << following.Faulty();
  reporting.PutPart("cluster-info-device-1", {{"n1", {"Ascend910-3", 6}}});
  EXPECT_TRUE(following.Becomes("n1: Ascend910-3")) << following.Faulty();
}

Json PublicFaultAt(const char* id, const char* node, const char* assertion = "occur") {
  return {{"faultId", id},
          {"faultCode", "220001001"},
          {"faultTime", 1767225600000},
          {"assertion", assertion},
          {"influence", {{{"nodeName", node}, {"deviceIds", {2}}}}}};
}

void PutPublic(Reporting& reporting, const Json& fault, const std::string& ns = "kube-system") {
  reporting.Put(ns, "ccae", "mc-consumer-publicfault=true",
                {{"PublicFault", Json({{"faults", Json::array({fault})}}).dump()}});
}

// ClusterD adds public faults to its reports; without it they are added here.
TEST(FaultFeed, PublicFaultsCountWithoutClusterDOnly) {
  Reporting reporting;
  PutPublic(reporting, PublicFaultAt("fault-01", "n1"));
  reporting.PutNode("n1", "Ascend910-5", 0);
  Following following(reporting);
  EXPECT_TRUE(Eventually([&] { return following.Faulty() == "n1: Ascend910-2 Ascend910-5"; }))
      << following.Faulty();
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  EXPECT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
}

// Whoever may write one can have the pods of others deleted.
TEST(FaultFeed, PublicFaultsCountOnlyInTheNamespacesThatAreConfigured) {
  Reporting reporting;
  PutPublic(reporting, PublicFaultAt("fault-01", "n1"), "tenant");
  PutPublic(reporting, PublicFaultAt("fault-02", "n2"), "cluster-system");
  PutPublic(reporting, PublicFaultAt("fault-03", "n3"), "mindx-dl");
  reporting.PutNode("n4", "Ascend910-5", 0);
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n3: Ascend910-2; n4: Ascend910-5")) << following.Faulty();
  for (const char* ns : {"tenant", "cluster-system"}) {
    EXPECT_EQ(reporting.server.Count({.target_part = "namespaces/" + std::string(ns) + "/"}), 0u);
  }
}

TEST(FaultFeed, AnotherListOfNamespacesAppliesWithoutARestart) {
  Reporting reporting;
  PutPublic(reporting, PublicFaultAt("fault-01", "n1"));
  PutPublic(reporting, PublicFaultAt("fault-02", "n2"), "ccae-system");
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n1: Ascend910-2")) << following.Faulty();
  const auto use = [&](const std::set<std::string>& namespaces) {
    following.namespaces.Set(std::make_shared<const std::set<std::string>>(namespaces));
  };
  use({"kube-system", "ccae-system"});
  EXPECT_TRUE(following.Becomes("n1: Ascend910-2; n2: Ascend910-2")) << following.Faulty();
  use({"ccae-system"});
  EXPECT_TRUE(following.Becomes("n2: Ascend910-2")) << following.Faulty();
  use({});
  EXPECT_TRUE(following.Becomes("")) << following.Faulty();
}

// As ClusterD remembers them: a message reports its own faults only.
TEST(FaultFeed, PublicFaultsLastUntilAMessageEndsThem) {
  Reporting reporting;
  PutPublic(reporting, PublicFaultAt("fault-01", "n1"));
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n1: Ascend910-2")) << following.Faulty();
  PutPublic(reporting, PublicFaultAt("fault-02", "n2"));
  ASSERT_TRUE(following.Becomes("n1: Ascend910-2; n2: Ascend910-2")) << following.Faulty();
  const Json now = reporting.server.Find(resources::kConfigMaps, "kube-system", "ccae");
  const std::vector<ReportVersion> rests_on = {
      {"kube-system", "ccae", now["metadata"]["resourceVersion"].get<std::string>()}};
  EXPECT_EQ(following.ReportsOf("n1"), rests_on) << "on the message that is there now";
  EXPECT_EQ(following.ReportsOf("n2"), rests_on);
  PutPublic(reporting, PublicFaultAt("fault-01", "n1", "recover"));
  ASSERT_TRUE(following.Becomes("n2: Ascend910-2")) << following.Faulty();
  reporting.server.Remove(resources::kConfigMaps, "kube-system", "ccae");
  EXPECT_TRUE(following.Becomes("")) << following.Faulty();
}

// While ClusterD reports nobody follows them here, and may miss that one ended.
TEST(FaultFeed, WhatWasReplacedIsForgottenWhileClusterDReports) {
  Reporting reporting;
  PutPublic(reporting, PublicFaultAt("fault-01", "n1"));
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("n1: Ascend910-2")) << following.Faulty();
  PutPublic(reporting, PublicFaultAt("fault-02", "n2"));
  ASSERT_TRUE(following.Becomes("n1: Ascend910-2; n2: Ascend910-2")) << following.Faulty();
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  ASSERT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  ASSERT_TRUE(Eventually([&] { return reporting.server.watches() == 1; })) << "ClusterD's alone";
  reporting.PutEmptyPart("cluster-info-device-0");
  EXPECT_TRUE(following.Becomes("n2: Ascend910-2")) << following.Faulty();
}

const kube::testing::When kOfDevices{.target_part = "namespaces/kube-system/configmaps"};

// What they reported before ClusterD did is known, and may be wrong by now.
TEST(FaultFeed, NodesThatAreReadOnceMoreAreNotCurrentBeforeTheyAreRead) {
  Reporting reporting;
  reporting.PutNode("n1", "", 0);
  Following following(reporting);
  ASSERT_TRUE(following.Becomes("")) << following.Faulty();
  reporting.PutPart("cluster-info-device-0", {{"n1", {"Ascend910-3", 0}}});
  ASSERT_TRUE(following.Becomes("n1: Ascend910-3")) << following.Faulty();
  ASSERT_TRUE(Eventually([&] { return reporting.server.watches() == 1; })) << "ClusterD's alone";
  reporting.PutNode("n1", "Ascend910-3", 1);
  const auto gate = reporting.server.Hold(kOfDevices);
  reporting.PutEmptyPart("cluster-info-device-0");
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_EQ(following.Faulty(), "") << "by the reports of before";
  EXPECT_FALSE(following.feed.current());
  gate->Release();
  EXPECT_TRUE(following.Becomes("n1: Ascend910-3")) << following.Faulty();
}

// Whoever waited until it is current learns of that.
TEST(FaultFeed, IsCurrentWhenTheNodesAreNoLongerNeeded) {
  Reporting reporting;
  const auto gate = reporting.server.Hold(kOfDevices);
  Following following(reporting);
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_FALSE(following.feed.current());
  EXPECT_EQ(following.synced, 0);
  reporting.PutPart("cluster-info-device-0", {{"n0", {"Ascend910-3", 0}}});
  EXPECT_TRUE(following.Becomes("n0: Ascend910-3")) << following.Faulty();
  EXPECT_TRUE(Eventually([&] { return following.synced > 0; }));
  gate->Release();
}

}  // namespace
}  // namespace mindgate::faults
