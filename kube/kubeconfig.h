#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/access.h"
#include "kube/complaints.h"
#include "kube/config_node.h"

namespace mindgate::kube {

// A kubeconfig, perhaps of several files. The first file that names a cluster, user, context or the
// current context has it whole (client-go: tools/clientcmd/loader.go Load).
struct Kubeconfig {
  std::vector<std::unique_ptr<ConfigFile>> files;  // in order of precedence; what is missing is not
  using Entries = std::map<std::string, ConfigNode, std::less<>>;
  Entries clusters;
  Entries users;
  Entries contexts;
  std::string current_context;
  std::string current_context_place;

  std::string Names() const;  // of the files, for messages: "/a and /b"
};

// Reads and merges. Files that do not exist are left out. Memory is bounded: a file has at most
// 7 MiB (json::Limits).
Kubeconfig LoadKubeconfig(const std::vector<std::string>& paths, Complaints& complaints);

// The access that the flags choose from it. Certificates and tokens that stand in files are read
// and looked at. `clock` must outlive what is returned.
Answer<Access> ChooseAccess(const Kubeconfig& config, const AccessFlags& flags, const Clock& clock);

}  // namespace mindgate::kube
