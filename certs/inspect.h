#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

#include "base/time.h"

namespace mindgate::certs {

// What people want to know about a certificate.
struct Description {
  std::string subject;  // RFC 2253: "CN=mindgate"
  std::string issuer;
  std::string serial;  // hex
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  Time not_before{};
  Time not_after{};
  std::string key;        // "ECDSA P-256", "RSA 2048", "Ed25519"
  std::string signature;  // "ecdsa-with-SHA256"
  bool is_ca = false;
  bool self_issued = false;
  std::vector<std::string> usages;  // extended: "serverAuth", "clientAuth"; empty: any
  std::string fingerprint;          // SHA-256 of the certificate, "AB:CD:..." as browsers show it

  std::vector<std::string> Names() const;  // of both kinds, DNS names first
};

Description Describe(X509* certificate);

// A short name for messages: its subject in quotes, or its first DNS name.
std::string Title(X509* certificate);

// A field that holds no time makes the certificate valid never.
Time NotBefore(X509* certificate);
Time NotAfter(X509* certificate);

// An IP address as Description spells it; any other text stays unchanged.
std::string NormalAddress(const std::string& text);

// By name and by signature; dates and usages are not checked.
bool IsSignedBy(X509* certificate, X509* authority);

bool IsKeyOf(EVP_PKEY* key, X509* certificate);

std::string KeyName(EVP_PKEY* key);

}  // namespace mindgate::certs
