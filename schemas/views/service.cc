#include <algorithm>

#include "schemas/names.h"
#include "schemas/views/adapters.h"

// The few Services that rules have something to say of: those of MindIE Motor.
namespace mindgate::schemas::views {
namespace {

using json::Value;

bool IsOurService(const Value& object, std::string_view name) {
  if (name == kMindieCoordinator) return true;
  const Value* ports = json::FindPath(object, {"spec", "ports"});
  return json::IsArray(ports) && std::any_of(ports->begin(), ports->end(), [](const Value& port) {
           return json::AsInt(json::Find(port, "nodePort")) == kMindieNodePort;
         });
}

}  // namespace

void ReadService(Builder& builder) {
  if (!IsOurService(builder.object(), builder.view().name)) builder.Decline();
}

}  // namespace mindgate::schemas::views
