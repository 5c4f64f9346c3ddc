#pragma once

#include "json/value.h"

namespace mindgate::schemas {

// The entry of metadata.ownerReferences that is the controller of the object; null when it has
// none. The API server lets an object have one at most (kubernetes:
// apimachinery/pkg/api/validation/objectmeta.go); of more the first counts.
const json::Value* ControllerOf(const json::Value* metadata);

}  // namespace mindgate::schemas
