#include "schemas/scheduling_gates.h"

#include "schemas/names.h"

namespace mindgate::schemas {

std::optional<size_t> PlaceOfScalingGate(const json::Value* gates) {
  for (size_t i = 0; json::IsArray(gates) && i < gates->size(); ++i) {
    if (json::FindString((*gates)[i], "name") == kScalingGate) return i;
  }
  return std::nullopt;
}

}  // namespace mindgate::schemas
