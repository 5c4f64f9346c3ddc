#include "schemas/faulty_taint.h"

#include "schemas/names.h"

namespace mindgate::schemas {

std::optional<size_t> PlaceOfFaultyTaint(const json::Value* taints) {
  for (size_t i = 0; json::IsArray(taints) && i < taints->size(); ++i) {
    const json::Value& taint = (*taints)[i];
    if (json::FindString(taint, "key") == kFaultyNode &&
        json::FindString(taint, "effect") == kFaultyTaintEffect) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace mindgate::schemas
