#pragma once

#include <chrono>
#include <string>

namespace mindgate::cli {

// "evicted, and deleted by force after 15 minutes": what becomes of pods under fault-scheduling
// grace. `grace_over_time` is that of mindgate.yaml.
std::string EvictedText(std::chrono::seconds grace_over_time);

}  // namespace mindgate::cli
