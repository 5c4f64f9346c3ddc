#pragma once

#include <optional>
#include <string>
#include <string_view>

// What can be said about credentials before a server sees them. A fault is the rest of a sentence
// about the text, "holds no certificate in PEM", and never shows any of it; empty: it is good.
namespace mindgate::kube {

// As Go reads []byte in JSON: standard alphabet, padded, line ends anywhere. Nothing when it is not
// that.
std::optional<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

// At least one certificate, none of them damaged.
std::string CertificatesFault(std::string_view pem);

// One private key without a passphrase.
std::string KeyFault(std::string_view pem);

// Whether the key is that of the first certificate. Both texts have no other fault.
bool IsPair(std::string_view certificate, std::string_view key);

// What would end, or forge, the header that carries it.
std::string TokenFault(std::string_view token);

}  // namespace mindgate::kube
