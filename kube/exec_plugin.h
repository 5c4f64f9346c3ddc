#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kube/access.h"

namespace mindgate::kube {

// The groups and versions of ExecCredential that plugins may speak.
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

}  // namespace mindgate::kube
