#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/fault.h"

namespace mindgate::kube {

// What one request shows of who sends it. Any part may be empty.
struct Credential {
  std::string token{};        // bearer
  std::string certificate{};  // PEM, with its chain
  std::string key{};          // PEM, of that certificate

  friend bool operator==(const Credential&, const Credential&) = default;
};

// Where credentials come from: they may change while a program runs. Safe from many threads.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // Cheap when nothing has changed; called before each request.
  virtual Answer<Credential> Get() = 0;

  // The server answered 401 to `refused`: the next Get must not give it again from a cache.
  virtual void Refused(const Credential& refused) = 0;
};

// In whose name the server shall take what is asked (kubernetes.io: user impersonation).
struct Impersonation {
  std::string user{};  // empty: nobody's
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  friend bool operator==(const Impersonation&, const Impersonation&) = default;
};

// An API server and the way to it.
struct Access {
  std::string server;     // "https://10.0.0.1:6443", a path prefix allowed; no slash at its end
  std::string authority;  // CA certificates in PEM; empty: those of the system
  std::string tls_server_name;  // the name in the certificate when it is not that of `server`
  std::string proxy;            // URL; empty: the environment's HTTPS_PROXY and NO_PROXY
  bool insecure = false;        // insecure-skip-tls-verify
  std::string default_namespace = "default";
  std::string origin;  // for messages: "context prod of /home/me/.kube/config"
  std::shared_ptr<CredentialSource> credentials;  // never null
  Impersonation impersonation{};
  // How long one call may take; nothing: what the caller thinks right.
  std::optional<std::chrono::milliseconds> request_timeout{};
};

// What a command line says about which cluster: kubectl's own flags, same meaning.
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

// "5s", "1m30s", "500ms" or whole seconds as kubectl has it; 0 is no limit, which is a year here.
// Nothing for what is none of these.
std::optional<std::chrono::milliseconds> ParseRequestTimeout(std::string_view text);

// Flags win over a kubeconfig member by member, as client-go's overrides do: --token and
// --client-certificate replace what the user has, --certificate-authority and
// --insecure-skip-tls-verify what the cluster says about trust.
//
// As kubectl finds it: --kubeconfig, else the files of $KUBECONFIG, else ~/.kube/config; when none
// of them exists and no flag names one, the service account of the pod that this program runs in.
// `clock` must outlive what is returned. Faults: kCredentials, with the file, the place in it and
// what to write.
Answer<Access> FindAccess(const AccessFlags& flags, const Clock& clock);

// The service account of the pod that this program runs in: token (read again as the kubelet
// renews it), ca.crt and namespace under `folder`, address from KUBERNETES_SERVICE_HOST and _PORT
// (client-go: rest/config.go InClusterConfig).
inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
Answer<Access> InClusterAccess(const Clock& clock,
                               const std::string& folder = kServiceAccountFolder);

}  // namespace mindgate::kube
