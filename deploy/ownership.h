#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/client.h"

namespace mindgate::deploy {

using json::Json;

// Tells which PodGroups and Events are about an application. Labels do not: of the PodGroups only
// those of Ascend Operator carry the labels of their job. Volcano's controller names a PodGroup
// after the owner of the pods, LeaderWorkerSet after a group, and both, as AIBrix, make that owner
// its owner (volcano: pkg/controllers/podgroup/pg_controller_handler.go, lws:
// pkg/schedulerprovider/volcano_provider.go, aibrix: pkg/controller/roleset/sync.go).
class ApplicationOwnership {
 public:
  // The object, what owns it, and, for a pod, the PodGroup in its annotation.
  void Add(const Json& object);
  void AddPodGroup(const Json& group);

  bool HasPodGroup(const Json& group) const;
  // Of an object that somebody refers to.
  bool Has(const std::string& uid, const std::string& kind, const std::string& name) const;

 private:
  std::set<std::string, std::less<>> uids_;
  std::set<std::string, std::less<>> titles_;  // "ReplicaSet chat-engine-5d", in one namespace
  std::set<std::string, std::less<>> groups_;  // names of PodGroups
};

// Adds what controllers made between the objects of an application and its pods, by the label of
// its pods. It is what is left to ask when there are no pods, because a quota refuses them. What
// may not be listed is left out.
void AddWorkloads(kube::Client& client, const std::string& ns, const std::string& selector,
                  const std::stop_token& stop, ApplicationOwnership& kinship);

// Those PodGroups of the namespace that are kin, with their kind. None where they are not served or
// may not be listed.
kube::Answer<std::vector<Json>> PodGroupsOf(kube::Client& client, const std::string& ns,
                                            const ApplicationOwnership& kinship,
                                            const std::stop_token& stop);

}  // namespace mindgate::deploy
