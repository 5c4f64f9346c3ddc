#include "faults/reports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "faults/fault_store.h"
#include "faults/node_faults.h"
#include "json/decode.h"

// The ConfigMaps in which MindCluster reports faults, and what is odd about them.
namespace mindgate::faults {
namespace {

using json::Json;

Json ConfigMap(const std::string& name, const Json& data) {
  return {{"metadata", {{"name", name}}}, {"data", data}};
}

Report Read(const std::string& name, const Json& data) {
  const json::Document document(ConfigMap(name, data));
  const auto report = ReadReport(document.root());
  EXPECT_TRUE(report) << name;
  return report.value_or(Report{});
}

Report ReadCluster(const std::string& name, const std::string& text) {
  return Read(name, {{name, text}});
}

std::string Joined(const std::set<std::string, std::less<>>& chips) {
  return Join(std::vector<std::string>(chips.begin(), chips.end()), "+");
}

// "n7: unhealthy Ascend910-3; Ascend910-3 RestartNPU 80E18005 at 2026-01-01T00:00:00Z"
std::string Shown(const DeviceFaults& devices) {
  std::string text = "unhealthy " + Joined(devices.unhealthy) + ", network " +
                     Joined(devices.network_unhealthy) + ", recovering " +
                     Joined(devices.recovering);
  for (const ChipFault& fault : devices.faults) {
    text += "; " + fault.chip + " " + std::string(FaultLevelName(fault.level)) + " " +
            Join(fault.codes, "+") + (fault.since ? " at " + FormatTime(*fault.since) : "");
  }
  return text;
}

std::string Shown(const HardwareFaults& faults) {
  return std::string(NodeStatusName(faults.status)) + " " + Join(faults.codes, "+") +
         (faults.since ? " at " + FormatTime(*faults.since) : "");
}

constexpr const char* kDeviceInfo = R"({"DeviceInfo":{"DeviceList":{
   "huawei.com/Ascend910":"Ascend910-0,Ascend910-1,Ascend910-2",
   "huawei.com/Ascend910-NetworkUnhealthy":"",
   "huawei.com/Ascend910-Unhealthy":"Ascend910-3",
   "huawei.com/Ascend910-Recovering":"",
   "huawei.com/Ascend910-Fault":"[{\"fault_type\":\"CardUnhealthy\",\"npu_name\":\"Ascend910-3\",\"large_model_fault_level\":\"RestartNPU\",\"fault_level\":\"RestartNPU\",\"fault_handling\":\"RestartNPU\",\"fault_code\":\"80E18005\",\"fault_time_and_level_map\":{\"80E18005\":{\"fault_time\":1767225600000,\"fault_level\":\"RestartNPU\"}}}]"},
  "UpdateTime":1767225601},
 "SuperPodID":-2,"ServerIndex":-2,
 "CheckCode":"499cea00d2a573e1c5b0f2ad9411e821a864659c41646ee1f0137a0bfb2908d7"})";

TEST(FaultReports, OfTheDevicePlugin) {
  const Report report = Read("mindx-dl-deviceinfo-n7", {{"DeviceInfoCfg", kDeviceInfo}});
  ASSERT_EQ(report.nodes.size(), 1u);
  EXPECT_EQ(report.nodes[0].node, "n7");
  EXPECT_EQ(Shown(*report.nodes[0].devices),
            "unhealthy Ascend910-3, network , recovering ; Ascend910-3 RestartNPU 80E18005 at "
            "2026-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(*report.nodes[0].devices->updated), "2026-01-01T00:00:01Z");
  EXPECT_FALSE(report.nodes[0].switches);
  EXPECT_TRUE(report.problems.empty());
}

// Seconds in UpdateTime, milliseconds in fault_time: taken for one another, a fault would
// be of 1970 or of the year 57971.
// Reports name physical chips only.
TEST(FaultReports, APartOfAChipIsOfThatChip) {
  const std::pair<const char*, const char*> cases[] = {
      {"Ascend910-3", "Ascend910-3"},
      {"Ascend310P-1c-400-1_0", "Ascend310P-1"},
      {"Ascend310P-2c.1cpu-100-12_0", "Ascend310P-12"},
      {"Ascend310P-1c-400-1", "Ascend310P-1c-400-1"},
      {"Ascend310P-1c-400", "Ascend310P-1c-400"},
      {"Ascend910", "Ascend910"},
      {"", ""},
      {"-", "-"},
      {"---_", "-"},
  };
  for (const auto& [name, want] : cases) EXPECT_EQ(PhysicalChip(name), want) << name;
  using Chips = std::set<std::string, std::less<>>;
  EXPECT_EQ(PhysicalChips(" Ascend310P-1c-400-1_0, Ascend310P-1c-401-1_0,,Ascend310P-2"),
            (Chips{"Ascend310P-1", "Ascend310P-2"}));
}

TEST(FaultReports, TimesHaveTheUnitOfTheirField) {
  const Report report =
      ReadCluster("cluster-info-device-0",
                  R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/Ascend910-Fault":
          "[{\"npu_name\":\"\",\"fault_level\":\"SubHealthFault\",\"fault_code\":\"a, b\",\"fault_time_and_level_map\":{\"a\":{\"fault_time\":1767225700000},\"b\":{\"fault_time\":1767225600999}}}]"},
          "UpdateTime":-1}})");
  EXPECT_EQ(Shown(*report.nodes[0].devices),
            "unhealthy , network , recovering ;  SubHealthFault a+b at 2026-01-01T00:00:00Z");
  EXPECT_EQ(report.nodes[0].devices->updated, std::nullopt);
}

TEST(FaultReports, OfTheDevicePluginByItsOtherKeys) {
  // A chip that a person took away, and switches, whose faults are texts inside a list.
  const Report report = Read(
      "mindx-dl-deviceinfo-n7",
      {{"ManuallySeparateNPU", "Ascend910-5, nonsense,Ascend910-"},
       {"SwitchInfoCfg",
        R"({"FaultCode":["{\"AssembledFaultCode\":\"[0x08520003,na,npu,na]\",\"AlarmRaisedTime\":1767225600000}","{"],)"
        R"("FaultLevel":"Separate","UpdateTime":1767225600,"NodeStatus":"UnHealthy"})"}});
  EXPECT_EQ(Shown(*report.nodes[0].devices),
            "unhealthy Ascend910-5, network , recovering ; Ascend910-5 ManuallySeparateNPU ");
  EXPECT_EQ(Shown(*report.nodes[0].switches),
            "UnHealthy [0x08520003,na,npu,na] at 2026-01-01T00:00:00Z");
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_TRUE(report.problems[0].starts_with(
      "ConfigMap mindx-dl-deviceinfo-n7: an element of FaultCode is not JSON: "))
      << report.problems[0];
}

TEST(FaultReports, OfNodeD) {
  const Report report = Read(
      "mindx-dl-nodeinfo-n7",
      {{"updateTime", "2026-01-01T00:00:00Z"},
       {"NodeInfo",
        R"({"NodeInfo":{"FaultDevList":[{"DeviceType":"Memory","DeviceId":2,"FaultCode":["0100001D"],"FaultLevel":"PreSeparateFault"}],"NodeStatus":"PreSeparate"},"CheckCode":"7ade435e7a3bab4e92e002affd0b7679de67d8f95034583a9bff615743736438"})"}});
  EXPECT_EQ(report.nodes[0].node, "n7");
  EXPECT_EQ(Shown(*report.nodes[0].machine), "PreSeparate 0100001D");
  EXPECT_TRUE(report.problems.empty());
}

TEST(FaultReports, OfClusterD) {
  const Report devices =
      ReadCluster("cluster-info-device-12",
                  R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-0",
          "huawei.com/Ascend910-Unhealthy":"Ascend910-3","huawei.com/Ascend910-NetworkUnhealthy":"Ascend910-4,Ascend910-5",
          "huawei.com/Ascend910-Recovering":"Ascend910-6","huawei.com/Ascend910-Fault":"[]"},
          "UpdateTime":1767225601,"CmName":"mindx-dl-deviceinfo-n7","SuperPodID":0},
          "mindx-dl-deviceinfo-n8":{"DeviceList":{"huawei.com/npu-Unhealthy":""},"UpdateTime":1767225601}})");
  ASSERT_EQ(devices.nodes.size(), 2u);
  EXPECT_EQ(Shown(*devices.nodes[0].devices),
            "unhealthy Ascend910-3, network Ascend910-4+Ascend910-5, recovering Ascend910-6");
  EXPECT_EQ(Shown(*devices.nodes[1].devices), "unhealthy , network , recovering ");
  const Report nodes = ReadCluster(
      "cluster-info-node-cm",
      R"({"mindx-dl-nodeinfo-n7":{"FaultDevList":[{"DeviceType":"CPU","DeviceId":1,"FaultCode":["2C000031"],"FaultLevel":"SeparateFault"}],
          "NodeStatus":"UnHealthy","CmName":"mindx-dl-nodeinfo-n7","UpdateTime":1767225600000}})");
  EXPECT_EQ(Shown(*nodes.nodes[0].machine), "UnHealthy 2C000031");
  const Report switches = ReadCluster(
      "cluster-info-switch-0",
      R"({"mindx-dl-switchinfo-n7":{"FaultInfo":[{"EventType":0,"AssembledFaultCode":"[0x08520003,na,L1,na]","AlarmRaisedTime":1767225600000}],
          "FaultLevel":"SubHealthFault","UpdateTime":1767225600,"NodeStatus":"SubHealthy"}})");
  EXPECT_EQ(Shown(*switches.nodes[0].switches),
            "SubHealthy [0x08520003,na,L1,na] at 2026-01-01T00:00:00Z");
  FaultsByNode merged;
  for (const Report* report : {&devices, &nodes, &switches}) Merge(*report, merged);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_TRUE(merged.at("n7").IsUnhealthy());
  EXPECT_FALSE(merged.at("n7").IsClean());
  EXPECT_TRUE(merged.at("n8").IsClean());
}

// Parts that are no longer needed stay with "", as cluster-info-node-cm does without
// entries; NodeD deletes its ConfigMap when all is well.
TEST(FaultReports, AnEmptyPartReportsNothing) {
  for (const char* name :
       {"cluster-info-device-1", "cluster-info-switch-0", "cluster-info-node-cm"}) {
    EXPECT_EQ(ReadCluster(name, ""), Report{}) << name;
    EXPECT_EQ(Read(name, Json::object()), Report{}) << name;
  }
  const Report report = Read("mindx-dl-nodeinfo-n7", Json::object());
  EXPECT_EQ(report, (Report{{{.node = "n7"}}, {}}));
}

TEST(FaultReports, OtherConfigMapsAreNone) {
  // The names of some of the documents.
  for (const char* name :
       {"", "cluster-info-node", "cluster-info", "mindx-dl-deviceinfo", "chat"}) {
    const json::Document document(ConfigMap(name, {{name, "{}"}}));
    EXPECT_FALSE(ReadReport(document.root())) << name;
  }
  EXPECT_FALSE(ReadReport(json::Document(Json::array()).root()));
}

// What is not understood is reported, and makes nothing faulty.
TEST(FaultReports, WhatIsNotUnderstoodIsReported) {
  struct Case {
    std::string text;
    std::string problem;
  };
  const Case cases[] = {
      {"[]", "it is not a map of nodes"},
      {R"({"n7":{}})", R"(key "n7" does not begin with mindx-dl-deviceinfo-)"},
      {R"({"mindx-dl-deviceinfo-n\u001b[2K":{}})", R"("n\x1b[2K" is not the name of a node)"},
      {R"({"mindx-dl-deviceinfo-n7":{}})", "there is no DeviceList"},
      {R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/npu-Unhealthy":3}}})",
       R"("huawei.com/npu-Unhealthy" is not a text)"},
      {R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/npu-Fault":"{}"}}})",
       "the list of faults is not a list"},
      {R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/npu-Fault":"[{\"fault_level\":\"L9\"}]"}}})",
       R"(fault_level "L9" is not a level)"},
  };
  for (const Case& c : cases) {
    const Report report = ReadCluster("cluster-info-device-0", c.text);
    EXPECT_EQ(report.problems,
              std::vector<std::string>{"ConfigMap cluster-info-device-0: " + c.problem})
        << c.text;
    for (const NodeReport& node : report.nodes) {
      EXPECT_TRUE(node.devices->unhealthy.empty()) << c.text;
    }
  }
  const Report status =
      ReadCluster("cluster-info-node-cm", R"({"mindx-dl-nodeinfo-n7":{"NodeStatus":"Broken"}})");
  EXPECT_EQ(status.nodes[0].machine->status, NodeStatus::kHealthy);
  EXPECT_EQ(status.problems,
            std::vector<std::string>{"ConfigMap cluster-info-node-cm: NodeStatus \"Broken\" is not "
                                     "a status; it counts as Healthy"});
  const std::string large(kMaxReport + 1, ' ');
  EXPECT_EQ(ReadCluster("cluster-info-node-cm", large).problems,
            std::vector<std::string>{"ConfigMap cluster-info-node-cm: cluster-info-node-cm has " +
                                     std::to_string(kMaxReport + 1) +
                                     " bytes, more than any component writes"});
}

// "UnHealthy" of NodeD and switches, "Unhealthy" elsewhere.
TEST(FaultReports, UnhealthyIsReadInBothSpellings) {
  for (const char* status : {"UnHealthy", "Unhealthy"}) {
    const Report report =
        ReadCluster("cluster-info-node-cm",
                    R"({"mindx-dl-nodeinfo-n":{"NodeStatus":")" + std::string(status) + R"("}})");
    EXPECT_EQ(report.nodes[0].machine->status, NodeStatus::kUnhealthy);
  }
}

// A code that is not right is reported, and what it comes with counts: upstream's readers reject
// it, and broken hardware would pass for healthy here.
TEST(FaultReports, AMemberIsTakenAsItIsWritten) {
  struct Case {
    std::string_view object;
    std::string_view expected;  // of the member "a"
  };
  const Case cases[] = {
      {R"({"a": 1})", "1"},
      {R"( {"b":[1,"}"] , "a" : {"c": [ ]} })", R"({"c": [ ]})"},
      {R"({"b": {"a": 1}, "a": "x,\"y"})", R"("x,\"y")"},
      {R"({"b": 1})", ""},
      {R"({"b": {"a": 1}})", ""},
      {"{}", ""},
      {"", ""},
      {R"(["a"])", ""},
      {R"({"a" 1})", ""},
      {R"({a: 1})", ""},
      {R"({"a": {"c": [1})", ""},
      {R"({"a)", ""},
      {R"({"b": 1 "a": 1})", ""},
      {R"({"b": 1, )", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(TextOfMember(c.object, "a"), c.expected) << c.object;
}

TEST(FaultReports, AWrongCheckCodeIsReportedAndTheReportCounts) {
  std::string text = kDeviceInfo;
  text.replace(text.find("Ascend910-3"), 11, "Ascend910-4");
  const Report report = Read("mindx-dl-deviceinfo-n7", {{"DeviceInfoCfg", text}});
  EXPECT_EQ(report.nodes[0].devices->unhealthy.size(), 1u);
  EXPECT_EQ(report.problems,
            std::vector<std::string>{
                "ConfigMap mindx-dl-deviceinfo-n7: CheckCode is not the SHA-256 of DeviceInfo, so "
                "that MindCluster's components reject it: somebody changed it by hand, or it is of "
                "another version. What it reports counts here all the same"});
  // Without a code there is nothing to be wrong.
  EXPECT_TRUE(
      Read("mindx-dl-nodeinfo-n7", {{"NodeInfo", R"({"NodeInfo":{"NodeStatus":"Healthy"}})"}})
          .problems.empty());
}

// --- traps ---------------------------------------------------------------------------------------

// The bare key lists chips that are free: a chip that is missing there is in use, and not faulty.
TEST(FaultTraps, T40AChipThatIsNotInTheFreeListIsNotFaulty) {
  const Report report = ReadCluster(
      "cluster-info-device-0",
      R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-1","huawei.com/Ascend910-Unhealthy":""}}})");
  EXPECT_EQ(Shown(*report.nodes[0].devices), "unhealthy , network , recovering ");
}

// A node is in the part that it moved to and in the one that it left: the newer one counts, also
// when it says that all is well.
TEST(FaultTraps, T41OfTwoPartsTheNewerOneCountsWhateverItsName) {
  const auto part = [](int number, const std::string& unhealthy, int time) {
    return ReadCluster(
        "cluster-info-device-" + std::to_string(number),
        R"({"mindx-dl-deviceinfo-n7":{"DeviceList":{"huawei.com/Ascend910-Unhealthy":")" +
            unhealthy + R"("},"UpdateTime":)" + std::to_string(time) + "}}");
  };
  struct Case {
    Report first;
    Report second;
    bool clean;
  };
  const Case cases[] = {
      {part(0, "Ascend910-3", 1767225600), part(1, "", 1767225601), true},
      {part(0, "", 1767225601), part(1, "Ascend910-3", 1767225600), true},
      {part(0, "Ascend910-3", 1767225601), part(1, "", 1767225600), false},
  };
  for (const Case& c : cases) {
    FaultsByNode merged;
    Merge(c.first, merged);
    Merge(c.second, merged);
    EXPECT_EQ(merged.at("n7").IsClean(), c.clean);
  }
}

// FaultInfo of ClusterD is a list of objects, FaultCode of the device plugin one of texts; neither
// reads the other's key.
TEST(FaultTraps, T42SwitchFaultsAreObjectsOrTextsByTheirKey) {
  const Report both = ReadCluster(
      "cluster-info-switch-0",
      R"({"mindx-dl-switchinfo-n7":{"FaultInfo":[{"AssembledFaultCode":"a"}],"FaultCode":["{\"AssembledFaultCode\":\"b\"}"],"NodeStatus":"UnHealthy"}})");
  EXPECT_EQ(Shown(*both.nodes[0].switches), "UnHealthy a+b");
  EXPECT_TRUE(both.problems.empty());
}

// global-ranktable is a message, whatever the documents call it, and nobody reads the DPUs'
// reports.
TEST(FaultTraps, T43AndT44RankTablesAndDpusAreNoReports) {
  for (const char* name : {"global-ranktable", "rings-config-p0", "dpuinfo-n7", "job-summary-p0"}) {
    const json::Document document(ConfigMap(
        name,
        {{"DpuInfoCfg",
          R"({"DPUInfo":{"DPUList":[{"FaultList":[{"FaultCode":"21000024","FaultLevel":"SeparateDPU"}]}]}})"}}));
    EXPECT_FALSE(ReadReport(document.root())) << name;
  }
}

// --- public faults -------------------------------------------------------------------------------

Report ReadPublic(const Json& faults) {
  Json config_map = ConfigMap("ccae", {{"PublicFault", Json({{"faults", faults}}).dump()}});
  config_map["metadata"]["namespace"] = "mindx-dl";
  return ReadPublicReport(json::Document(config_map).root());
}

Json PublicFaultOf(const std::string& code, const std::string& assertion,
                   const Json& devices = {0, 1}) {
  return {{"faultId", "f-0000001"}, {"faultType", "Node"},
          {"faultCode", code},      {"faultTime", 1767225600000},
          {"assertion", assertion}, {"influence", {{{"nodeName", "n7"}, {"deviceIds", devices}}}}};
}

// By the level that ClusterD is shipped with for the code, as it adds them to its own reports.
TEST(PublicFaults, CountByTheLevelOfTheirCode) {
  struct Case {
    const char* code;
    const char* shown;
  };
  const Case cases[] = {
      {"220001001",
       "unhealthy Ascend910-0+Ascend910-1, network , recovering ; Ascend910-0 SeparateNPU "
       "220001001 "
       "at 2026-01-01T00:00:00Z; Ascend910-1 SeparateNPU 220001001 at 2026-01-01T00:00:00Z"},
      {"010001001",
       "unhealthy , network , recovering ; Ascend910-0 SubHealthFault 010001001 at "
       "2026-01-01T00:00:00Z; Ascend910-1 SubHealthFault 010001001 at 2026-01-01T00:00:00Z"},
      {"200001006",
       "unhealthy , network , recovering ; Ascend910-0 NotHandleFault 200001006 at "
       "2026-01-01T00:00:00Z; Ascend910-1 NotHandleFault 200001006 at 2026-01-01T00:00:00Z"},
  };
  for (const Case& c : cases) {
    const Report report = ReadPublic(Json::array({PublicFaultOf(c.code, "occur")}));
    ASSERT_EQ(report.nodes.size(), 1u) << c.code;
    DeviceFaults devices;
    for (const PublicFault& fault : report.nodes[0].added)
      AddPublicFault(fault, "Ascend910", devices);
    EXPECT_EQ(Shown(devices), c.shown) << c.code;
    EXPECT_TRUE(report.problems.empty());
  }
}

TEST(PublicFaults, WhatIsOverOrNotUnderstoodIsNone) {
  struct Case {
    Json fault;
    std::string problem;  // empty: none
  };
  Json nowhere = PublicFaultOf("220001001", "occur");
  nowhere["influence"] = {
      {{"nodeName", ""}, {"nodeSN", std::string(129, '2')}, {"deviceIds", {0}}}};
  Json unnamed = PublicFaultOf("220001001", "occur");
  unnamed["faultId"] = "f 00000001";
  const Case cases[] = {
      {PublicFaultOf("220001001", "once"), ""},
      {PublicFaultOf("220001001", "Occur"), R"(assertion "Occur" is not occur, recover or once)"},
      {PublicFaultOf("80E18005", "occur"),
       R"(faultCode "80E18005" is not one that ClusterD of MindCluster 26.1 is shipped with)"},
      {PublicFaultOf("220001001", "occur", {32}),
       R"(deviceIds of node "n7" are not numbers from 0 to 31)"},
      {PublicFaultOf("220001001", "occur", Json::array()), R"(node "n7" has no deviceIds)"},
      {nowhere,
       R"(an influence of the fault "/f-0000001" names no node; write nodeName, or nodeSN)"},
      {unnamed, R"(faultId "f 00000001" is not 8 to 128 letters, digits and characters of -_.)"},
  };
  for (const Case& c : cases) {
    const Report report = ReadPublic(Json::array({c.fault}));
    EXPECT_TRUE(report.nodes.empty()) << c.fault;
    EXPECT_EQ(report.problems,
              c.problem.empty() ? std::vector<std::string>{}
                                : std::vector<std::string>{"ConfigMap mindx-dl/ccae: " + c.problem})
        << c.fault;
  }
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back(PublicFaultOf("220001001", "occur"));
  EXPECT_EQ(ReadPublic(many).nodes[0].added.size(), 100u);
}

// ClusterD finds the node of a serial number, and takes the name where both are written.
TEST(PublicFaults, NameNodesBySerialNumberToo) {
  Json fault = PublicFaultOf("220001001", "occur");
  fault["influence"] = {{{"nodeSN", "2102312"}, {"deviceIds", {0}}},
                        {{"nodeName", "n7"}, {"nodeSN", "2102313"}, {"deviceIds", {1}}}};
  Json over = PublicFaultOf("220001001", "recover");
  over.erase("faultCode");  // what recovers is known by its id
  over["influence"] = {{{"nodeSN", "2102312"}}};
  const Report report = ReadPublic({fault, over});
  const std::string id = "/f-0000001";
  const PublicFault occurs{.node = KeyOfSerial("2102312"),
                           .id = id,
                           .devices = {0},
                           .code = "220001001",
                           .level = FaultLevel::kSeparate,
                           .since = Time(std::chrono::seconds(1767225600))};
  PublicFault named = occurs;
  named.node = "n7";
  named.devices = {1};
  EXPECT_EQ(report.problems, std::vector<std::string>());
  EXPECT_EQ(report.nodes,
            (std::vector<NodeReport>{
                {.node = KeyOfSerial("2102312"),
                 .added = {occurs, {.node = KeyOfSerial("2102312"), .id = id, .recovered = true}}},
                {.node = "n7", .added = {named}}}));
}

// NodeD deletes its ConfigMap when all is well: that it is absent does not mean that nothing is
// known of the node.
TEST(FaultTraps, T37ANodeWithoutAConfigMapOfNodeDIsHealthy) {
  const json::Document config_map(ConfigMap(
      "mindx-dl-nodeinfo-n7", {{"NodeInfo", R"({"NodeInfo":{"NodeStatus":"UnHealthy"}})"}}));
  const auto reported = Summarize(config_map.root(), Writer::kNodes);
  ASSERT_TRUE(reported);
  FaultStore all;
  EXPECT_EQ(all.Put(Writer::kNodes, "nodeinfo", &*reported), std::set<std::string>{"n7"});
  EXPECT_TRUE(all.Merged("n7", {}).IsUnhealthy());
  EXPECT_EQ(all.Put(Writer::kNodes, "nodeinfo", nullptr), std::set<std::string>{"n7"});
  EXPECT_EQ(all.Merged("n7", {}), NodeFaults());
}

}  // namespace
}  // namespace mindgate::faults
