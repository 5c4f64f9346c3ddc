#include "deploy/cluster.h"

#include <algorithm>
#include <array>
#include <utility>

#include "deploy/labels.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

const std::array<kube::Resource, 7>& AppResourceList() {
  static const std::array<kube::Resource, 7> list = {
      resources::kInferenceServices, resources::kStormServices,  resources::kAscendJobs,
      kube::resources::kDeployments, kube::resources::kServices, kube::resources::kConfigMaps,
      resources::kPriorityClasses};
  return list;
}

std::string MetadataText(const Json& object, std::string_view key) {
  return std::string(json::FindString(json::Find(object, "metadata"), key).value_or(""));
}

// Objects of the cluster carry the namespace of their application in their name.
bool IsOfNamespace(const Json& object, const std::string& ns, const std::string& app) {
  return !NamespaceOf(object).empty() || NameOf(object).starts_with(ns + "-" + app + "-");
}

}  // namespace

std::span<const kube::Resource> AppResources() { return AppResourceList(); }

const kube::Resource& ResourceOf(const Json& object) {
  const std::string kind = KindOf(object);
  const auto& list = AppResourceList();
  return *std::find_if(list.begin(), list.end(),
                       [&kind](const kube::Resource& each) { return each.kind == kind; });
}

std::string NameOf(const Json& object) { return MetadataText(object, "name"); }
std::string NamespaceOf(const Json& object) { return MetadataText(object, "namespace"); }
std::string UidOf(const Json& object) { return MetadataText(object, "uid"); }

std::string KindOf(const Json& object) {
  return std::string(json::FindString(object, "kind").value_or(""));
}

std::string Label(const Json& object, std::string_view key) {
  return std::string(
      json::FindString(json::FindPath(object, {"metadata", "labels"}), key).value_or(""));
}

std::string TitleOf(const Json& object) { return KindOf(object) + " " + NameOf(object); }

const char* PropagationOf(const Json& object) {
  const std::string kind = KindOf(object);
  const bool owns_nothing = kind == "Service" || kind == "ConfigMap" || kind == "PriorityClass";
  return owns_nothing ? "Background" : "Foreground";
}

bool IsOurs(const Json& object, const std::string& app) {
  if (Label(object, kManagedBy) != kFieldManager || Label(object, kInstance) != app) return false;
  const Json* managers = json::FindPath(object, {"metadata", "managedFields"});
  return json::IsArray(managers) &&
         std::any_of(managers->begin(), managers->end(), [](const Json& entry) {
           return json::FindString(entry, "manager") == kFieldManager &&
                  json::FindString(entry, "operation") == "Apply";
         });
}

std::optional<Framework> AppObjects::framework() const {
  for (const Json& object : objects) {
    if (const auto named = FrameworkNamed(Label(object, kFrameworkLabel))) return named;
  }
  return std::nullopt;
}

kube::Answer<AppObjects> FindObjects(kube::Client& client, const std::string& ns,
                                     const std::string& app, const std::stop_token& stop) {
  AppObjects found;
  const std::string selector =
      std::string(kManagedBy) + "=" + kFieldManager + "," + std::string(kInstance) + "=" + app;
  for (const kube::Resource& resource : AppResources()) {
    auto objects = client.ListObjects(resource, resource.namespaced ? ns : "",
                                      {.label_selector = selector}, nullptr, stop);
    if (!objects) {
      // What is not served has no objects. Priority classes need a right that few users have, and
      // are few: they are left where they are.
      const kube::Reason reason = objects.error().reason;
      const bool optional = reason == kube::Reason::kForbidden && !resource.namespaced;
      if (reason == kube::Reason::kNotFound || optional) continue;
      return tl::unexpected(objects.error());
    }
    for (Json& object : *objects) {
      object["apiVersion"] = resource.api_version();  // lists leave them out
      object["kind"] = resource.kind;
      if (!IsOfNamespace(object, ns, app)) continue;
      if (IsOurs(object, app)) {
        found.objects.push_back(std::move(object));
      } else {
        found.foreign.push_back(TitleOf(object));
      }
    }
  }
  return found;
}

kube::Answer<Json> Look(kube::Client& client, const kube::Resource& resource, const std::string& ns,
                        const std::string& name, const std::stop_token& stop) {
  auto object = client.Get(resource, resource.namespaced ? ns : "", name, stop);
  if (!object && object.error().reason == kube::Reason::kNotFound) return Json(nullptr);
  return object;
}

std::string PodSelector(Framework framework, const std::string& app) {
  switch (framework) {
    case Framework::kOme:
      return std::string(schemas::kOmeInferenceService) + "=" + app;
    case Framework::kAibrix:
      return std::string(kStormName) + "=" + app;
    case Framework::kMindie:
      return std::string(schemas::kJobId) + "=" + app;
  }
  return "";
}

std::string ComponentOf(Framework framework, const std::string& app, const Json& pod) {
  switch (framework) {
    case Framework::kOme:
      return Label(pod, kComponent);
    case Framework::kAibrix:
      return Label(pod, kRoleName);
    case Framework::kMindie:
      break;
  }
  const std::string kind = Label(pod, schemas::kApp);
  if (kind == schemas::kMindieController) return "controller";
  if (kind == schemas::kMindieCoordinator) return "coordinator";
  // "<app>-p0-master-0"
  const std::string name = NameOf(pod);
  if (name.starts_with(app + "-p")) return "prefill";
  if (name.starts_with(app + "-d")) return "decode";
  return kind;
}

}  // namespace mindgate::deploy
