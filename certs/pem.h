#pragma once

#include <openssl/x509.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "certs/tls_material.h"

namespace mindgate::certs {

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

}  // namespace mindgate::certs
