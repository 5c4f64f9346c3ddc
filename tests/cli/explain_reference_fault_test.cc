// `mindgate explain --fault` against the files that MindCluster ships.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using json::Json;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::testing::HasSubstr;
using ::testing::Not;

Json ShippedFile(const std::string& name) {
  return Json::parse(::mindgate::testing::ReadSource("faults/releases/26.1/" + name));
}

// Levels, the worst last, and the lists that hold their codes.
constexpr std::pair<const char*, const char*> kListsOfChips[] = {
    {"NotHandleFaultCodes", "NotHandleFault"}, {"SubHealthFaultCodes", "SubHealthFault"},
    {"RestartRequestCodes", "RestartRequest"}, {"RestartBusinessCodes", "RestartBusiness"},
    {"FreeRestartNPUCodes", "FreeRestartNPU"}, {"RestartNPUCodes", "RestartNPU"},
    {"PreSeparateNPUCodes", "PreSeparateNPU"}, {"SeparateNPUCodes", "SeparateNPU"}};
constexpr std::pair<const char*, const char*> kListsOfHardware[] = {
    {"NotHandleFaultCodes", "NotHandleFault"},
    {"SubHealthFaultCodes", "SubHealthFault"},
    {"RestartRequestFaultCodes", "RestartRequest"},
    {"PreSeparateFaultCodes", "PreSeparateNPU"},
    {"SeparateFaultCodes", "SeparateNPU"}};

struct ShippedCode {
  std::string source;
  std::string level;
  Json escalations = Json::array();
  Json relations = Json::array();
};
using ShippedCodes = std::map<std::string, ShippedCode>;

void AddLists(const Json& lists, const auto& names, const std::string& source,
              ShippedCodes& codes) {
  for (const auto& [list, level] : names) {
    if (!lists.contains(list)) continue;
    for (const Json& code : lists[list]) codes[code].source = source, codes[code].level = level;
  }
}

ShippedCodes CodesOfFiles() {
  ShippedCodes codes;
  AddLists(ShippedFile("faultCode.json"), kListsOfChips, "chip", codes);
  AddLists(ShippedFile("SwitchFaultCode.json"), kListsOfHardware, "switch", codes);
  AddLists(ShippedFile("NodeDConfiguration.json")["FaultTypeCode"], kListsOfHardware, "node",
           codes);
  AddLists(ShippedFile("publicFaultConfiguration.json")["publicFaultCode"], kListsOfChips,
           "public fault", codes);
  const Json customization = ShippedFile("faultCustomization.json");
  for (const Json& entry : customization["FaultDuration"]) {
    for (const Json& code : entry["EventId"]) {
      codes[code].escalations.push_back({{"when", "lasts"},
                                         {"seconds", entry["FaultTimeout"]},
                                         {"untilGoneForSeconds", entry["RecoverTimeout"]},
                                         {"level", entry["FaultHandling"]}});
    }
  }
  for (const Json& entry : customization["FaultFrequency"]) {
    for (const Json& code : entry["EventId"]) {
      codes[code].escalations.push_back(
          {{"when", "repeats"},
           {"times", entry["Times"]},
           {"withinSeconds", entry["TimeWindow"]},
           {"untilGoneForSeconds", entry.value("ReleaseTimeWindow", Json())},
           {"level", entry["FaultHandling"]}});
    }
  }
  std::map<std::string, Json> waits;
  for (const Json& entry : ShippedFile("faultDuration.json")) {
    waits[entry["FaultCode"]] = entry["TimeOutInterval"];
  }
  for (const Json& entry : ShippedFile("relationFaultCustomization.json")) {
    const Json relation = {{"trigger", entry["TriggerFault"]},
                           {"with", entry["RelationFaults"]},
                           {"withinSeconds", waits.at(entry["RelationFaults"][0])},
                           {"faultType", entry["FaultStrategy"]}};
    codes[entry["TriggerFault"]].relations.push_back(relation);
    for (const Json& code : entry["RelationFaults"]) codes[code].relations.push_back(relation);
  }
  return codes;
}

TEST(ExplainFault, ReportsOfEveryCodeWhatTheFilesState) {
  const ShippedCodes want = CodesOfFiles();
  EXPECT_EQ(want.size(), 802u + 30u + 59u + 30u);
  std::vector<std::string> line = {"explain", "-o", "json"};
  for (const auto& [code, of_files] : want) line.insert(line.end(), {"--fault", code});
  const CliResult reported = Cli(line);
  ASSERT_EQ(reported.code, 0) << reported.err;
  const Json faults = Json::parse(reported.out)["faults"];
  ASSERT_EQ(faults.size(), want.size());
  for (const Json& fault : faults) {
    const std::string code = fault["code"];
    ASSERT_TRUE(want.contains(code)) << code;
    const ShippedCode& of_files = want.at(code);
    EXPECT_EQ(fault["source"], of_files.source) << code;
    EXPECT_EQ(fault["level"], of_files.level) << code;
    EXPECT_EQ(fault["relations"], of_files.relations) << code;
    EXPECT_EQ(fault["release"], "26.1");
    ASSERT_EQ(fault["escalations"].size(), of_files.escalations.size()) << code;
    for (size_t i = 0; i < of_files.escalations.size(); ++i) {
      for (const auto& [key, value] : of_files.escalations[i].items()) {
        EXPECT_EQ(fault["escalations"][i][key], value) << code << " " << key;
      }
    }
    for (const char* key : {"meaning", "pods", "newPods", "node"}) {
      EXPECT_FALSE(fault[key].get<std::string>().empty()) << code << " " << key;
    }
  }
}

// What each level does, for every value of both labels.
TEST(ExplainFault, ReportsWhatEachLevelLeadsTo) {
  const struct {
    const char* code;
    const char* level;
    const char* pods;
    const char* new_pods;
    size_t scheduling;  // rows
    size_t strategies;
  } cases[] = {
      {"80E21007", "NotHandleFault", "not affected", "as before", 0, 0},
      {"80DE0207", "SubHealthFault", "subHealthyStrategy decides", "prefer other nodes", 4, 5},
      {"80C98008", "RestartRequest", "use the chip are faulty", "do not get the chip", 5, 1},
      {"8118043C", "PreSeparateNPU", "left alone", "do not get the chip", 0, 0},
      {"0000001D", "PreSeparateNPU", "left alone", "once no pod with NPUs runs there", 0, 0},
      {"2C000031", "SeparateNPU", "also those without NPUs", "not placed on the node", 5, 1},
      {"[0x08520003,na,npu,na]", "SeparateNPU", "also those without NPUs", "on the node", 5, 1},
      {"020001001", "SeparateNPU", "use the chip are faulty", "do not get the chip", 5, 1},
  };
  for (const auto& each : cases) {
    const CliResult reported = Cli({"explain", "--fault", each.code, "-o", "json"});
    const Json fault = Json::parse(reported.out)["faults"][0];
    EXPECT_EQ(fault["level"], each.level) << each.code;
    EXPECT_THAT(fault["pods"].get<std::string>(), HasSubstr(each.pods)) << each.code;
    EXPECT_THAT(fault["newPods"].get<std::string>(), HasSubstr(each.new_pods)) << each.code;
    const Json labels = fault["byLabel"];
    EXPECT_EQ(labels.value("fault-scheduling", Json::array()).size(), each.scheduling);
    EXPECT_EQ(labels.value("subHealthyStrategy", Json::array()).size(), each.strategies);
  }
}

TEST(ExplainFault, ReportsWhatMakesItWorse) {
  const CliResult link = Cli({"explain", "--fault", "81078603"});
  EXPECT_EQ(link.code, 0);
  EXPECT_THAT(link.out, HasSubstr("If it lasts 20s: PreSeparateNPU, until it has been gone for 1m. "
                                  "Pods that run are left alone."));
  EXPECT_THAT(link.out, HasSubstr("5 times in 24h: ManuallySeparateNPU, until it has been gone for "
                                  "48h. The pods that use the chip"));
  EXPECT_THAT(link.out, HasSubstr("They are then faulty"));
  EXPECT_THAT(link.out, HasSubstr("\n  force "));
  EXPECT_THAT(link.out, HasSubstr("\n  graceExit "));
  // Nothing of labels where nothing depends on them.
  const CliResult recorded = Cli({"explain", "--fault", "80E21007"});
  EXPECT_THAT(recorded.out, Not(HasSubstr("force")));
}

TEST(ExplainFault, PrintsWhatACodeLeadsTo) {
  const CliResult chip = Cli({"explain", "--fault", "80e18005"});
  EXPECT_EQ(chip.code, 0);
  EXPECT_EQ(chip.out,
            R"(80E18005  chip, level RestartNPU

The workload has to be stopped, so that the chip can be reset. The pods that use the chip are
faulty. New pods do not get the chip. The node keeps its other chips.

3 times in 24h: ManuallySeparateNPU, until a person releases the chip. The pods that use the chip
are faulty. New pods do not get the chip. The node keeps its other chips.

The job's label fault-scheduling decides about faulty pods, whatever its label subHealthyStrategy
says:

  force                           The pods in scope are deleted at once, with grace period 0.
  grace                           The pods in scope are evicted with their own grace period, and
                                  deleted by force after graceOverTime, 15 minutes by default, in
                                  the next session of the scheduler.
  external-force, external-grace  Nothing is deleted. Faulty pods get the annotation
                                  huawei.com/pod-status, which infer-operator acts on.
  off, or no label                Nothing happens: the pods stay on the faulty hardware.
  any other value                 The restart fails in every session of the scheduler: the job
                                  hangs.

The level is the one that MindCluster 26.1 ships
(component/ascend-device-plugin/build/faultCode.json); ConfigMap mindx-dl-fault-config in
kube-system may set another.
)");
}

TEST(ExplainFault, AnUnknownCode) {
  const CliResult unknown = Cli({"explain", "--fault", "81078604"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_EQ(
      unknown.err,
      "error: MindCluster 26.1 ships no level for fault code \"81078604\"\n"
      "hint: did you mean \"81078603\"? MindCluster treats unknown fault codes of chips above "
      "minor severity as SeparateNPU\n");
  EXPECT_EQ(Cli({"explain", "--fault", "80E18005", "MG001"}).code, 2);
}

}  // namespace
}  // namespace mindgate::cli
