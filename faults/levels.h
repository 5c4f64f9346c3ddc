#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mindgate::faults {

// How bad MindCluster takes a fault to be; each is worse than those before it (mind-cluster:
// component/ascend-device-plugin/pkg/common).
enum class FaultLevel : uint8_t {
  kNormal,
  kNotHandle,
  kSubHealth,
  kRestartRequest,
  kRestartBusiness,
  kFreeRestart,
  kRestart,
  kPreSeparate,
  kSeparate,
  kManuallySeparate,
};

// Every spelling that a component writes: "SeparateNPU" of chips, "SeparateFault" of NodeD,
// "Separate" of switches. Nothing for other texts.
std::optional<FaultLevel> ReadFaultLevel(std::string_view text);

std::string_view FaultLevelName(FaultLevel level);     // as chips spell it: "SeparateNPU"
std::string_view FaultLevelMeaning(FaultLevel level);  // a sentence

}  // namespace mindgate::faults
