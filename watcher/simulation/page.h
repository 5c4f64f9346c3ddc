#pragma once

#include <string>
#include <vector>

#include "watcher/simulation/timeline.h"

namespace mindgate::watcher::simulation {

struct PlayedScenario {
  std::string name;
  std::string file;
  Playback playback;
};

// One HTML page about the plays that needs nothing else: no script, no style sheet, no image, no
// link. All text is escaped. What is too much to look at is left out, and the page says how much.
std::string TimelinePage(const std::vector<PlayedScenario>& played);

}  // namespace mindgate::watcher::simulation
