#include "faults/levels.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mindgate::faults {
namespace {

struct LevelInfo {
  std::string_view name;
  std::string_view other_names;  // separated by spaces
  std::string_view meaning;
};

constexpr std::array<LevelInfo, 10> kLevels = {{
    {"NormalNPU", "", "The chip works."},
    {"NotHandleFault", "NotHandle", "The fault is recorded, and nothing else happens."},
    {"SubHealthFault", "SubHealth", "The hardware still works, with less than it should."},
    {"RestartRequest", "", "Inference retries the request, training runs the step again."},
    {"RestartBusiness", "", "The workload on the chip has to be restarted."},
    {"FreeRestartNPU", "", "The chip is reset as soon as no pod uses it."},
    {"RestartNPU", "", "The workload has to be stopped, so that the chip can be reset."},
    {"PreSeparateNPU", "PreSeparateFault PreSeparate",
     "The hardware is to be isolated once nobody uses it."},
    {"SeparateNPU", "SeparateFault Separate SeparateDPU", "The hardware is isolated."},
    {"ManuallySeparateNPU", "", "The chip is isolated until a person releases it."},
}};

const LevelInfo& InfoOf(FaultLevel level) { return kLevels[static_cast<size_t>(level)]; }

}  // namespace

std::optional<FaultLevel> ReadFaultLevel(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto found = std::find_if(kLevels.begin(), kLevels.end(), [&](const LevelInfo& info) {
    if (info.name == text) return true;
    const auto others = Split(info.other_names, ' ');
    return std::find(others.begin(), others.end(), text) != others.end();
  });
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<FaultLevel>(found - kLevels.begin());
}

std::string_view FaultLevelName(FaultLevel level) { return InfoOf(level).name; }
std::string_view FaultLevelMeaning(FaultLevel level) { return InfoOf(level).meaning; }

}  // namespace mindgate::faults
