#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/config_node.h"

namespace mindgate::kube {

// What a user of a kubeconfig shows to `server`, of which all but the credentials is known; flags
// win, and may be all there is. Without meaning when there are complaints. `clock` must outlive it.
std::shared_ptr<CredentialSource> ReadUser(const std::optional<ConfigNode>& user,
                                           const AccessFlags& flags, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, Complaints& complaints);

// In whose name the user asks: `as` and its like, unless the flags name somebody.
Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                Complaints& complaints);

}  // namespace mindgate::kube
