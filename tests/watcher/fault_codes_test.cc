#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "watcher/faults/codes.h"

namespace mindgate::watcher::faults {
namespace {

std::string Shown(std::string_view text) {
  const auto code = FindFaultCode(text);
  if (!code) return "unknown";
  const char* effect = "";
  switch (EffectOf(*code)) {
    case Effect::kNone:
      effect = "none";
      break;
    case Effect::kNoNewPods:
      effect = "no new pods";
      break;
    case Effect::kSubHealth:
      effect = "sub-health";
      break;
    case Effect::kChip:
      effect = "chip";
      break;
    case Effect::kNode:
      effect = "node";
      break;
  }
  return code->code + " " + std::string(FaultLevelName(code->level)) + ": " + effect;
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
      // Of a link.
      {"81078603", "81078603 NotHandleFault: none"},
      // NodeD's one code that takes a node away, and those that only keep new pods away.
      {"2C000031", "2C000031 SeparateNPU: node"},
      {"0100001D", "unknown"},
      {"0000001D", "0000001D PreSeparateNPU: no new pods"},
      {"[0x08520003,na,npu,na]", "[0x08520003,na,npu,na] SeparateNPU: node"},
      {"[0X08520003,NA,l2,NA]", "[0x08520003,na,L2,na] NotHandleFault: none"},
      {"220001001", "220001001 SeparateNPU: chip"},
      {"010001001", "010001001 SubHealthFault: sub-health"},
      {"", "unknown"},
      {"80E1800", "unknown"},
  };
  for (const auto& [code, want] : cases) EXPECT_EQ(Shown(code), want);
}

// Listed under RestartBusinessCodes and SeparateNPUCodes of one file.
TEST(FaultCodes, AreOfTheWorseLevelWhenAFileListsThemTwice) {
  EXPECT_EQ(Shown("A2301001"), "A2301001 SeparateNPU: chip");
  EXPECT_EQ(Shown("[0x00f1fef5,155914,npu,na]"), "[0x00f1fef5,155914,npu,na] SeparateNPU: node");
}

TEST(FaultCodes, NoCodeIsOfTwoSources) {
  std::map<std::string, std::set<CodeSource>> sources;
  for (const FaultCode& code : AllFaultCodes()) sources[code.code].insert(code.source);
  for (const auto& [code, of] : sources) EXPECT_EQ(of.size(), 1u) << code;
  EXPECT_EQ(sources.size(), 458u);
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
}  // namespace mindgate::watcher::faults
