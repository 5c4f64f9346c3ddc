#pragma once

#include "json/json.h"

namespace mindgate::watcher::simulation {

// The JSON Schema (draft 7) of one scenario.
const json::Json& ScenarioSchema();

}  // namespace mindgate::watcher::simulation
