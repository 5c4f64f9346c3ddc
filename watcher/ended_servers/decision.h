#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/projection.h"
#include "json/value.h"

// Servers that ended with exit code 0. The example start script of MindCluster's deploy tool does
// that when a rank crashed (mindcluster-deploy: example/scripts/start_server.sh,
// wait_for_children). Kubernetes takes such a pod for done, and so do MindCluster and rescheduling:
// nothing restarts it, but for the pods of AIBrix instances that have a single one.
namespace mindgate::watcher::ended_servers {

// A pod of a server that is Succeeded and not being deleted.
struct EndedServer {
  std::string ns{};
  std::string pod{};
  std::string uid{};  // of the pod
  std::string owner_kind{};
  std::string owner{};
  std::string restart_policy{};  // of the pod; empty: not known

  bool operator==(const EndedServer&) const = default;
};

// What Read reads.
std::vector<json::Projection::Path> PodFields();

// Nothing for any other pod. What made it decides: a Job, a vcjob and an AscendJob of training are
// done when their pods succeed. An AscendJob is a server where its pods carry a label app of MindIE
// Motor.
std::optional<EndedServer> Read(const json::Value& pod);

// What happened and what to do about it, for people.
std::string Explain(const EndedServer& server);

}  // namespace mindgate::watcher::ended_servers
