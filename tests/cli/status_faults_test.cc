#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/time.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/installed.h"

// `mindgate status --faults`.
namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::mindgate::testing::PutWatcher;
namespace resources = kube::resources;

struct StatusFaults : ::testing::Test {
  FakeApiServer server;

  StatusFaults() { server.Register({.resource = resources::kPodGroups, .custom = true}); }
  void PutReport(const std::string& ns, const std::string& name, const std::string& label,
                 const Json& data) {
    server.Put(resources::kConfigMaps,
               {{"metadata", {{"namespace", ns}, {"name", name}, {"labels", {{label, "true"}}}}},
                {"data", data}});
  }
  void PutNode(const std::string& name, const char* ready) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}}},
                {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}});
  }
  void PutPod(const std::string& name, const std::string& node, const std::string& chips,
              const std::string& pod_group = "") {
    Json pod = {
        {"metadata", {{"namespace", "infer"}, {"name", name}}},
        {"spec", {{"nodeName", node}}},
        {"status",
         {{"phase", "Running"}, {"conditions", {{{"type", "PodScheduled"}, {"status", "True"}}}}}}};
    if (!chips.empty()) pod["metadata"]["annotations"]["huawei.com/AscendReal"] = chips;
    if (!pod_group.empty()) {
      pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = pod_group;
    }
    server.Put(resources::kPods, pod);
  }
  // A PodGroup with a pod on each of the nodes, with chip 3.
  void PutJob(const std::string& name, const Json& labels, const std::vector<std::string>& nodes) {
    server.Put(resources::kPodGroups,
               {{"metadata", {{"namespace", "infer"}, {"name", name}, {"labels", labels}}}});
    for (size_t i = 0; i < nodes.size(); ++i) {
      server.Put(resources::kPods, {{"metadata",
                                     {{"namespace", "infer"},
                                      {"name", name + "-" + std::to_string(i)},
                                      {"annotations",
                                       {{"scheduling.k8s.io/group-name", name},
                                        {"hccl/rankIndex", std::to_string(i)},
                                        {"huawei.com/AscendReal", "Ascend910-3"}}}}},
                                    {"spec", {{"nodeName", nodes[i]}}},
                                    {"status", {{"phase", "Running"}}}});
    }
  }
  void PutEvent(const std::string& name, const std::string& reason, const std::string& note,
                const std::string& by = "mindgate.io/watcher") {
    server.Put(
        resources::kEvents,
        {{"metadata", {{"namespace", "infer"}, {"name", name}}},
         {"reason", reason},
         {"note", note},
         {"reportingController", by},
         // In whole minutes as it is printed, for half a minute from now on.
         {"eventTime", FormatTime(SystemClock().WallNow() - std::chrono::seconds(15 * 60 + 30))},
         {"regarding", {{"kind", "Job"}, {"name", "train"}}}});
  }
  auto Run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"status", "--faults", "--server", server.url()});
    return Cli(more);
  }
};

constexpr const char* kDevices = R"({
  "mindx-dl-deviceinfo-n6":{"DeviceList":{"huawei.com/Ascend910-Unhealthy":""},"UpdateTime":1767225601},
  "mindx-dl-deviceinfo-n7":{"DeviceList":{
     "huawei.com/Ascend910-Unhealthy":"Ascend910-3","huawei.com/Ascend910-NetworkUnhealthy":"Ascend910-4",
     "huawei.com/Ascend910-Fault":"[{\"npu_name\":\"Ascend910-3\",\"fault_level\":\"RestartNPU\",\"fault_code\":\"80E18005\"}]"},
     "UpdateTime":1767225601}})";

TEST_F(StatusFaults, ShowsWhatClusterDReportsAndThePodsOfIt) {
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", kDevices}});
  PutReport(
      "mindx-dl", "cluster-info-node-cm", "mx-consumer-volcano",
      {{"cluster-info-node-cm",
        R"({"mindx-dl-nodeinfo-n8":{"FaultDevList":[{"FaultCode":["2C000031"]}],"NodeStatus":"UnHealthy"}})"}});
  // A node's own report is not read while ClusterD reports.
  PutReport("kube-system", "mindx-dl-deviceinfo-n6", "mx-consumer-cim",
            {{"ManuallySeparateNPU", "Ascend910-0"}});
  for (const char* node : {"n6", "n7", "n8"}) PutNode(node, "True");
  PutNode("n9", "Unknown");
  PutPod("p0", "n6", "Ascend910-3");
  PutPod("p1", "n7", "Ascend910-2,Ascend910-3", "job");
  PutPod("p2", "n7", "Ascend910-4");
  PutPod("p3", "n8", "");
  PutPod("p4", "n9", "Ascend910-0");
  PutPod("p5", "n10", "Ascend910-0");  // the node was deleted
  const auto reported = Run();
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(reported.err, "");
  EXPECT_EQ(
      reported.out,
      "Reported by ClusterD, in 2 ConfigMaps.\n"
      "NODE   PART          STATE              CODES      SINCE       FAULTY PODS\n"
      "n7     Ascend910-3   RestartNPU         80E18005   <unknown>   infer/p1\n"
      "       Ascend910-4   NetworkUnhealthy   <none>     <unknown>   <none>\n"
      "n8     node          UnHealthy          2C000031   <unknown>   infer/p3 (no "
      "PodGroup)\n"
      "n9     node          NotReady           <none>     <unknown>   infer/p4 (no PodGroup)\n"
      "n10    node          Gone               <none>     <unknown>   infer/p5 (no PodGroup)\n"
      "\n"
      "CODE       WHAT MAKES IT WORSE\n"
      "80E18005   3 times in 24h: ManuallySeparateNPU, until a person releases the chip\n");
  EXPECT_EQ(Run({"-o", "name"}).out, "node/n7\nnode/n8\nnode/n9\nnode/n10\n");
  const Json json = Json::parse(Run({"-o", "json"}).out);
  EXPECT_EQ(json["reportedBy"], "clusterd");
  EXPECT_EQ(
      json["nodes"][0]["parts"][0],
      (Json{{"part", "Ascend910-3"},
            {"state", "RestartNPU"},
            {"codes", {"80E18005"}},
            {"since", nullptr},
            {"faultyPods", {{{"namespace", "infer"}, {"name", "p1"}, {"podGroup", "job"}}}}}));
}

// What the device plugins of this cluster read instead of what they ship.
TEST_F(StatusFaults, KnowsTheClustersOwnFaultCodes) {
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", kDevices}});
  const auto put = [&](const char* customization) {
    server.Put(resources::kConfigMaps,
               {{"metadata", {{"namespace", "kube-system"}, {"name", "mindx-dl-fault-config"}}},
                {"data", {{"faultCustomization.json", customization}}}});
  };
  put(R"({"FaultDuration":[{"EventId":["80E18005"],"FaultTimeout":60,"RecoverTimeout":60,)"
      R"("FaultHandling":"SeparateNPU"}]})");
  auto reported = Run();
  EXPECT_EQ(reported.err, "");
  EXPECT_THAT(
      reported.out,
      ::testing::HasSubstr("80E18005   if it lasts 1m: SeparateNPU, until it has been gone for "
                           "1m\n"));
  EXPECT_EQ(Json::parse(Run({"-o", "json"}).out)["codes"],
            (Json{{{"code", "80E18005"},
                   {"whatMakesItWorse",
                    {"if it lasts 1m: SeparateNPU, until it has been gone for 1m"}}}}));
  put("{");
  reported = Run();
  EXPECT_EQ(reported.code, 0);
  EXPECT_THAT(reported.err,
              ::testing::HasSubstr("ConfigMap kube-system/mindx-dl-fault-config: "
                                   "faultCustomization.json: the device plugin uses the file "
                                   "that it ships instead, and so does mindgate"));
  EXPECT_THAT(reported.out, ::testing::HasSubstr("80E18005   3 times in 24h: ManuallySeparateNPU"));
  server.Forbid("get", "configmaps");
  reported = Run();
  EXPECT_EQ(reported.code, 0);
  EXPECT_THAT(reported.err,
              ::testing::HasSubstr("the levels are those that MindCluster 26.1 ships"));
}

// By the labels of the PodGroup and all of its pods, also of those on healthy nodes.
TEST_F(StatusFaults, ReportsWhatHappensToJobs) {
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", kDevices}});
  for (const char* node : {"n6", "n7"}) PutNode(node, "True");
  PutJob("a", {{"fault-scheduling", "force"}}, {"n6", "n7", "n6"});
  PutJob("b", {{"fault-scheduling", "grace"}, {"pod-rescheduling", "on"}}, {"n6", "n7"});
  PutJob("c", {{"fault-scheduling", "Force"}}, {"n7"});
  PutJob("d", {{"fault-scheduling", "external-grace"}}, {"n7"});
  PutJob("e", Json::object(), {"n7"});
  PutJob("healthy", {{"fault-scheduling", "force"}}, {"n6"});
  const std::string out = Run().out;
  EXPECT_EQ(out.substr(out.find("\n\n") + 2),
            R"(JOB       FAULT           PLUGIN RESTARTED   WHAT HAPPENS
infer/a   CardUnhealthy   <no record>        MindCluster's plugin deletes 3 of 3 pods at once (fault-scheduling is force): a-0, a-1, a-2
infer/b   CardUnhealthy   <no record>        MindCluster's plugin evicts 1 of 2 pods, and deletes it by force after 15 minutes (fault-scheduling is grace): b-1
infer/c   CardUnhealthy   <no record>        it cannot be restarted: fault-scheduling is "Force", which is not a value
infer/d   CardUnhealthy   <no record>        MindCluster's plugin annotates 1 of 1 pod at once (fault-scheduling is external-grace): d-0
infer/e   CardUnhealthy   <no record>        nothing: fault-scheduling is off or not written

CODE       WHAT MAKES IT WORSE
80E18005   3 times in 24h: ManuallySeparateNPU, until a person releases the chip
)");
  const Json json = Json::parse(Run({"-o", "json"}).out);
  EXPECT_EQ(json["jobs"][1], (Json{{"namespace", "infer"},
                                   {"podGroup", "b"},
                                   {"pods", 2},
                                   {"fault", "CardUnhealthy"},
                                   {"step", "evict"},
                                   {"of", {"b-1"}},
                                   {"why", "fault-scheduling is grace"},
                                   {"by", "plugin"},
                                   {"withinSeconds", 0},
                                   {"later", ""},
                                   {"pluginRestarted", nullptr}}));
}

// A job that the plugin is restarting waits for it, or for mindgate's takeover.
TEST_F(StatusFaults, ReportsWhoActsAndWhen) {
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", kDevices}});
  PutNode("n7", "True");
  PutJob("a", {{"fault-scheduling", "force"}}, {"n7"});
  Json group = server.Find(resources::kPodGroups, "infer", "a");
  group["spec"]["minMember"] = 2;
  server.Put(resources::kPodGroups, group);
  // In whole minutes as it is printed, for half a minute from now on.
  const Time restarted = SystemClock().WallNow() - std::chrono::seconds(12 * 60 + 30);
  const Json records = {{"infer/a",
                         {{"RescheduleRecords",
                           {{{"RescheduleTimeStamp", restarted.time_since_epoch().count()},
                             {"ReasonOfTask", {{{"PodName", "a-9"}}}}}}}}}};
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "mindx-dl"}, {"name", "job-reschedule-reason"}}},
              {"data", {{"recent-reschedule-records", records.dump()}}}});
  EXPECT_THAT(Run().out, ::testing::ContainsRegex(
                             "infer/a   CardUnhealthy   12m ago: a-9       MindCluster's plugin "
                             "deletes 1 of 1 pod in 7m[0-9]+s at the latest \\(fault-scheduling is "
                             "force; MindCluster's plugin has been restarting the job since .*Z "
                             "and examines it again then\\): a-0\n"));
  PutWatcher(server, "rescheduling: {mode: takeover, takeoverAfter: 20s}");
  EXPECT_EQ(Json::parse(Run({"-o", "json"}).out)["jobs"][0]["by"], "plugin")
      << "no watcher has the Lease";
  server.Put(
      resources::kLeases,
      {{"metadata", {{"namespace", "mindgate-system"}, {"name", "mindgate-watcher"}}},
       {"spec", {{"holderIdentity", "w"}, {"renewTime", FormatTime(SystemClock().WallNow())}}}});
  Json job = Json::parse(Run({"-o", "json"}).out)["jobs"][0];
  EXPECT_EQ(job["by"], "watcher");
  EXPECT_EQ(job["withinSeconds"], 20);
  EXPECT_EQ(job["pluginRestarted"],
            (Json{{"time", FormatTime(restarted)}, {"faultyPods", {"a-9"}}}));
}

// Of the watcher's Events those about faults.
TEST_F(StatusFaults, ReportsWhatTheWatcherDidOrWhyNot) {
  PutEvent("a", "NotRestarted", "fault-retry-times is used up");
  PutEvent("b", "InstanceGranted", "of scaling");
  PutEvent("c", "JobRestarted", "of somebody else", "example.com/other");
  const std::string out = Run().out;
  EXPECT_EQ(out.substr(out.find("\n\n") + 2),
            "AGE   OBJECT            MINDGATE       WHY\n"
            "15m   infer/Job train   NotRestarted   fault-retry-times is used up\n");
  Json decisions = Json::parse(Run({"-o", "json"}).out)["decisions"];
  ASSERT_EQ(decisions.size(), 1U);
  decisions[0].erase("time");
  EXPECT_EQ(decisions[0], (Json{{"namespace", "infer"},
                                {"object", "Job train"},
                                {"decision", "NotRestarted"},
                                {"why", "fault-retry-times is used up"}}));
}

TEST_F(StatusFaults, ReportsThatEventsCannotBeRead) {
  server.Forbid("list", "events");
  const auto reported = Run();
  EXPECT_EQ(reported.code, 0) << "the faults are known";
  EXPECT_NE(reported.out.find("What mindgate did is not known, as Events cannot be read: "),
            std::string::npos)
      << reported.out;
  EXPECT_EQ(Json::parse(Run({"-o", "json"}).out)["decisions"], nullptr);
}

TEST_F(StatusFaults, AsksTheNodesWhereClusterDIsAbsent) {
  PutReport("kube-system", "mindx-dl-deviceinfo-n6", "mx-consumer-cim",
            {{"ManuallySeparateNPU", "Ascend910-0"}});
  PutReport("mindx-dl", "mindx-dl-nodeinfo-n6", "mx-consumer-cim", {{"NodeInfo", "{"}});
  const auto reported = Run();
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(reported.out,
            "Reported by the nodes themselves, in 2 ConfigMaps: ClusterD reports nothing.\n"
            "NODE   PART          STATE                 CODES    SINCE       FAULTY PODS\n"
            "n6     Ascend910-0   ManuallySeparateNPU   <none>   <unknown>   <none>\n");
  EXPECT_TRUE(
      reported.err.starts_with("Warning: ConfigMap mindx-dl-nodeinfo-n6: NodeInfo is not JSON: "))
      << reported.err;
}

TEST_F(StatusFaults, AHealthyClusterAndOneWithoutMindCluster) {
  EXPECT_EQ(Run().out,
            "No fault reports found: there is no ConfigMap of ClusterD, Ascend Device Plugin or "
            "NodeD.\nNo faulty nodes and chips.\n");
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", ""}});
  EXPECT_EQ(Run().out,
            "No fault reports found: there is no ConfigMap of ClusterD, Ascend Device Plugin or "
            "NodeD.\nNo faulty nodes and chips.\n")
      << "an empty part says nothing";
  EXPECT_EQ(Run({"--fault-source", "clusterd"}).out,
            "No fault reports found: there is no ConfigMap of ClusterD.\nNo faulty nodes and "
            "chips.\n");
}

TEST_F(StatusFaults, ReadsTheReportsThatTheWatcherReads) {
  PutReport("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
            {{"cluster-info-device-0", kDevices}});
  PutReport("kube-system", "mindx-dl-deviceinfo-n6", "mx-consumer-cim",
            {{"ManuallySeparateNPU", "Ascend910-0"}});
  const std::string by_clusterd = Run().out;
  const std::string by_nodes =
      "Reported by the nodes themselves, in 1 ConfigMap: faultSource is nodes.\n"
      "NODE   PART          STATE                 CODES    SINCE       FAULTY PODS\n"
      "n6     Ascend910-0   ManuallySeparateNPU   <none>   <unknown>   <none>\n";
  EXPECT_TRUE(by_clusterd.starts_with("Reported by ClusterD, in 1 ConfigMap.\n")) << by_clusterd;
  EXPECT_EQ(Run({"--fault-source", "nodes"}).out, by_nodes);
  // As the running watcher's mindgate.yaml says.
  PutWatcher(server, "rescheduling: {faultSource: nodes}");
  EXPECT_EQ(Run().out, by_nodes);
  EXPECT_EQ(Run({"--fault-source", "clusterd"}).out, by_clusterd);
  EXPECT_EQ(Run({"--fault-source", "auto"}).out, by_clusterd);
  const auto misspelled = Run({"--fault-source", "node"});
  EXPECT_EQ(misspelled.code, 2);
  EXPECT_NE(
      misspelled.err.find("write \"auto\", \"clusterd\" or \"nodes\"; did you mean \"nodes\"?"),
      std::string::npos)
      << misspelled.err;
  const auto without = Cli({"status", "--fault-source", "nodes", "--server", server.url()});
  EXPECT_EQ(without.code, 2);
  EXPECT_EQ(without.err,
            "error: --fault-source says whose reports of faults are read\nhint: add --faults\n");
}

// Without Volcano nobody moves pods.
TEST(StatusFaultsWithoutVolcano, ShowsNoJobs) {
  FakeApiServer server;
  const auto reported = Cli({"status", "--faults", "--server", server.url()});
  EXPECT_EQ(reported.code, 0) << reported.err;
}

TEST_F(StatusFaults, ReportsWhatItMayNotRead) {
  server.Forbid("list", "nodes");
  const auto reported = Run();
  EXPECT_EQ(reported.code, 2);
  EXPECT_TRUE(reported.err.starts_with("error: faults cannot be read: ")) << reported.err;
}

TEST_F(StatusFaults, IsNotAboutServices) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"chat"}, {"-l", "a=b"}, {"-w"}}) {
    EXPECT_EQ(Run(more).code, 2);
  }
}

}  // namespace
}  // namespace mindgate::cli
