#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/fault.h"

namespace mindgate::kube {

// The credentials of one request, and what it trusts. Any part may be empty.
struct Credential {
  std::string token{};        // bearer
  std::string certificate{};  // PEM, with its chain
  std::string key{};          // PEM, for that certificate
  // CA certificates in PEM that the server is checked with; empty: Access::authority
  std::string authority{};

  friend bool operator==(const Credential&, const Credential&) = default;
};

// A source of credentials, which may change while the program runs. Thread-safe.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // Cheap if nothing has changed; called before each request.
  virtual Answer<Credential> Get() = 0;

  // The server answered 401 to `refused`: the next Get must not return it from a cache.
  virtual void Refused(const Credential& refused) = 0;
};

// User impersonation (kubernetes.io: user impersonation).
struct Impersonation {
  std::string user{};  // empty: no impersonation
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  friend bool operator==(const Impersonation&, const Impersonation&) = default;
};

// How to reach an API server.
struct Access {
  std::string server;     // "https://10.0.0.1:6443", may have a path prefix; no trailing slash
  std::string authority;  // CA certificates in PEM; empty: those of the system
  std::string tls_server_name;  // the name in the certificate if it differs from `server`
  std::string proxy;            // URL; empty: the environment's HTTPS_PROXY and NO_PROXY
  bool insecure = false;        // insecure-skip-tls-verify
  std::string default_namespace = "default";
  std::string origin;  // for messages: "context prod of /home/me/.kube/config"
  std::shared_ptr<CredentialSource> credentials;  // never null
  Impersonation impersonation{};
  // Timeout of one request; nothing: the caller's default.
  std::optional<std::chrono::milliseconds> request_timeout{};
};

// The command-line flags that select a cluster, with the same meaning as in kubectl.
struct AccessFlags {
  std::string kubeconfig{};             // --kubeconfig
  std::string context{};                // --context
  std::string cluster{};                // --cluster
  std::string user{};                   // --user
  std::string default_namespace{};      // -n, --namespace
  std::string server{};                 // -s, --server
  std::string token{};                  // --token
  Impersonation impersonation{};        // --as, --as-uid, --as-group
  std::string certificate_authority{};  // --certificate-authority
  std::string client_certificate{};     // --client-certificate
  std::string client_key{};             // --client-key
  std::string tls_server_name{};        // --tls-server-name
  bool insecure = false;                // --insecure-skip-tls-verify
  std::string request_timeout{};        // --request-timeout
};

// Parses "5s", "1m30s", "500ms" or whole seconds, as in kubectl; 0 means no limit, which is a year
// here. Nothing for other input.
std::optional<std::chrono::milliseconds> ParseRequestTimeout(std::string_view text);

// Flags override a kubeconfig field by field, as client-go's overrides do: --token and
// --client-certificate replace the credentials of the user, --certificate-authority and
// --insecure-skip-tls-verify the trust settings of the cluster.
// Searches like kubectl: --kubeconfig, then the files of $KUBECONFIG, then ~/.kube/config. If none
// exists and no flag names one, uses the service account of the pod that this program runs in.
// `clock` must outlive the result. Faults: kCredentials, with the file, the position in it and a
// fix.
Answer<Access> FindAccess(const AccessFlags& flags, const Clock& clock);

// The service account of the pod that this program runs in: token and ca.crt (both reloaded when
// the kubelet renews them) and namespace under `folder`, address from KUBERNETES_SERVICE_HOST and
// _PORT
// (client-go: rest/config.go InClusterConfig).
inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
Answer<Access> InClusterAccess(const Clock& clock,
                               const std::string& folder = kServiceAccountFolder);

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
