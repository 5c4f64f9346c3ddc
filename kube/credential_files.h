#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/access.h"

namespace mindgate::kube {

// Credentials from a configuration or from files. Absolute paths; empty: there is none.
struct CredentialFiles {
  Credential now{};  // as configured, or as it was in the files when they were first read
  std::string token_file{};
  std::string certificate_file{};
  std::string key_file{};
  std::string authority_file{};
};

// Reads the files again after a minute, as client-go does (transport/token_source.go: half of the
// time between kubelet's renewal of a token and its end), and after a refusal. What cannot be read
// or is not a credential leaves the last good one in place, as long as that is not refused. A
// certificate and its key are loaded together. While a cluster replaces its CA, `authority_file`
// has both. `clock` must outlive it.
std::shared_ptr<CredentialSource> MakeCredentialSource(CredentialFiles files, const Clock& clock);

// What such files hold, checked. The message begins with the path and shows nothing of the content.
Answer<std::string> ReadTokenFile(const std::string& path);
Answer<std::string> ReadCertificatesFile(const std::string& path);
Answer<std::string> ReadKeyFile(const std::string& path);

// What can be said about credentials before a server sees them. A fault is a sentence about the
// text that shows nothing of it; empty: it is good.

// At least one certificate, none of them damaged.
std::string CertificatesFault(std::string_view pem);

// One private key without a passphrase.
std::string KeyFault(std::string_view pem);

// Whether the key is that of the first certificate.
bool IsPair(std::string_view certificate, std::string_view key);

// What would end, or forge, the header that carries it.
std::string TokenFault(std::string_view token);

// The file with the certificates that the system trusts, below `root`; empty where there is none.
// libcurl knows one place, that of the distribution that it was built on, and a released program
// runs on others.
std::string SystemAuthoritiesBelow(const std::string& root);

// That of this system, searched once.
const std::string& SystemAuthorities();

}  // namespace mindgate::kube
