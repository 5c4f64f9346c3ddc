#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

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

// From PEM texts, which certs/serving_files.h looks at more closely. Refused: no certificate or a
// damaged one, a key that is not the leaf's, a client CA text without a certificate. `client_ca`
// may be empty.
Result<std::shared_ptr<const TlsMaterial>> MakeTlsMaterial(std::string_view chain,
                                                           std::string_view key,
                                                           std::string_view client_ca);

// More in one file than any chain or bundle of authorities has (Mozilla's list has about 150).
inline constexpr size_t kMaxCertificates = 1000;

// The certificates of a PEM text in its order; other blocks, such as a key in the same file, are
// passed over. It is not an error when there are none. A damaged block is an error: half of a chain
// must not pass for a chain.
Result<std::vector<CertificatePtr>> ReadCertificates(std::string_view text);

// The first private key of a PEM text, unencrypted.
Result<KeyPtr> ReadKey(std::string_view text);

std::string WriteCertificate(X509* certificate);
std::string WriteKey(EVP_PKEY* key);  // PKCS #8

// What OpenSSL has to say about the last failure of this thread, which it then forgets.
std::string OpenSslReason();

// As Go reads and writes []byte in JSON: standard alphabet, padded; line ends anywhere are skipped.
std::string EncodeBase64(std::string_view bytes);
void AppendBase64(std::string_view bytes, std::string& out);
std::optional<std::string> DecodeBase64(std::string_view text);  // nothing when it is not that

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
