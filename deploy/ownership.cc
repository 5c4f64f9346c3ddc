#include "deploy/ownership.h"

#include <utility>

#include "deploy/cluster.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
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
                  const std::stop_token& stop, ApplicationOwnership& kinship) {
  for (const kube::Resource& resource :
       {kube::resources::kDeployments, kube::resources::kReplicaSets, resources::kStatefulSets,
        resources::kLeaderWorkerSets, kube::resources::kRoleSets, resources::kPodSets}) {
    const auto objects =
        client.ListObjects(resource, ns, {.label_selector = selector}, nullptr, stop);
    if (!objects) continue;
    for (Json object : *objects) {
      object["kind"] = resource.kind;  // lists leave it out
      kinship.Add(object);
    }
  }
}

kube::Answer<std::vector<Json>> PodGroupsOf(kube::Client& client, const std::string& ns,
                                            const ApplicationOwnership& kinship,
                                            const std::stop_token& stop) {
  auto groups = client.ListObjects(kube::resources::kPodGroups, ns, {}, nullptr, stop);
  std::vector<Json> kin;
  if (!groups) {
    const Reason reason = groups.error().reason;
    if (reason == Reason::kNotFound || reason == Reason::kForbidden) return kin;
    return tl::unexpected(groups.error());
  }
  for (Json& group : *groups) {
    if (!kinship.HasPodGroup(group)) continue;
    group["kind"] = "PodGroup";
    kin.push_back(std::move(group));
  }
  return kin;
}

}  // namespace mindgate::deploy
