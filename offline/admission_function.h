#pragma once

#include "base/time.h"
#include "schemas/config.h"
#include "schemas/resource_list.h"

namespace mindgate::offline {

// Whether the functionConfig asks for admission: an object of kind Admission.
bool IsAdmission(const schemas::ResourceList& list);

// As a KRM function: admits the items as the webhook would. They are injected, so that nothing is
// left to inject on a cluster, and findings become results; what would be denied is an error. Items
// of kinds that mindgate does not handle stay as they are. The functionConfig's `spec` may have
// config (the keys of mindgate.yaml; `config` stands for it where it is left out), strict,
// namespace and namespaceLabels, as the flags of apply.
schemas::FunctionAnswer RunAdmissionFunction(schemas::ResourceList list,
                                             const schemas::Config& config, Time now);

}  // namespace mindgate::offline
