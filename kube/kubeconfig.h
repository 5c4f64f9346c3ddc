#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/access.h"
#include "kube/config.h"

namespace mindgate::kube {

// The groups and versions of ExecCredential that plugins may use.
inline constexpr const char* kExecVersions[] = {"client.authentication.k8s.io/v1",
                                                "client.authentication.k8s.io/v1beta1"};

// A program that prints credentials (client-go: plugin/pkg/client/auth/exec).
struct ExecPlugin {
  std::string command;  // an absolute path, or a name to be found in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // besides ours
  std::string api_version;                                       // one of kExecVersions
  std::string info;          // KUBERNETES_EXEC_INFO: an ExecCredential with its spec
  std::string install_hint;  // for those who lack the program; may be empty
  std::string place;         // for messages: "/home/me/.kube/config:12:5"
  std::chrono::milliseconds deadline{60'000};
};

// Runs the plugin when credentials are asked for and keeps them until shortly before they end, or
// until they are refused. One run at a time; who asks meanwhile waits for it. A run begins at the
// earliest 5 s after the one before has ended: until then a failure is reported again, and fresh
// credentials that have ended, by our clock, are given all the same. `clock` must outlive it.
std::shared_ptr<CredentialSource> MakeExecSource(ExecPlugin plugin, const Clock& clock);

// A kubeconfig, possibly merged from several files. The first file that defines a cluster, user,
// context or the current context wins (client-go: tools/clientcmd/loader.go Load).
struct Kubeconfig {
  std::vector<std::unique_ptr<ConfigFile>> files;  // in order of precedence, without missing ones
  using Entries = std::map<std::string, ConfigNode, std::less<>>;
  Entries clusters;
  Entries users;
  Entries contexts;
  std::string current_context;
  std::string current_context_place;

  std::string Names() const;  // file names for messages: "/a and /b"
};

// Reads and merges files. Missing files are skipped. Memory is bounded: a file has at most
// 7 MiB (json::Limits).
Kubeconfig LoadKubeconfig(const std::vector<std::string>& paths, ConfigErrors& errors);

// The access that the flags select. Reads and checks certificates and tokens in files. `clock` must
// outlive the result.
Answer<Access> ChooseAccess(const Kubeconfig& config, const AccessFlags& flags, const Clock& clock);

// Applies command-line flags to an Access, whatever its source.

// Adds a complaint if `name` is not a valid namespace name.
void NamespaceFault(const std::string& place, const std::string& name, ConfigErrors& errors);

// --certificate-authority, --insecure-skip-tls-verify and --tls-server-name. As in client-go
// (client_config.go, getCluster), either of the first two replaces all trust settings.
void ApplyTrust(const AccessFlags& flags, Access& access, ConfigErrors& errors);

// --as, --as-uid, --as-group and --request-timeout.
void ApplyFlags(const AccessFlags& flags, Access& access, ConfigErrors& errors);

// Why a value cannot be sent in an HTTP header; empty if it can.
std::string HeaderFault(const std::string& value);

// Reads `exec` of a user. If the plugin requests it, it receives `server` and the plugin
// configuration of `cluster`.
ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, ConfigErrors& errors);

// The credentials of a kubeconfig user for `server`, whose other fields are set; flags override
// them, and `user` may be absent. The result is meaningless if there are errors. `clock` must
// outlive it.
std::shared_ptr<CredentialSource> ReadUser(const std::optional<ConfigNode>& user,
                                           const AccessFlags& flags, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, ConfigErrors& errors);

}  // namespace mindgate::kube
