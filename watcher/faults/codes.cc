#include "watcher/faults/codes.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mindgate::watcher::faults {
namespace {

struct CodeRow {
  CodeSource source;
  FaultLevel level;
  std::string_view codes;  // separated by spaces
};

// From the files that CodeSourceFile names (mind-cluster, Apache License 2.0); of a source the
// worst level first.
constexpr CodeRow kCodeRows[] = {
    {CodeSource::kChip, FaultLevel::kSeparate,
     "80E3A201 80E18402 80E0020B 817F8002 816F8002 814F8002 9419321B A2301000 A2301001 "
     "A2302001 A4192C1A A4193216 A419321B A419321C A42F390F A42F3916 A42F391A A6183207 "
     "A62F3934 A8028801 A819320F A8193234 A8193235 80818C05 80DF8402 80818C00 4C4BA00C"},
    {CodeSource::kChip, FaultLevel::kRestart,
     "8C03A000 8C1FA006 40F84E00 80E24E00 80E21E01 80E38008 80E3A202 80E3A203 80E39200 "
     "819B800A 80E2120D 80E78000 80E78008 80FA4E00 812E4E00 80C78008 80F78009 80F78008 "
     "80F78003 80E18404 80FB8005 80A18008 80CD8008 80A38008 80A58008 80DE1801 80F18008 "
     "80F18000 80F1800A 80CF8000 80DF8000 80DF8009 80DF8008 80DF800A 80F38008 80F2180D "
     "80E18005 80E18008 80E1800A 812F8000 80B98000 80B98008 80BD8008 80CB8001 81998009 "
     "81998008 81978008 815F8008 81338008 817F8008 81478008 813B8008 81578008 81958008 "
     "A2141004 A2141006 A2142004 A2142006 A2145004 A4183200 A6023001 A6023002 A6023003 "
     "A6023004 A6060000 A6060001 A6060002 A6060003 A6060004 A6060005 A606000A A606000B "
     "A606000C A606000F A606009D A6060FFF A607FFFF A6140001 A6140002 A6140003 A6140004 "
     "A6140005 A6140006 A6141003 A6142003 A6143003 A6144003 A6145003 A6192D15 A6193206 "
     "A6193215 A6193248 A62F3905 A62FFFFF A6303003 A6303004 A6360000 A6361000 A6362000 "
     "A8021004 A8060FFF A807FFFF A82A0000 80B78000 80B58000 81498004 80F78C02 80F78C03 "
     "80F78C04 81B38008 80E18000 80E21008 80C98001 80E58005 80E58009 80E58E02 80E58E03 "
     "816F8008 814F8008 81938008 80E44E00 80CF8009 80CF8008 813B8002 81338002 81578002 "
     "81958002 81938002 81478002 81978002 815F8002 81C9800A 81C7800A 81C5800A 813F800A "
     "8139800A 8145800A 8C4BA00C 80E3A207"},
    {CodeSource::kChip, FaultLevel::kFreeRestart,
     "8C0E4E00 8C104E00 8C0C4E00 8C044E00 8C064E00 8C17A005 8C1DA005 8C19A005 8C0A4E00 "
     "8C084E00 A4193217 A4193218 A42A0000 A42F3917 A42F3918 8C464E00 8C124E00"},
    {CodeSource::kChip, FaultLevel::kRestartBusiness,
     "8C204E00 A8028802 A4302003 A4302004 A4302005 A4302006 A4302009 A430200A A6301002 "
     "B4060011 B406009C B4060008 B4060009 B406000E A60250A1 A2301001 A2301002 A2303001 "
     "B4060006 B4060007 B406000D B4060014 B4060010 80E01801 81B38009 81B38004"},
    {CodeSource::kChip, FaultLevel::kRestartRequest,
     "80C98008 80C98002 80C98003 80C98009 80CB8002 80CB8008 80CB8009 80CF8003 81318008 "
     "80D58000 80D58009 80D98008 80DB800A 80DB8000 80DD8000 80DD8003 80C98000 81AB800D "
     "81AB8003 80BD8000 80BB8009 80BD8003 80BD8009 80BB8000 80BB8003 80BB8008 80BB800A "
     "81AB8008 80C9800A 80CB800A"},
    {CodeSource::kChip, FaultLevel::kSubHealth,
     "81A3880C 81AD8605 80E20207 81078605 80DE0207 8C2FA001 819B8605 80818C06 8C1F860A "
     "80E18405"},
    {CodeSource::kChip, FaultLevel::kNotHandle,
     "80E21007 80E38003 80F78006 80C98006 80CB8006 81318006 80A18006 80A18005 80FB8000 "
     "8C1F8609 80CD8006 80CD8003 80A38006 80A38003 80A58006 80A58003 80DE1805 80F18006 "
     "80F18003 80DF8006 80E01805 80E18400 80E01809 80E18401 80E00209 80F38006 80F38003 "
     "80E18006 80D38009 819B800D 80DD8008 80DD8007 80B98006 80BD8006 819B8006 80DE1803 "
     "819D8000 81998006 81978006 81978004 815F8006 815F8004 81338006 81338004 817F8006 "
     "817F8004 816F8006 816F8004 814F8006 814F8004 81938006 81938004 81478006 81478004 "
     "813B8006 813B8004 81578006 81578004 81958006 81958004 81078603 8C2FA009 A4025021 "
     "A60250C1 A4025081 A214000D A414000D A4028801 A4025101 A2140007 A4140007 A2140008 "
     "A4140008 A40250E1 A214000A A414000A A4025061 A4025041 A214000B A414000B A414000C "
     "A2140009 A4140009 A4303002 80B78006 80B78005 80E1800F 80DE0200 814D8006 8C1F860B "
     "8C1F8608 4C1F8608 819B8003 80DF8401 80DF8400 80818200 80818201 80818202 80818203 "
     "80818204 80818205 80F38009"},
    {CodeSource::kSwitch, FaultLevel::kSeparate,
     "[0x00f103b0,155907,na,na] [0x00f103b0,155649,na,na] [0x00f103b0,155904,na,na] "
     "[0x00f1fef5,155912,cpu,na] [0x00f1fef5,155912,npu,na] [0x00f1fef5,155914,cpu,na] "
     "[0x00f1fef5,155914,npu,na] [0x08520003,na,cpu,na] [0x08520003,na,npu,na] "
     "[0x00f1fef5,155912,L2,na]"},
    {CodeSource::kSwitch, FaultLevel::kRestartRequest, "[0x00f1fef5,155914,npu,na]"},
    {CodeSource::kSwitch, FaultLevel::kSubHealth,
     "[0x00f103b6,155908,na,na] [0x00f10509,132332,cpu,na] [0x00f1ff06,155910,na,na] "
     "[0x00f10509,132332,npu,na] [0x00f10509,132333,cpu,na] [0x00f10509,132333,npu,na] "
     "[0x00f1ff06,132134,na,na] [0x00f1ff06,155911,na,na]"},
    {CodeSource::kSwitch, FaultLevel::kNotHandle,
     "[0x00f1fef5,155913,cpu,na] [0x00f1fef5,155913,L2,na] [0x08520003,na,L2,na] "
     "[0x00f10509,132333,L2,na] [0x00f1fef5,155913,na,na] [0x00f1fef5,155913,npu,na] "
     "[0x00f1fef5,155914,L2,na] [0x00f10509,132332,L2,na] [0x00f1fef5,155915,cpu,na] "
     "[0x00f1fef5,155915,npu,na] [0x00f1fef5,155915,L2,na] [0x00f103b6,155909,na,na]"},
    {CodeSource::kNode, FaultLevel::kSeparate, "2C000031"},
    {CodeSource::kNode, FaultLevel::kPreSeparate,
     "0000001D 2800001F 01000017 00000099 06000025 080000ED 080000CF 080000D7 080000D5 "
     "080000DF 080000DB 080000EB 080000C9 02000007 02000017 0F000011 0500000D 00000003 "
     "0000001F 00000021 000000D3 01000057 01000059 02000009 0200000B 02000013 0200001F "
     "02000027 02000029 0200002B 0200002D 08000001 08000003 08000045 0800004B 0800005D "
     "0800006F 08000095 080000F3 0D000001 0D000003 24000007 2400000D 2400000F 24000011 "
     "2C000081 080000E7 120000CD 28000053 6200000C 62000006"},
    {CodeSource::kNode, FaultLevel::kNotHandle,
     "0100000D 03000009 03000013 0300000D 03000011 29000001 2900002F"},
    {CodeSource::kPublic, FaultLevel::kSeparate,
     "220001001 220001002 220001003 220001004 220001005 220001006 220001007"},
    {CodeSource::kPublic, FaultLevel::kSubHealth,
     "010001001 010001004 310001005 210001007 210001008 210001009 110001010"},
    {CodeSource::kPublic, FaultLevel::kNotHandle,
     "200001006 200001010 200001011 200001012 100001011"},
};

// component/clusterd and ascend-device-plugin: of links, chips' and public ones.
constexpr std::array<std::string_view, 4> kNetworkCodes = {"81078603", "81078607", "110001024",
                                                           "110000002"};

}  // namespace

std::string_view CodeSourceFile(CodeSource source) {
  switch (source) {
    case CodeSource::kChip:
      return "component/ascend-device-plugin/build/faultCode.json";
    case CodeSource::kSwitch:
      return "component/ascend-device-plugin/build/SwitchFaultCode.json";
    case CodeSource::kNode:
      return "component/noded/build/NodeDConfiguration.json";
    case CodeSource::kPublic:
      return "component/clusterd/build/publicFaultConfiguration.json";
  }
  return "";
}

bool IsNetworkCode(std::string_view code) {
  return std::find(kNetworkCodes.begin(), kNetworkCodes.end(), code) != kNetworkCodes.end();
}

std::vector<FaultCode> AllFaultCodes() {
  std::vector<FaultCode> all;
  for (const CodeRow& row : kCodeRows) {
    for (const std::string_view code : Split(row.codes, ' ')) {
      all.push_back({std::string(code), row.source, row.level});
    }
  }
  return all;
}

std::optional<FaultCode> FindFaultCode(std::string_view code) {
  for (const CodeRow& row : kCodeRows) {
    for (const std::string_view each : Split(row.codes, ' ')) {
      if (EqualIgnoreCase(each, code)) return FaultCode{std::string(each), row.source, row.level};
    }
  }
  return std::nullopt;
}

Effect EffectOf(const FaultCode& code) {
  if (code.level <= FaultLevel::kNotHandle) return Effect::kNone;
  if (code.level == FaultLevel::kSubHealth) return Effect::kSubHealth;
  // ClusterD takes a node or switch with PreSeparate for healthy as long as a pod with NPUs runs
  // there, and the device plugin lists such a chip as unhealthy only when nobody uses it.
  if (code.level == FaultLevel::kPreSeparate) return Effect::kNoNewPods;
  if (IsNetworkCode(code.code)) return Effect::kNoNewPods;
  const bool of_node = code.source == CodeSource::kNode || code.source == CodeSource::kSwitch;
  return of_node ? Effect::kNode : Effect::kChip;
}

}  // namespace mindgate::watcher::faults
