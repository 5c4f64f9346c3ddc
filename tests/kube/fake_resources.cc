#include "kube/fake_resources.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::kube::testing {
namespace {

std::vector<Cause> ValidateConfigMap(const Json& object) {
  std::vector<Cause> causes;
  const Json* data = json::Find(object, "data");
  if (!json::IsObject(data)) return causes;
  for (const auto& [key, value] : data->items()) {
    const bool fine = std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (fine && !key.empty()) continue;
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"" + key +
                          "\": a valid config key must consist of alphanumeric characters, "
                          "'-', '_' or '.'",
                      "data[" + key + "]"});
  }
  return causes;
}

std::vector<Cause> ValidateReplicas(const Json& object) {
  const auto replicas = json::AsInt(json::FindPath(object, {"spec", "replicas"}));
  if (!replicas || *replicas >= 0) return {};
  return {{"FieldValueInvalid",
           "Invalid value: " + std::to_string(*replicas) + ": must be greater than or equal to 0",
           "spec.replicas"}};
}

Json Verbs() { return {"create", "delete", "get", "list", "patch", "update", "watch"}; }

}  // namespace

FakeResources::FakeResources() {
  using namespace kube::resources;  // NOLINT
  Add({.resource = kPods,
       .status = true,
       .graceful = true,
       .returns_deleted = true,
       .fields = {"spec.nodeName", "status.phase", "spec.schedulerName"},
       .prepare = [](Json& pod) { pod["status"] = {{"phase", "Pending"}}; }});
  Add({.resource = kNodes, .status = true, .fields = {"spec.unschedulable"}});
  Add({.resource = kNamespaces,
       .status = true,
       .returns_deleted = true,
       .fields = {"status.phase"},
       .prepare = [](Json& ns) { ns["status"] = {{"phase", "Active"}}; }});
  Add({.resource = kSecrets, .fields = {"type"}});
  Add({.resource = kConfigMaps, .validate = ValidateConfigMap});
  Add({.resource = kServices, .status = true, .returns_deleted = true});
  Add({.resource = kDeployments,
       .status = true,
       .scale = true,
       .generation = true,
       .prepare =
           [](Json& deployment) {
             if (!deployment["spec"].contains("replicas")) deployment["spec"]["replicas"] = 1;
           },
       .validate = ValidateReplicas});
  Add({.resource = kEndpointSlices, .generation = true});
  Add({.resource = kLeases, .unconditional_update = false, .create_on_update = true});
  Add({.resource = kEvents,
       .create_on_update = true,
       .fields = {"reason", "type", "reportingController", "regarding.kind", "regarding.name"}});
  Add({.resource = kClusterRoles});
  Add({.resource = kClusterRoleBindings});
  Add({.resource = kMutatingWebhooks, .generation = true, .unconditional_update = false});
  Add({.resource = kValidatingWebhooks, .generation = true, .unconditional_update = false});
  Add({.resource = resources::kPodDisruptionBudgets,
       .status = true,
       .generation = true,
       .unconditional_update = false});
  Add({.resource = resources::kCustomResourceDefinitions,
       .status = true,
       .generation = true,
       .unconditional_update = false,
       .prepare = [](Json& definition) {
         definition["status"]["conditions"] = {{{"type", "Established"}, {"status", "True"}}};
       }});
}

void FakeResources::Add(FakeResource resource) {
  auto& served = resources_[{resource.resource.group, resource.resource.version}];
  const std::string plural = resource.resource.plural;
  served[plural] = std::move(resource);
}

void FakeResources::AddFrom(const Json& definition) {
  const Json& spec = definition.at("spec");
  for (const Json& version : spec.at("versions")) {
    if (!version.value("served", false)) continue;
    FakeResource made{
        .resource = {spec.at("group"), version.at("name"), spec.at("names").at("plural"),
                     spec.at("names").at("kind"), spec.value("scope", "") == "Namespaced"},
        .custom = true,
        .generation = true,
        .unconditional_update = false};
    if (const Json* subresources = json::Find(version, "subresources")) {
      made.status = subresources->contains("status");
      made.scale = subresources->contains("scale");
    }
    Add(std::move(made));
  }
}

const FakeResource* FakeResources::Find(const std::string& group, const std::string& version,
                                        const std::string& plural) const {
  const auto served = resources_.find({group, version});
  if (served == resources_.end()) return nullptr;
  const auto found = served->second.find(plural);
  return found == served->second.end() ? nullptr : &found->second;
}

Json FakeResources::ResourcesOf(const GroupVersion& group_version) const {
  Json list = Json::array();
  const auto add = [&list](const FakeResource& of, const std::string& subresource,
                           const std::string& kind, Json verbs) {
    Json entry = {{"name", of.resource.plural + subresource},
                  {"singularName", subresource.empty() ? ToLower(of.resource.kind) : ""},
                  {"namespaced", of.resource.namespaced},
                  {"kind", kind},
                  {"verbs", std::move(verbs)}};
    if (subresource == "/scale") entry.update({{"group", "autoscaling"}, {"version", "v1"}});
    if (subresource == "/eviction") entry.update({{"group", "policy"}, {"version", "v1"}});
    list.push_back(std::move(entry));
  };
  for (const auto& [plural, of] : resources_.at(group_version)) {
    add(of, "", of.resource.kind, Verbs());
    if (of.graceful) add(of, "/eviction", "Eviction", {"create"});
    if (of.scale) add(of, "/scale", "Scale", {"get", "patch", "update"});
    if (of.status) add(of, "/status", of.resource.kind, {"get", "patch", "update"});
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group_version.first.empty()
                               ? group_version.second
                               : group_version.first + "/" + group_version.second},
          {"resources", list}};
}

Json FakeResources::GroupOf(const std::string& group) const {
  Json versions = Json::array();
  for (const auto& [served, _] : resources_) {
    if (served.first != group) continue;
    versions.push_back({{"groupVersion", group + "/" + served.second}, {"version", served.second}});
  }
  return {{"name", group}, {"versions", versions}, {"preferredVersion", versions.back()}};
}

Json FakeResources::Discovery(const std::string& path) const {
  const std::vector<std::string_view> parts = Split(path, '/');  // "", "apis", "apps", "v1"
  if (path == "/api") return {{"kind", "APIVersions"}, {"versions", {"v1"}}};
  if (path == "/api/v1") return ResourcesOf({"", "v1"});
  if (parts.size() < 2 || parts[1] != "apis") return nullptr;
  std::set<std::string> groups;
  for (const auto& [served, _] : resources_) {
    if (!served.first.empty()) groups.insert(served.first);
  }
  if (parts.size() == 2) {
    Json list = Json::array();
    for (const std::string& group : groups) list.push_back(GroupOf(group));
    return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", list}};
  }
  const std::string group(parts[2]);
  if (!groups.contains(group)) return nullptr;
  if (parts.size() == 3) {
    Json found = GroupOf(group);
    found.update({{"kind", "APIGroup"}, {"apiVersion", "v1"}});
    return found;
  }
  const GroupVersion asked(group, parts[3]);
  return parts.size() == 4 && resources_.contains(asked) ? ResourcesOf(asked) : Json(nullptr);
}

}  // namespace mindgate::kube::testing
