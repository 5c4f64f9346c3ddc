#pragma once

#include <cstdint>
#include <string>

#include "http/response.h"
#include "webhook/server_options.h"

namespace mindgate::webhook {

// `/readyz`. `hangs` says which decision or thread hangs, empty if none does. `verbose` lists each
// check with its state.
http::Response Readiness(const ServerInputs& inputs, const std::string& hangs, bool draining,
                         bool verbose);

// Seconds since 1970 at which the serving certificate expires, 0 without one.
int64_t CertificateExpiry(const certs::TlsMaterial* material);

}  // namespace mindgate::webhook
