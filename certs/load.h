#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "certs/check.h"
#include "certs/tls_material.h"

namespace mindgate::certs {

// A Secret holds at most 1 MiB in all.
inline constexpr size_t kLargestFile = 1024 * 1024;

// tls.crt, tls.key and, when there, ca.crt of a folder. Of a mounted Secret all come from the one
// folder that ..data pointed to, and so from one version of it.
Result<ServingFiles> ReadServingFiles(const std::string& folder);

Result<std::string> ReadClientAuthority(const std::string& path);

// The values of the gauges that say when certificates end; empty: there are none.
struct Expiry {
  std::optional<Time> serving;    // the first of the chain to end
  std::optional<Time> client_ca;  // the last: until then some client can be verified
};

Expiry ExpiryOf(const TlsMaterial& material);

}  // namespace mindgate::certs
