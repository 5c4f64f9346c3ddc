#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/application.h"
#include "json/value.h"
#include "schemas/raw_objects.h"

namespace mindgate::deploy {

// The words by which the objects of an application are found, ours and those of the frameworks.

// Who writes the fields of the objects (server-side apply).
inline constexpr const char* kFieldManager = "mindgate-deploy";

// On every object that `mindgate deploy` makes.
using schemas::kManagedBy;                                                    // kFieldManager
inline constexpr std::string_view kInstance = "app.kubernetes.io/instance";   // the application
inline constexpr std::string_view kFrameworkLabel = "mindgate.io/framework";  // "ome"
// An annotation, "llm/chat". Labels of a custom resource are copied to what controllers make of it;
// this and the lack of a controller say that the object itself was written.
inline constexpr std::string_view kApplication = "mindgate.io/application";

// The marks: they say whose an object is, and nothing to those who run it.
constexpr bool IsMarkLabel(std::string_view key) {
  return key == kManagedBy || key == kInstance || key == kFrameworkLabel;
}
constexpr bool IsMark(std::string_view key) { return IsMarkLabel(key) || key == kApplication; }

// OME, on what it makes of an InferenceService (pkg/constants/constants.go).
inline constexpr std::string_view kComponent = "component";  // "engine", "decoder", "router"
inline constexpr std::string_view kStoreComponent = "mf-store";
inline constexpr std::string_view kMemfabricName = "memfabric.ascend.com/name";

// AIBrix, on the pods of a StormService since v0.5.0 (pkg/controller/constants).
inline constexpr std::string_view kStormName = "storm-service-name";
inline constexpr std::string_view kRoleName = "role-name";
inline constexpr std::string_view kReplicaIndex =
    "stormservice.orchestration.aibrix.ai/role-replica-index";
inline constexpr std::string_view kGroupIndex =
    "stormservice.orchestration.aibrix.ai/pod-group-index";

// What stands below `rendered` in an object was written below `written` in the configuration; both
// are pointers (RFC 6901).
struct Origin {
  std::string rendered;
  std::string written;
};

// A value of the user that replaces one that mindgate writes by default.
struct Override {
  std::string written;  // pointer into the configuration
  std::string key;
  std::string instead_of;
};

// What of the configuration cannot be rendered.
struct RenderFault {
  std::string written;
  std::string message;
  std::string hint;
};

// In which order objects are applied. Those of a phase that are waited for are ready before the
// next one begins.
enum class Phase { kFirst, kManagers, kServers };

struct RenderedObject {
  json::Json object;
  Phase phase = Phase::kServers;
  // Engine and decoder look for the store once, when they start.
  bool wait_ready = false;
  // Others go on to write `data`: it is ours only while the object is made.
  bool seeded = false;
  // The custom resource that stands for the application, and what goes with it.
  bool is_root = false;
  bool of_root = false;
  std::vector<Origin> origins;
  std::vector<Override> overrides;
  std::vector<RenderFault> faults;  // none of a configuration that ReadConfiguration accepted

  // Of what stands at a path, the nearest one above it; null: there is none.
  const Origin* NearestOrigin(std::string_view path) const;
  std::string Kind() const { return object.at("kind"); }
  std::string Name() const { return object.at("metadata").at("name"); }
  std::string Namespace() const { return object.at("metadata").value("namespace", ""); }
  std::string Title() const { return Kind() + " " + Name(); }
};

// The objects of an application in the order in which they are applied. They are what
// mindcluster-deploy renders from the same configuration (k8s-deploy-tool/src/templates), with
// labels by which they are found again, but: defaults are written, never null; no gang size where
// several pods make an instance; the store is ready when its port answers; the router of AIBrix has
// a Service. What the mutators write is not part of it.
std::vector<RenderedObject> Render(const Application& application);

// What the renderers of all frameworks share.

// The data of rank tables, before Ascend Operator fills them.
inline constexpr const char* kEmptyRankTable = R"({"status":"initializing"})";
// The ConfigMap with the tables of all instances of MindIE, "motor-global-ranktable", and its key.
inline constexpr const char* kGlobalTableSuffix = "-global-ranktable";
inline constexpr const char* kGlobalTableFile = "global_ranktable.json";

// An object of the application with name and namespace (none for cluster-scoped kinds). Render adds
// the marks by which it is found.
RenderedObject NewObject(const Application& application, const std::string& api_version,
                         const std::string& kind, const std::string& name, Phase phase,
                         bool namespaced = true);

// Puts `user`, which was written at `written`, over what is at `rendered` in the object: labels,
// annotations or a node selector. The user wins; replaced labels
// and annotations are noted.
void MergeMap(RenderedObject& rendered, const std::string& at, const StringMap& user,
              const std::string& written);

json::Json Variable(std::string_view name, std::string_view value);
json::Json Variable(std::string_view name, int64_t value);
json::Json FieldVariable(std::string_view name, std::string_view field_path);
void Append(json::Json& environment, const Variables& variables);

// "requests" and "limits" of so many devices and nothing else; null for none.
json::Json NpuResources(const std::string& resource, int64_t count);

// {"name": name, "value": {...}}
json::Json HostPath(std::string_view name, const std::string& path, std::string_view type = {});
// The folder of the host that the volume of this name shows was written at `written`. `pod_spec`:
// its pointer in the object. Without such a volume nothing is added.
void AddPathOrigin(RenderedObject& rendered, const std::string& pod_spec, std::string_view volume,
                   const std::string& written);
json::Json Mount(std::string_view name, const std::string& path);

// How the keys of extras are written in a format.
struct ExtraNames {
  const char* image_pull_secrets;
  const char* priority_class;
};
inline constexpr ExtraNames kSnakeNames{"image_pull_secrets", "priority_class_name"};
inline constexpr ExtraNames kCamelNames{"imagePullSecrets", "priorityClassName"};

// Puts what the user wrote below `written` into the pod spec and the container that mounts its
// volumes. `pod_spec` and `container` are pointers in the object.
void AddExtras(RenderedObject& rendered, const std::string& pod_spec, const std::string& container,
               const PodExtras& extras, const std::string& written, const ExtraNames& names);
// Memory and processors of a container, where they are written.
void AddAmounts(json::Json& container, const ResourceSettings& settings);

// A ClusterIP Service whose labels are its selector.
RenderedObject NewService(const Application& application, const std::string& name,
                          const json::Json& selector, json::Json ports);
json::Json Port(std::string_view name, int64_t port, int64_t target);

// One renderer a framework.
std::vector<RenderedObject> RenderOme(const Application& application, const OmeService& service);
std::vector<RenderedObject> RenderAibrix(const Application& application,
                                         const StormService& service);
std::vector<RenderedObject> RenderMindie(const Application& application,
                                         const MindieService& service);

// The member by whose value the items of two lists are the same ones: "name" for "containers",
// "mountPath" for "volumeMounts". Empty: lists of this name have none, or an item of the two lacks
// it; such lists are replaced as a whole.
std::string_view MergeKeyOf(std::string_view list, const json::Json& items,
                            const json::Json& change);

// No more than that in one file, and operations in one patch.
inline constexpr size_t kMaxPatches = 64;
inline constexpr size_t kMaxPatchOperations = 256;

}  // namespace mindgate::deploy
