#pragma once

#include <string>

#include "kube/access.h"
#include "kube/config_errors.h"

// Applies command-line flags to an Access, whatever its source.
namespace mindgate::kube {

// Adds a complaint if `name` is not a valid namespace name.
void NamespaceFault(const std::string& place, const std::string& name, ConfigErrors& complaints);

// --certificate-authority, --insecure-skip-tls-verify and --tls-server-name. As in client-go
// (client_config.go, getCluster), either of the first two replaces all trust settings.
void ApplyTrust(const AccessFlags& flags, Access& access, ConfigErrors& complaints);

// --as, --as-uid, --as-group and --request-timeout.
void ApplyFlags(const AccessFlags& flags, Access& access, ConfigErrors& complaints);

// Why a value cannot be sent in an HTTP header; empty if it can.
std::string HeaderFault(const std::string& value);

}  // namespace mindgate::kube
