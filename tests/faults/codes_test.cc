#include "faults/codes.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/decode.h"

namespace mindgate::faults {
namespace {

using json::Json;

std::string EffectName(Effect effect) {
  switch (effect) {
    case Effect::kNone:
      return "none";
    case Effect::kNoNewPods:
      return "no new pods";
    case Effect::kSubHealth:
      return "sub-health";
    case Effect::kChip:
      return "chip";
    case Effect::kNode:
      return "node";
  }
  return "";
}

std::string Shown(const FaultTable& table, std::string_view text) {
  const FaultCode* code = table.Find(text);
  if (code == nullptr) return "unknown";
  return code->code + " " + std::string(FaultLevelName(code->level)) + ": " +
         EffectName(EffectOf(code->code, code->source, code->level));
}

TEST(FaultCodes, HaveTheLevelsThatMindClusterShips) {
  const std::pair<const char*, const char*> cases[] = {
      {"80E18005", "80E18005 RestartNPU: chip"},
      {"80c98000", "80C98000 RestartRequest: chip"},
      {"80E18402", "80E18402 SeparateNPU: chip"},
      {"8C204E00", "8C204E00 RestartBusiness: chip"},
      {"8C0E4E00", "8C0E4E00 FreeRestartNPU: chip"},
      {"81078605", "81078605 SubHealthFault: sub-health"},
      {"80E21007", "80E21007 NotHandleFault: none"},
      {"8F19A000", "8F19A000 PreSeparateNPU: no new pods"},
      {"81B38010", "81B38010 NotHandleFault: none"},
      {"816F8002", "816F8002 RestartNPU: chip"},
      // Of a link.
      {"81078603", "81078603 NotHandleFault: none"},
      {"110000002", "110000002 SubHealthFault: sub-health"},
      // NodeD's one code that takes a node away, and those that only keep new pods away.
      {"2C000031", "2C000031 SeparateNPU: node"},
      {"0100001D", "unknown"},
      {"0000001D", "0000001D PreSeparateNPU: no new pods"},
      {"[0x08520003,na,npu,na]", "[0x08520003,na,npu,na] SeparateNPU: node"},
      {"[0X08520003,NA,l2,NA]", "[0x08520003,na,L2,na] NotHandleFault: none"},
      {"[0x00f1fef5,155914,npu,na]", "[0x00f1fef5,155914,npu,na] RestartRequest: node"},
      {"220001001", "220001001 SeparateNPU: chip"},
      {"020001001", "020001001 SeparateNPU: chip"},
      {"110001022", "110001022 PreSeparateNPU: no new pods"},
      {"010001001", "010001001 SubHealthFault: sub-health"},
      {"", "unknown"},
      {"80E1800", "unknown"},
  };
  for (const auto& [code, want] : cases) EXPECT_EQ(Shown(FaultTable::Shipped(), code), want);
}

// Listed under RestartBusinessCodes and SeparateNPUCodes of one file.
TEST(FaultCodes, AreOfTheWorseLevelWhenAFileListsThemTwice) {
  EXPECT_EQ(Shown(FaultTable::Shipped(), "A2301001"), "A2301001 SeparateNPU: chip");
}

TEST(FaultCodes, NoCodeIsOfTwoSources) {
  std::map<std::string, std::set<CodeSource>> sources;
  for (const FaultCode& code : FaultTable::Shipped().codes()) {
    sources[code.code].insert(code.source);
  }
  for (const auto& [code, of] : sources) EXPECT_EQ(of.size(), 1u) << code;
  EXPECT_EQ(sources.size(), 802u + 30u + 59u + 30u);
}

TEST(FaultCodes, NothingIsWrongWithWhatMindClusterShips) {
  for (const FaultFiles& files : FaultReleases()) {
    TextProblems problems;
    EXPECT_TRUE(ReadCodeLevels(files.chips, CodeSource::kChip, problems));
    EXPECT_TRUE(ReadCodeLevels(files.switches, CodeSource::kSwitch, problems));
    EXPECT_TRUE(ReadCodeLevels(files.machines, CodeSource::kNode, problems));
    EXPECT_TRUE(ReadCodeLevels(files.public_faults, CodeSource::kPublic, problems));
    EXPECT_TRUE(ReadCustomization(files.customization, problems));
    EXPECT_TRUE(ReadRelations(files.relations, files.waits, problems));
    std::vector<std::string> described;
    problems.AppendTo(described, "");
    EXPECT_EQ(described, std::vector<std::string>()) << files.release;
  }
}

TEST(FaultCodes, ReportWhatMakesThemWorse) {
  const auto described = [](const char* code) {
    return Join(EscalationsOf(*FaultTable::Shipped().Find(code)), "\n");
  };
  EXPECT_EQ(described("80E18005"),
            "3 times in 24h: ManuallySeparateNPU, until a person releases the chip");
  EXPECT_EQ(described("8C1F8609"),
            "81078603 and 8C1F8609 in one job within 5m: ClusterD sets the label fault-type: "
            "SubHealth on the job's pods on nodes with 81078603");
  const std::string link = described("81078603");
  EXPECT_TRUE(
      link.starts_with("if it lasts 20s: PreSeparateNPU, until it has been gone for 1m\n"
                       "5 times in 24h: ManuallySeparateNPU, until it has been gone for "
                       "48h\n81078603 and 8C1F8609 in one job"))
      << link;
  EXPECT_EQ(FaultTable::Shipped().Find("81078603")->relations.size(), 4u);
  EXPECT_EQ(described("80E18402"), "");
  EXPECT_EQ(FaultLevelName(LevelIfItStays(*FaultTable::Shipped().Find("81078603"))),
            "PreSeparateNPU");
  EXPECT_EQ(FaultLevelName(LevelIfItStays(*FaultTable::Shipped().Find("80E18005"))), "RestartNPU");
}

TEST(FaultCodes, AChipThatIsTakenAwayForItsLinkIsFaulty) {
  EXPECT_EQ(EffectOf("81078603", CodeSource::kChip, FaultLevel::kManuallySeparate), Effect::kChip);
  EXPECT_EQ(EffectOf("81078603", CodeSource::kChip, FaultLevel::kSeparate), Effect::kNoNewPods);
}

// --- of a cluster --------------------------------------------------------------------------------

struct OfCluster {
  FaultTable table;
  std::vector<std::string> problems;
};

OfCluster Read(const Json& data) {
  const json::Document document(
      Json{{"metadata", {{"namespace", "kube-system"}, {"name", "mindx-dl-fault-config"}}},
           {"data", data}});
  std::vector<std::string> problems;
  FaultTable table = FaultTable::OfCluster(document.root(), problems);
  return {std::move(table), std::move(problems)};
}

TEST(FaultCodesOfACluster, ReplaceAFileAsAWhole) {
  const OfCluster read =
      Read({{"faultCode.json",
             R"({"restartbusinesscodes":["80e18005"],"SeparateNPUCodes":["99999999","80E18006"],
            "NotHandleFaultCodes":["80E18006","81078603"]})"},
            {"SwitchFaultCode.json", R"({"ResetFaultCodes":["[0x08520003,na,L2,na]"]})"},
            {"faultCustomization.json",
             R"({"FaultFrequency":[
             {"EventId":["80E18005"],"TimeWindow":3600,"Times":2,"FaultHandling":"SeparateNPU",
              "ReleaseTimeWindow":600},
             {"EventId":["80e18005"],"TimeWindow":60,"Times":9,
              "FaultHandling":"ManuallySeparateNPU"}],
            "FaultDuration":[{"EventId":["80E18005"],"FaultTimeout":0,"RecoverTimeout":0,
              "FaultHandling":"RestartNPU"}]})"},
            {"PollInterval", "300"}});
  EXPECT_EQ(read.problems, std::vector<std::string>());
  EXPECT_EQ(Shown(read.table, "80E18005"), "80e18005 RestartBusiness: chip");
  EXPECT_EQ(Shown(read.table, "80E18006"), "80E18006 SeparateNPU: chip");
  EXPECT_EQ(Shown(read.table, "99999999"), "99999999 SeparateNPU: chip");
  EXPECT_EQ(Shown(read.table, "80E18402"), "unknown");
  EXPECT_EQ(Shown(read.table, "[0x08520003,na,L2,na]"), "[0x08520003,na,L2,na] SeparateNPU: node");
  EXPECT_EQ(Shown(read.table, "2C000031"), "2C000031 SeparateNPU: node");
  EXPECT_EQ(Shown(read.table, "220001001"), "220001001 SeparateNPU: chip");
  EXPECT_EQ(
      EscalationsOf(*read.table.Find("80E18005")),
      (std::vector<std::string>{"if it lasts 0s: RestartNPU, until it is gone",
                                "2 times in 1h: SeparateNPU, until it has been gone for 10m"}));
  // The customization says nothing of it any more, ClusterD does.
  EXPECT_FALSE(read.table.Find("81078603")->lasts);
  EXPECT_FALSE(read.table.Find("81078603")->relations.empty());
  EXPECT_TRUE(read.table.IsOfCluster(CodeSource::kChip));
  EXPECT_TRUE(read.table.IsOfCluster(CodeSource::kSwitch));
  EXPECT_FALSE(read.table.IsOfCluster(CodeSource::kNode));
}

TEST(FaultCodesOfACluster, AreTheShippedOnesWhereAKeyIsMissing) {
  const OfCluster read = Read(Json::object());
  EXPECT_EQ(read.problems, std::vector<std::string>());
  EXPECT_EQ(read.table.codes().size(), FaultTable::Shipped().codes().size());
  EXPECT_EQ(EscalationsOf(*read.table.Find("81078603")),
            EscalationsOf(*FaultTable::Shipped().Find("81078603")));
  EXPECT_FALSE(read.table.IsOfCluster(CodeSource::kChip));
}

// A text that Go would refuse counts as none; an entry that the device plugin would leave out is
// left out.
TEST(FaultCodesOfACluster, ReportWhatIsWrongWithThem) {
  const std::string where = "ConfigMap kube-system/mindx-dl-fault-config: ";
  const std::string instead =
      "the device plugin uses the file that it ships instead, and so does mindgate";
  const std::string in_a_list = R"({"FaultFrequency":[)";
  const auto frequency = [](const std::string& more) {
    return R"({"FaultFrequency":[{"EventId":["80E18005"],"FaultHandling":"ManuallySeparateNPU",)" +
           more + "}]}";
  };
  const auto duration = [](const std::string& more) {
    return R"({"FaultDuration":[{"EventId":["80E18005"],)" + more + "}]}";
  };
  const struct {
    const char* key;
    Json text;
    std::vector<std::string> problems;  // the beginning of each
    bool shipped;                       // the levels or escalations are the shipped ones
  } cases[] = {
      {"faultCode.json", 5, {"it is not a text"}, true},
      {"faultCode.json", "{", {"it is not JSON: ", instead}, true},
      {"faultCode.json", "", {"it is not JSON: ", instead}, true},
      {"faultCode.json", "[]", {"it is not an object with lists of codes", instead}, true},
      {"faultCode.json",
       R"({"RestartNPUCodes":"80E18005"})",
       {"RestartNPUCodes is not a list of texts", instead},
       true},
      {"faultCode.json",
       R"({"RestartNPUCodes":[80]})",
       {"RestartNPUCodes is not a list of texts", instead},
       true},
      {"faultCode.json",
       R"({"RestartNpusCodes":["80E18005"]})",
       {R"("RestartNpusCodes" is not a list of a level, so its codes have no level; did you mean )"
        R"("RestartNPUCodes"?)"},
       false},
      {"faultCode.json",
       R"({"RestartNPUCodes":["80E1800X","","0x80E18005"],"x":["80E18005"]})",
       {R"(RestartNPUCodes: "80E1800X" is not a code: write up to 16 hex digits)",
        R"(RestartNPUCodes: "" is not a code)", R"(RestartNPUCodes: "0x80E18005" is not a code)",
        R"("x" is not a list of a level, so its codes have no level; write )"},
       false},
      {"faultCode.json",
       R"({"RestartNPUCodes":["81078603"]})",
       {"81078603 is a fault of a link and cannot have the level RestartNPU; the device plugin "
        "makes it NotHandleFault"},
       false},
      {"SwitchFaultCode.json",
       R"({"SeparateFaultCodes":["0x08520003,na,L2,na","[1,2,3]"]})",
       {R"(SeparateFaultCodes: "0x08520003,na,L2,na" is not a code of a switch: write it as in )"
        "[0x08520003,na,L2,na]",
        R"(SeparateFaultCodes: "[1,2,3]" is not a code of a switch)"},
       true},
      {"faultCustomization.json", "null", {"it is not an object", instead}, true},
      {"faultCustomization.json",
       R"({"FaultFrequency":{}})",
       {"FaultFrequency is not a list", instead},
       true},
      {"faultCustomization.json",
       in_a_list + "7]}",
       {"FaultFrequency[0] is not an object", instead},
       true},
      {"faultCustomization.json",
       frequency(R"("TimeWindow":"day","Times":2)"),
       {"FaultFrequency[0]: TimeWindow is not a whole number", instead},
       true},
      {"faultCustomization.json",
       frequency(R"("TimeWindow":1e99,"Times":2)"),
       {"FaultFrequency[0]: TimeWindow is not a whole number", instead},
       true},
      {"faultCustomization.json",
       frequency(R"("TimeWindow":59,"Times":2)"),
       {"FaultFrequency[0]: TimeWindow is 59, and has to be a number of 60 to 864000; the device "
        "plugin leaves the entry out"},
       false},
      {"faultCustomization.json",
       frequency(R"("TimeWindow":60,"Times":101)"),
       {"FaultFrequency[0]: Times is 101, and has to be a number of 1 to 100"},
       false},
      {"faultCustomization.json",
       frequency(R"("TimeWindow":60,"Times":2,"ReleaseTimeWindow":-1)"),
       {"FaultFrequency[0]: ReleaseTimeWindow is -1, and has to be"},
       false},
      {"faultCustomization.json",
       R"({"FaultFrequency":[{"EventId":["80E18005"],"TimeWindow":60,"Times":2,)"
       R"("FaultHandling":"SeparateNPU"}]})",
       {R"(FaultFrequency[0]: FaultHandling "SeparateNPU" needs a ReleaseTimeWindow)"},
       false},
      {"faultCustomization.json",
       R"({"FaultDuration":[{"EventId":[],"FaultHandling":"SeparateNPU"}]})",
       {"FaultDuration[0]: EventId names no code"},
       false},
      {"faultCustomization.json",
       duration(R"("FaultTimeout":601,"FaultHandling":"SeparateNPU")"),
       {"FaultDuration[0]: FaultTimeout is 601, and has to be a number of 0 to 600"},
       false},
      {"faultCustomization.json",
       duration(R"("FaultHandling":"ManuallySeparateNPU")"),
       {R"(FaultDuration[0]: FaultHandling "ManuallySeparateNPU" is not a level that it may have)"},
       false},
      {"faultCustomization.json",
       duration(R"("FaultHandling":"Separate")"),
       {R"(FaultDuration[0]: FaultHandling "Separate" is not a level that it may have)"},
       false},
      {"faultCustomization.json",
       R"({"FaultDuration":[{"EventId":["zz","12345678"],"FaultHandling":"SeparateNPU"}]})",
       {R"(EventId "zz" is not a code)", R"(EventId "12345678" has no level in faultCode.json)"},
       false},
  };
  for (const auto& each : cases) {
    const OfCluster read = Read({{each.key, each.text}});
    ASSERT_EQ(read.problems.size(), each.problems.size()) << each.text << "\n"
                                                          << Join(read.problems, "\n");
    for (size_t i = 0; i < each.problems.size(); ++i) {
      const std::string want = where + each.key + ": " + each.problems[i];
      EXPECT_EQ(read.problems[i].substr(0, want.size()), want) << each.text;
    }
    const FaultCode* code = read.table.Find("80E18005");
    const bool is_shipped =
        code != nullptr && code->level == FaultLevel::kRestart && EscalationsOf(*code).size() == 1;
    EXPECT_EQ(is_shipped, each.shipped) << each.text;
  }
}

TEST(FaultCodesOfACluster, AreBounded) {
  std::string codes;
  for (int i = 0; i < 20'000; ++i) codes += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  const OfCluster many = Read({{"faultCode.json", "{\"SeparateNPUCodes\":[" + codes + "]}"}});
  ASSERT_EQ(many.problems.size(), 1u);
  EXPECT_TRUE(
      many.problems[0].ends_with("there are more than 10,000 codes; the others do not count"))
      << many.problems[0];
  EXPECT_TRUE(many.table.Find("9999"));
  EXPECT_FALSE(many.table.Find("10000"));
  std::string wrong;
  for (int i = 0; i < 20'000; ++i) wrong += i == 0 ? R"("?")" : R"(,"?")";
  const OfCluster bad = Read({{"faultCode.json", "{\"SeparateNPUCodes\":[" + wrong + "]}"}});
  ASSERT_EQ(bad.problems.size(), 9u);
  EXPECT_TRUE(bad.problems.back().ends_with("it has 19992 more faults")) << bad.problems.back();
  const std::string long_name(100'000, 'x');
  const OfCluster named = Read({{"faultCode.json", "{\"" + long_name + "\":[]}"}});
  ASSERT_EQ(named.problems.size(), 1u);
  EXPECT_LT(named.problems[0].size(), 1'000u);
  // Deeper than the decoder reads, and larger.
  EXPECT_EQ(Read({{"faultCode.json", std::string(100'000, '[')}}).problems.size(), 2u);
  EXPECT_EQ(Read({{"faultCode.json", std::string(8'000'000, ' ')}}).problems.size(), 2u);
}

TEST(FaultLevels, AreReadInEverySpelling) {
  const std::pair<const char*, const char*> cases[] = {
      {"NormalNPU", "NormalNPU"},        {"NotHandleFault", "NotHandleFault"},
      {"NotHandle", "NotHandleFault"},   {"SubHealth", "SubHealthFault"},
      {"PreSeparate", "PreSeparateNPU"}, {"PreSeparateFault", "PreSeparateNPU"},
      {"Separate", "SeparateNPU"},       {"SeparateFault", "SeparateNPU"},
      {"SeparateDPU", "SeparateNPU"},    {"ManuallySeparateNPU", "ManuallySeparateNPU"},
  };
  for (const auto& [text, want] : cases) {
    const auto level = ReadFaultLevel(text);
    ASSERT_TRUE(level) << text;
    EXPECT_EQ(FaultLevelName(*level), want);
  }
  for (const char* text : {"", "separateNPU", "SeparateNPU ", "L1"}) {
    EXPECT_FALSE(ReadFaultLevel(text)) << text;
  }
}

}  // namespace
}  // namespace mindgate::faults
