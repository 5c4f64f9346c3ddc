#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/config_errors.h"
#include "kube/config_node.h"

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

}  // namespace mindgate::kube
