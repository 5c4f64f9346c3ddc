// A scenario from any bytes: no crash, every fault with a message, and what was read is played to
// the same end each time.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulation/player.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mindgate::simulation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ScenarioReading reading = ReadScenarios(text);
  for (const auto& issue : reading.issues.items()) {
    if (issue.message.empty() || issue.at.line < 0) std::abort();
  }
  (void)mindgate::json::Render(reading.issues, "scenario.yaml", text);
  for (const Scenario& scenario : reading.scenarios) {
    const PlayLimits limits{.events = 2'000, .rounds = 50};
    const Playback playback = Play(scenario, limits);
    if (playback.events != Play(scenario, limits).events) std::abort();
    (void)TimelineText("scenario.yaml", playback);
  }
  return 0;
}
