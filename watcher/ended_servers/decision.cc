#include "watcher/ended_servers/decision.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::ended_servers {
namespace {

using json::Value;

// mindie-ms-server, mindie-ms-controller, mindie-ms-coordinator.
constexpr std::string_view kMindieApps = "mindie-ms-";

bool IsServer(const Value& owner, const Value* labels) {
  const schemas::KindInfo* kind =
      schemas::FindKind(schemas::GroupOf(json::FindString(owner, "apiVersion").value_or("")),
                        json::FindString(owner, "kind").value_or(""));
  if (kind == nullptr) return false;
  if (kind->kind == schemas::Kind::kAscendJob) {
    return json::FindString(labels, schemas::kApp).value_or("").starts_with(kMindieApps);
  }
  return kind->serves;
}

}  // namespace

std::vector<json::Projection::Path> PodFields() {
  return {{"metadata", "deletionTimestamp"},
          {"metadata", "labels", std::string(schemas::kApp)},
          {"metadata", "ownerReferences"},
          {"spec", "restartPolicy"},
          {"status", "phase"}};
}

std::optional<EndedServer> Read(const Value& pod) {
  if (json::TextAt(pod, {"status", "phase"}) != "Succeeded") return std::nullopt;
  const Value* metadata = json::Find(pod, "metadata");
  // A pod that is asked to end and does so in time succeeds as well.
  if (json::Find(metadata, "deletionTimestamp") != nullptr) return std::nullopt;
  const Value* owner = schemas::ControllerOf(metadata);
  if (owner == nullptr || !IsServer(*owner, json::Find(metadata, "labels"))) return std::nullopt;
  return EndedServer{.ns = json::TextAt(metadata, {"namespace"}),
                     .pod = json::TextAt(metadata, {"name"}),
                     .uid = json::TextAt(metadata, {"uid"}),
                     .owner_kind = json::TextAt(*owner, {"kind"}),
                     .owner = json::TextAt(*owner, {"name"}),
                     .restart_policy = json::TextAt(pod, {"spec", "restartPolicy"})};
}

std::string Explain(const EndedServer& server) {
  // AIBrix: instances of one pod are the RoleSet's own pods, which it deletes and makes again when
  // they have ended (pkg/controller/roleset/rolesyncer.go, StatefulRoleSyncer.Scale). Those of
  // several are a PodSet's, which passes over their index (podset_controller.go).
  if (server.owner_kind == "RoleSet") {
    return "pod " + server.pod + " of RoleSet " + server.owner +
           " ended with exit code 0 (Succeeded), although a server does not end by itself. AIBrix "
           "deletes it and makes it again, since podGroupSize is 1, and rescheduling sees no fault "
           "in it. Read its log while it is there; let its start script end with the exit code of "
           "the process that failed";
  }
  const bool known = !server.restart_policy.empty() && server.restart_policy != "Always";
  return "pod " + server.pod + " of " + server.owner_kind + " " + server.owner +
         " ended with exit code 0 (Succeeded), although a server does not end by itself. " +
         (known ? "With restartPolicy " + server.restart_policy + " nothing restarts it"
                : std::string("Nothing restarts it in place")) +
         ", and rescheduling sees no fault in it. Read its log, then delete the pod; let its start "
         "script end with the exit code of the process that failed";
}

}  // namespace mindgate::watcher::ended_servers
