#pragma once

#include <string>
#include <vector>

#include "simulation/timeline.h"

namespace mindgate::simulation {

struct PlayedScenario {
  std::string name;
  std::string file;
  Playback playback;
};

// One HTML page about the plays that needs nothing else: no script, no style sheet, no image, no
// link. All text is escaped. What is too much to show is left out, and the page has its number.
std::string TimelinePage(const std::vector<PlayedScenario>& played);

}  // namespace mindgate::simulation
