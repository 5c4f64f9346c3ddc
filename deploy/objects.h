#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "deploy/render.h"

// What the renderers of all frameworks share.
namespace mindgate::deploy {

// The data of rank tables, before Ascend Operator fills them.
inline constexpr const char* kEmptyRankTable = R"({"status":"initializing"})";
// The ConfigMap with the tables of all instances of MindIE, "motor-global-ranktable", and its key.
inline constexpr const char* kGlobalTableSuffix = "-global-ranktable";
inline constexpr const char* kGlobalTableFile = "global_ranktable.json";

// An object of the application with name, namespace (none for cluster-scoped kinds) and our labels.
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

}  // namespace mindgate::deploy
