#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kube/fake_status.h"
#include "kube/resource.h"

// Those that only tests meet.
namespace mindgate::kube::resources {
inline const Resource kPodDisruptionBudgets{"policy", "v1", "poddisruptionbudgets",
                                            "PodDisruptionBudget", true};
inline const Resource kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
}  // namespace mindgate::kube::resources

namespace mindgate::kube::testing {

// How an API server treats the objects of one resource.
struct FakeResource {
  Resource resource;
  bool custom = false;      // of a CRD: items of lists name their kind, lists in objects are atomic
  bool status = false;      // has a status subresource: other writes leave `status` alone
  bool scale = false;       // discovery lists a scale subresource, which nothing here serves
  bool generation = false;  // metadata.generation counts changes of what is desired
  bool unconditional_update = true;      // an update may leave out metadata.resourceVersion
  bool create_on_update = false;         // an update of what is not there creates it
  bool graceful = false;                 // pods: deletion waits for the kubelet
  bool returns_deleted = false;          // a deletion is answered by the object, else by a Status
  std::vector<std::string> fields = {};  // selectable, besides metadata.name and .namespace
  // What the server fills into a new object; null: nothing.
  std::function<void(Json&)> prepare = {};
  // What is wrong with an object; null: nothing ever is.
  std::function<std::vector<Cause>(const Json&)> validate = {};
};

// The resources that a server serves: those of Kubernetes that mindgate meets, more by Add.
class FakeResources {
 public:
  FakeResources();

  void Add(FakeResource resource);
  // What a CustomResourceDefinition asks for, its versions that are served.
  void AddFrom(const Json& definition);

  // Null: none.
  const FakeResource* Find(const std::string& group, const std::string& version,
                           const std::string& plural) const;
  const FakeResource* Find(const Resource& resource) const {
    return Find(resource.group, resource.version, resource.plural);
  }

  // Answers of discovery: "/api", "/apis", "/apis/apps", "/apis/apps/v1", ...; null: no such path.
  Json Discovery(const std::string& path) const;

 private:
  using GroupVersion = std::pair<std::string, std::string>;

  Json ResourcesOf(const GroupVersion& group_version) const;
  Json GroupOf(const std::string& group) const;

  std::map<GroupVersion, std::map<std::string, FakeResource>> resources_;
};

}  // namespace mindgate::kube::testing
