#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mindgate::certs {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};

using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using StorePtr = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;

// What one handshake presents and verifies by. Immutable once made: OpenSSL only counts references
// to its members, so many handshakes may use it at once while another one takes its place.
struct TlsMaterial {
  std::vector<CertificatePtr> chain;  // the leaf first; never empty
  KeyPtr key;                         // of the leaf
  StorePtr client_ca;                 // null: no client certificate can be verified
};

// From PEM texts, which certs/check.h looks at more closely. Refused: no certificate or a damaged
// one, a key that is not the leaf's, a client CA text without a certificate. `client_ca` may be
// empty.
Result<std::shared_ptr<const TlsMaterial>> MakeTlsMaterial(std::string_view chain,
                                                           std::string_view key,
                                                           std::string_view client_ca);

}  // namespace mindgate::certs
