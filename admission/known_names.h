#pragma once

#include "schemas/config_schema.h"

namespace mindgate::admission {

// The rules and mutators that this binary has, as mindgate.yaml may name them.
const schemas::KnownNames& KnownNames();

}  // namespace mindgate::admission
