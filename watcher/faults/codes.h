#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "watcher/faults/levels.h"

// The fault codes that MindCluster ships a level for. A cluster may have other levels: the device
// plugin reads ConfigMap kube-system/mindx-dl-fault-config first.
namespace mindgate::watcher::faults {

enum class CodeSource : uint8_t {
  kChip,    // ascend-device-plugin/build/faultCode.json
  kSwitch,  // ascend-device-plugin/build/SwitchFaultCode.json
  kNode,    // noded/build/NodeDConfiguration.json
  kPublic,  // clusterd/build/publicFaultConfiguration.json
};
std::string_view CodeSourceFile(CodeSource source);

struct FaultCode {
  std::string code;  // "80E18005", "[0x08520003,na,L2,na]", as upstream spells it
  CodeSource source = CodeSource::kChip;
  FaultLevel level = FaultLevel::kNormal;
};

// Whether the code is of a link of the chip: it then counts as unhealthy for new pods only.
bool IsNetworkCode(std::string_view code);

// Letters of either case. A code that a file lists twice has the worse level, as upstream looks for
// that one first. Nothing for a code that is not shipped.
std::optional<FaultCode> FindFaultCode(std::string_view code);

// All of them, as the files list them, worst level first.
std::vector<FaultCode> AllFaultCodes();

// What a fault does to pods that run on the hardware, before their labels are asked.
enum class Effect : uint8_t {
  kNone,
  kNoNewPods,  // what runs is left alone
  kSubHealth,  // subHealthyStrategy decides
  kChip,       // the pods that use the chip are faulty
  kNode,       // all pods of the node are faulty, also those without NPUs
};
Effect EffectOf(const FaultCode& code);

}  // namespace mindgate::watcher::faults
