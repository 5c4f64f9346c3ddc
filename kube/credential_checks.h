#pragma once

#include <string>
#include <string_view>

// What can be said about credentials before a server sees them. A fault is a sentence about the
// text that shows nothing of it; empty: it is good.
namespace mindgate::kube {

// At least one certificate, none of them damaged.
std::string CertificatesFault(std::string_view pem);

// One private key without a passphrase.
std::string KeyFault(std::string_view pem);

// Whether the key is that of the first certificate.
bool IsPair(std::string_view certificate, std::string_view key);

// What would end, or forge, the header that carries it.
std::string TokenFault(std::string_view token);

}  // namespace mindgate::kube
