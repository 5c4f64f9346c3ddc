#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/config_node.h"

namespace mindgate::kube {

// The credentials of a kubeconfig user for `server`, whose other fields are set; flags override
// them, and `user` may be absent. The result is meaningless if there are complaints. `clock` must
// outlive it.
std::shared_ptr<CredentialSource> ReadUser(const std::optional<ConfigNode>& user,
                                           const AccessFlags& flags, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, ConfigErrors& complaints);

// The impersonation settings of the user: `as`, `as-uid`, `as-groups` and `as-user-extra`.
Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                ConfigErrors& complaints);

}  // namespace mindgate::kube
