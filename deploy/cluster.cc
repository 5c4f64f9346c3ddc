#include "deploy/cluster.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "deploy/render.h"
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

// The names of application and namespace can run into each other, so that a prefix says nothing.
bool IsOfNamespace(const Json& object, const std::string& ns, const std::string& app) {
  if (!NamespaceOf(object).empty()) return true;
  const std::string written = Annotation(object, kApplication);
  if (!written.empty()) return written == ns + "/" + app;
  const std::string name = NameOf(object);
  return name == ns + "-" + app + "-prefill" || name == ns + "-" + app + "-decode";
}

// Whether an application of the framework has objects of the kind, whatever its configuration.
// PriorityClasses take a right that few users have, and are made only on request.
bool Needs(Framework framework, std::string_view kind) {
  switch (framework) {
    case Framework::kOme:
      return kind == "InferenceService" || kind == "Deployment" || kind == "Service";
    case Framework::kAibrix:
      return kind == "StormService" || kind == "Service";
    case Framework::kMindie:
      return kind == "AscendJob" || kind == "ConfigMap" || kind == "Service";
  }
  return false;
}

bool MayHave(std::optional<Framework> framework, const std::string& kind) {
  if (!framework) return kind != "PriorityClass";
  return Needs(*framework, kind) || (*framework == Framework::kMindie && kind == "PriorityClass");
}

// The resource that stands for an application of one framework.
bool IsCustom(const kube::Resource& resource) {
  return resource.namespaced && resource.group.find('.') != std::string::npos;
}

// An API server answers 403 before 404: who may use one framework only cannot even ask whether
// there are the kinds of others. `unread`: all kinds that may not be listed.
bool IsFatal(std::optional<Framework> framework, const kube::Resource& resource,
             const std::vector<const kube::Resource*>& unread) {
  if (framework) return Needs(*framework, resource.kind);
  if (IsCustom(resource)) {
    return std::count_if(unread.begin(), unread.end(), [](const auto* each) {
             return IsCustom(*each);
           }) == std::ssize(kFrameworks);
  }
  return resource.namespaced;
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

std::string Annotation(const Json& object, std::string_view key) {
  return std::string(
      json::FindString(json::FindPath(object, {"metadata", "annotations"}), key).value_or(""));
}

std::string TitleOf(const Json& object) { return KindOf(object) + " " + NameOf(object); }

bool IsLeaving(const Json& object) {
  return json::FindPath(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

std::string FinalizersOf(const Json& object) {
  constexpr size_t kMost = 5;
  const Json* finalizers = json::FindPath(object, {"metadata", "finalizers"});
  if (!json::IsArray(finalizers) || finalizers->empty()) return "";
  const auto text = [](const Json& each) { return json::AsString(&each).value_or(""); };
  return " (finalizers: " + JoinFirst(*finalizers, kMost, ", ", text) + ")";
}

bool HasController(const Json& object) {
  const Json* owners = json::FindPath(object, {"metadata", "ownerReferences"});
  return json::IsArray(owners) &&
         std::any_of(owners->begin(), owners->end(), [](const Json& owner) {
           const Json* controller = json::Find(owner, "controller");
           return controller != nullptr && *controller == true;
         });
}

const char* PropagationOf(const Json& object) {
  const std::string kind = KindOf(object);
  const bool owns_nothing = kind == "Service" || kind == "ConfigMap" || kind == "PriorityClass";
  return owns_nothing ? "Background" : "Foreground";
}

bool IsAppliedByUs(const Json& object) {
  const Json* managers = json::FindPath(object, {"metadata", "managedFields"});
  return json::IsArray(managers) &&
         std::any_of(managers->begin(), managers->end(), [](const Json& entry) {
           return json::FindString(entry, "manager") == kFieldManager &&
                  json::FindString(entry, "operation") == "Apply";
         });
}

bool IsOurs(const Json& object, const std::string& app) {
  if (Label(object, kManagedBy) != kFieldManager || Label(object, kInstance) != app) return false;
  if (IsAppliedByUs(object)) return true;
  const std::string written = Annotation(object, kApplication);
  const std::string ns = NamespaceOf(object);
  const bool is_named = ns.empty() ? written.ends_with("/" + app) : written == ns + "/" + app;
  return is_named && !HasController(object);
}

std::optional<Framework> AppObjects::framework() const {
  for (const Json& object : objects) {
    if (const auto named = FrameworkNamed(Label(object, kFrameworkLabel))) return named;
  }
  return std::nullopt;
}

kube::Answer<AppObjects> FindObjects(kube::Client& client, const std::string& ns,
                                     const std::string& app, const std::stop_token& stop,
                                     std::optional<Framework> wanted) {
  AppObjects found;
  std::vector<const kube::Resource*> unread;
  std::vector<kube::Fault> faults;
  const std::string selector =
      std::string(kManagedBy) + "=" + kFieldManager + "," + std::string(kInstance) + "=" + app;
  for (const kube::Resource& resource : AppResources()) {
    auto objects = client.ListObjects(resource, resource.namespaced ? ns : "",
                                      {.label_selector = selector}, nullptr, stop);
    if (!objects) {
      const kube::Reason reason = objects.error().reason;
      if (reason == kube::Reason::kNotFound) continue;  // what is not served has no objects
      if (reason != kube::Reason::kForbidden) return tl::unexpected(objects.error());
      unread.push_back(&resource);
      faults.push_back(objects.error());
      continue;
    }
    for (Json& object : *objects) {
      object["apiVersion"] = resource.api_version();  // lists leave them out
      object["kind"] = resource.kind;
      if (!IsOfNamespace(object, ns, app)) continue;
      if (IsOurs(object, app)) {
        found.objects.push_back(std::move(object));
      } else if (!HasController(object)) {
        found.foreign.push_back(TitleOf(object));
      }
    }
  }
  const auto there = found.framework();
  const auto framework = there ? there : wanted;
  for (size_t i = 0; i < unread.size(); ++i) {
    if (IsFatal(framework, *unread[i], unread) || (wanted && IsFatal(wanted, *unread[i], unread))) {
      return tl::unexpected(std::move(faults[i]));
    }
    if (MayHave(framework, unread[i]->kind)) {
      found.unread.push_back({unread[i]->kind, std::move(faults[i].message)});
    }
  }
  return found;
}

kube::Answer<Json> FindObject(kube::Client& client, const kube::Resource& resource,
                              const std::string& ns, const std::string& name,
                              const std::stop_token& stop) {
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

namespace {

using kube::Reason;

const Json& OwnersOf(const Json& object) {
  static const Json none = Json::array();
  const Json* owners = json::FindPath(object, {"metadata", "ownerReferences"});
  return json::IsArray(owners) ? *owners : none;
}

std::string TextOf(const Json& object, std::string_view key) {
  return std::string(json::FindString(object, key).value_or(""));
}

}  // namespace

void ApplicationOwnership::Add(const Json& object) {
  if (std::string uid = UidOf(object); !uid.empty()) uids_.insert(std::move(uid));
  titles_.insert(TitleOf(object));
  for (const Json& owner : OwnersOf(object)) {
    if (std::string uid = TextOf(owner, "uid"); !uid.empty()) uids_.insert(std::move(uid));
    titles_.insert(TextOf(owner, "kind") + " " + TextOf(owner, "name"));
  }
  std::string group = Annotation(object, schemas::kPodGroupAnnotation);
  if (!group.empty()) groups_.insert(std::move(group));
}

void ApplicationOwnership::AddPodGroup(const Json& group) {
  if (std::string uid = UidOf(group); !uid.empty()) uids_.insert(std::move(uid));
  groups_.insert(NameOf(group));
}

bool ApplicationOwnership::HasPodGroup(const Json& group) const {
  if (groups_.contains(NameOf(group))) return true;
  for (const Json& owner : OwnersOf(group)) {
    if (uids_.contains(TextOf(owner, "uid"))) return true;
  }
  return false;
}

bool ApplicationOwnership::Has(const std::string& uid, const std::string& kind,
                               const std::string& name) const {
  if (uids_.contains(uid) || titles_.contains(kind + " " + name)) return true;
  return kind == "PodGroup" && groups_.contains(name);
}

void AddWorkloads(kube::Client& client, const std::string& ns, const std::string& selector,
                  const std::stop_token& stop, ApplicationOwnership& ownership) {
  for (const kube::Resource& resource :
       {kube::resources::kDeployments, kube::resources::kReplicaSets, resources::kStatefulSets,
        resources::kLeaderWorkerSets, kube::resources::kRoleSets, resources::kPodSets}) {
    const auto objects =
        client.ListObjects(resource, ns, {.label_selector = selector}, nullptr, stop);
    if (!objects) continue;
    for (Json object : *objects) {
      object["kind"] = resource.kind;  // lists leave it out
      ownership.Add(object);
    }
  }
}

kube::Answer<std::vector<Json>> PodGroupsOf(kube::Client& client, const std::string& ns,
                                            const ApplicationOwnership& ownership,
                                            const std::stop_token& stop) {
  auto groups = client.ListObjects(kube::resources::kPodGroups, ns, {}, nullptr, stop);
  std::vector<Json> owned;
  if (!groups) {
    const Reason reason = groups.error().reason;
    if (reason == Reason::kNotFound || reason == Reason::kForbidden) return owned;
    return tl::unexpected(groups.error());
  }
  for (Json& group : *groups) {
    if (!ownership.HasPodGroup(group)) continue;
    group["kind"] = "PodGroup";
    owned.push_back(std::move(group));
  }
  return owned;
}

}  // namespace mindgate::deploy
