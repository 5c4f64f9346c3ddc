#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "certs/tls_material.h"

namespace mindgate::certs {

// Certificates begin this long before they are made: clocks of nodes differ.
inline constexpr std::chrono::minutes kClockSkew(5);

inline constexpr std::chrono::days kAuthorityLife(3650);
inline constexpr std::chrono::days kServingLife(365);

struct Identity {
  CertificatePtr certificate;
  KeyPtr key;
};

enum class KeyKind {
  kEcdsaP256,
  kRsa2048,  // for tests of what others bring
};

// A self-signed authority of our own making: ECDSA P-256, may sign leaves only. Its name ends with
// the time it was made ("mindgate-ca@1767225600"), so that people tell two that overlap apart;
// clients tell even namesakes apart by their key identifiers.
Result<Identity> CreateAuthority(Time now, std::chrono::seconds life = kAuthorityLife);

struct LeafRequest {
  enum class Usage { kServer, kClient };
  Usage usage = Usage::kServer;
  std::string common_name;             // empty: the first DNS name
  std::vector<std::string> dns_names;  // may begin with "*."
  std::vector<std::string> ip_addresses;
  Time now{};
  std::chrono::seconds life = kServingLife;  // cut at the end of the authority
  KeyKind key = KeyKind::kEcdsaP256;
};

// A new key and a certificate for it. Refused: invalid names, a server without names, an authority
// that is not a CA, has expired or lacks its key.
Result<Identity> IssueLeaf(const Identity& authority, const LeafRequest& request);

// "webhook", "webhook.ns", "webhook.ns.svc", "webhook.ns.svc.cluster.local": all names of a
// Service. The API server uses the third.
std::vector<std::string> ServiceNames(const std::string& service, const std::string& ns);

}  // namespace mindgate::certs
