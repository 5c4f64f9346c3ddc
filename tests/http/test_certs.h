#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "certs/certificate.h"

namespace mindgate::http::testing {

enum class KeyKind { kEc, kRsa };

struct Identity {
  std::string certificate;  // PEM
  std::string key;          // PEM
};

// A certificate authority that lives as long as a test.
class TestCa {
 public:
  // Signed by `issuer`, or by itself.
  explicit TestCa(const std::string& name, const TestCa* issuer = nullptr);

  const std::string& certificate() const { return pem_; }
  // A leaf with `name` as common name and DNS name; valid from an hour ago for `seconds`.
  Identity Issue(const std::string& name, KeyKind kind = KeyKind::kEc, long seconds = 86400) const;

 private:
  certs::KeyPtr key_;
  certs::CertificatePtr certificate_;
  std::string pem_;
};

// As the server holds it; `client_ca` is PEM, or a CA, or none.
std::shared_ptr<const certs::TlsMaterial> Material(const Identity& identity,
                                                   const std::string& client_ca);
std::shared_ptr<const certs::TlsMaterial> Material(const Identity& identity,
                                                   const TestCa* client_ca = nullptr);

}  // namespace mindgate::http::testing
