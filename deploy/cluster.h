#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/application.h"
#include "kube/client.h"
#include "kube/resource.h"

// What deploy, status and delete ask of a cluster.
namespace mindgate::deploy {

using json::Json;

namespace resources {
inline const kube::Resource kInferenceServices{"ome.io", "v1beta1", "inferenceservices",
                                               "InferenceService", true};
inline const kube::Resource kBaseModels{"ome.io", "v1beta1", "basemodels", "BaseModel", true};
inline const kube::Resource kClusterBaseModels{"ome.io", "v1beta1", "clusterbasemodels",
                                               "ClusterBaseModel", false};
inline const kube::Resource kStormServices{"orchestration.aibrix.ai", "v1alpha1", "stormservices",
                                           "StormService", true};
inline const kube::Resource kAscendJobs{"mindxdl.gitee.com", "v1", "ascendjobs", "AscendJob", true};
inline const kube::Resource kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet", true};
inline const kube::Resource kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets",
                                              "LeaderWorkerSet", true};
inline const kube::Resource kPodSets{"orchestration.aibrix.ai", "v1alpha1", "podsets", "PodSet",
                                     true};
inline const kube::Resource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses",
                                             "PriorityClass", false};
using kube::resources::kResourceQuotas;
}  // namespace resources

// The resources that applications are made of, in the order in which they are deleted: what
// controllers watch comes first, so that nothing is recreated.
std::span<const kube::Resource> AppResources();
// That of an object which Render gives.
const kube::Resource& ResourceOf(const Json& object);

std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string KindOf(const Json& object);
std::string UidOf(const Json& object);
std::string Label(const Json& object, std::string_view key);  // empty: not there
std::string Annotation(const Json& object, std::string_view key);
std::string TitleOf(const Json& object);  // "Service chat-router"

// Whether somebody deletes it: it stays until its finalizers are done.
bool IsLeaving(const Json& object);
std::string FinalizersOf(const Json& object);  // " (finalizers: a, b)"; empty: it has none

// Whether a controller made it and keeps it as it is.
bool HasController(const Json& object);

// How it is deleted: with what it owns, where it may own something.
const char* PropagationOf(const Json& object);

// Whether the API server says that `mindgate deploy` applied the object.
bool IsAppliedByUs(const Json& object);
// Whether the object is of this application: its labels say so, and either we applied it, or it was
// written with our annotation by somebody else, as a pipeline does with what --dry-run prints.
// Labels alone can be copied, and controllers do so.
bool IsOurs(const Json& object, const std::string& app);

// A kind whose objects may not be listed.
struct Unread {
  std::string kind;
  std::string message;
};

// The objects of an application, by the order of AppResources. Resources that the cluster does not
// serve have none.
struct AppObjects {
  std::vector<Json> objects;
  std::vector<std::string> foreign;  // carry the labels, but are not of the application
  // Kinds of which the application might have objects. Kinds that its framework does not use are
  // left out, and kinds that it cannot do without are a fault.
  std::vector<Unread> unread;

  // Of the application; nothing when it has no objects.
  std::optional<Framework> framework() const;
};
// `wanted`: the framework that the application is deployed on, where that is known. It says what an
// application without objects cannot do without.
kube::Answer<AppObjects> FindObjects(kube::Client& client, const std::string& ns,
                                     const std::string& app, const std::stop_token& stop,
                                     std::optional<Framework> wanted = std::nullopt);

// The object; null when it does not exist, or when its kind is not served.
kube::Answer<Json> FindObject(kube::Client& client, const kube::Resource& resource,
                              const std::string& ns, const std::string& name,
                              const std::stop_token& stop);

// A label selector for the pods of an application, by what its framework writes.
std::string PodSelector(Framework framework, const std::string& app);
// The component of such a pod: "engine", "prefill", "controller".
std::string ComponentOf(Framework framework, const std::string& app, const Json& pod);

// Finds which PodGroups and Events are about an application. Labels do not: of the PodGroups only
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
                  const std::stop_token& stop, ApplicationOwnership& ownership);

// Those PodGroups of the namespace that are owned, with their kind. None where they are not served
// or may not be listed.
kube::Answer<std::vector<Json>> PodGroupsOf(kube::Client& client, const std::string& ns,
                                            const ApplicationOwnership& ownership,
                                            const std::stop_token& stop);

}  // namespace mindgate::deploy
