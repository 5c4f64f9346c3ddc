#include "schemas/owners.h"

namespace mindgate::schemas {

const json::Value* ControllerOf(const json::Value* metadata) {
  const json::Value* owners = json::Find(metadata, "ownerReferences");
  if (!json::IsArray(owners)) return nullptr;
  for (const json::Value& owner : *owners) {
    if (json::AsBool(json::Find(owner, "controller")).value_or(false)) return &owner;
  }
  return nullptr;
}

}  // namespace mindgate::schemas
