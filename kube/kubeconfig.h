#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/config_errors.h"
#include "kube/config_node.h"
#include "kube/exec_plugin.h"

namespace mindgate::kube {

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
Kubeconfig LoadKubeconfig(const std::vector<std::string>& paths, ConfigErrors& complaints);

// The access that the flags select. Reads and checks certificates and tokens in files. `clock` must
// outlive the result.
Answer<Access> ChooseAccess(const Kubeconfig& config, const AccessFlags& flags, const Clock& clock);

// Applies command-line flags to an Access, whatever its source.

// Adds a complaint if `name` is not a valid namespace name.
void NamespaceFault(const std::string& place, const std::string& name, ConfigErrors& complaints);

// --certificate-authority, --insecure-skip-tls-verify and --tls-server-name. As in client-go
// (client_config.go, getCluster), either of the first two replaces all trust settings.
void ApplyTrust(const AccessFlags& flags, Access& access, ConfigErrors& complaints);

// --as, --as-uid, --as-group and --request-timeout.
void ApplyFlags(const AccessFlags& flags, Access& access, ConfigErrors& complaints);

// Why a value cannot be sent in an HTTP header; empty if it can.
std::string HeaderFault(const std::string& value);

// Reads `exec` of a user. If the plugin requests it, it receives `server` and the plugin
// configuration of `cluster`.
ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, ConfigErrors& complaints);

// The credentials of a kubeconfig user for `server`, whose other fields are set; flags override
// them, and `user` may be absent. The result is meaningless if there are complaints. `clock` must
// outlive it.
std::shared_ptr<CredentialSource> ReadUser(const std::optional<ConfigNode>& user,
                                           const AccessFlags& flags, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, ConfigErrors& complaints);

// The impersonation settings of the user: `as`, `as-uid`, `as-groups` and `as-user-extra`.
Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                ConfigErrors& complaints);

}  // namespace mindgate::kube
