#pragma once

#include <string>

#include "kube/access.h"
#include "kube/complaints.h"

// What flags of a command line change of an access, wherever that comes from.
namespace mindgate::kube {

// Complains about what is not the name of a namespace.
void NamespaceFault(const std::string& place, const std::string& name, Complaints& complaints);

// --certificate-authority, --insecure-skip-tls-verify and --tls-server-name. As in client-go
// (client_config.go, getCluster), either of the first two replaces all that is known about trust.
void ApplyTrust(const AccessFlags& flags, Access& access, Complaints& complaints);

// --as, --as-uid, --as-group and --request-timeout.
void ApplyFlags(const AccessFlags& flags, Access& access, Complaints& complaints);

// What would end, or forge, the headers that carry it; empty: it is good.
std::string HeaderFault(const std::string& value);

}  // namespace mindgate::kube
