#include <nlohmann/json.hpp>

#include "schemas/names.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {

json::Json GateRemoval(const Gate& gate) {
  const std::string path = "/spec/schedulingGates/" + std::to_string(gate.place);
  return {{{"op", "test"}, {"path", "/metadata/uid"}, {"value", gate.uid}},
          {{"op", "test"}, {"path", path + "/name"}, {"value", schemas::kScalingGate}},
          {{"op", "remove"}, {"path", path}}};
}

}  // namespace mindgate::watcher::scaling
