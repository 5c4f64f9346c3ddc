#pragma once

#include "base/time.h"
#include "schemas/config.h"
#include "schemas/resource_list.h"

namespace mindgate::deploy {

// As a KRM function: renders the application in the functionConfig into the items, and reports what
// rules find. The configuration is `spec` of an object of any kind; where it leaves
// out app_name and app_namespace, they are those of the object. An item of the same kind, namespace
// and name is replaced, but for the annotations of others; one of the application that is no longer
// made is removed.
schemas::FunctionAnswer RunFunction(schemas::ResourceList list, const schemas::Config& config,
                                    Time now);

}  // namespace mindgate::deploy
