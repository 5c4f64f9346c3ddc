#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/config_node.h"

namespace mindgate::kube {

// What a user of a kubeconfig shows to `server`, of which all but the credentials is known. Without
// meaning when there are complaints. `clock` must outlive it.
std::shared_ptr<CredentialSource> ReadUser(const ConfigNode& user, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, Complaints& complaints);

}  // namespace mindgate::kube
