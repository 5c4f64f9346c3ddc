#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace mindgate::kube {

// One collection of an API, as its paths name it.
struct Resource {
  std::string group;    // empty: the core group
  std::string version;  // "v1"
  std::string plural;   // "pods"
  std::string kind;     // "Pod"
  bool namespaced = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  friend bool operator==(const Resource&, const Resource&) = default;
};

// Whether an API server may have a version of that name: v1, v1beta2, v2alpha1. Others are not
// prevented anywhere, so that tenants can write any text there (the apiVersion of an owner).
bool IsVersion(std::string_view version);

// "/apis/apps/v1/namespaces/default/deployments/web/scale". An empty namespace of a namespaced
// resource means all of them (lists and watches only); an empty name, the collection.
//
// Whatever the texts hold, the path has these segments and no others: each is encoded. Empty where
// that cannot be: the version is none (IsVersion), the plural is empty, or a segment is "." or
// "..", which proxies take for folders.
std::string PathOf(const Resource& resource, std::string_view ns, std::string_view name = {},
                   std::string_view subresource = {});

namespace resources {
inline const Resource kPods{"", "v1", "pods", "Pod", true};
inline const Resource kNodes{"", "v1", "nodes", "Node", false};
inline const Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline const Resource kSecrets{"", "v1", "secrets", "Secret", true};
inline const Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};
inline const Resource kServices{"", "v1", "services", "Service", true};
inline const Resource kDeployments{"apps", "v1", "deployments", "Deployment", true};
inline const Resource kReplicaSets{"apps", "v1", "replicasets", "ReplicaSet", true};
inline const Resource kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice",
                                      true};
inline const Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline const Resource kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline const Resource kMutatingWebhooks{"admissionregistration.k8s.io", "v1",
                                        "mutatingwebhookconfigurations",
                                        "MutatingWebhookConfiguration", false};
inline const Resource kValidatingWebhooks{"admissionregistration.k8s.io", "v1",
                                          "validatingwebhookconfigurations",
                                          "ValidatingWebhookConfiguration", false};
inline const Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles",
                                    "ClusterRole", false};
inline const Resource kClusterRoleBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings",
                                           "ClusterRoleBinding", false};
inline const Resource kRoleSets{"orchestration.aibrix.ai", "v1alpha1", "rolesets", "RoleSet", true};
inline const Resource kResourceQuotas{"", "v1", "resourcequotas", "ResourceQuota", true};
inline const Resource kQueues{"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false};
inline const Resource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true};
inline const Resource kServingRuntimes{"ome.io", "v1beta1", "servingruntimes", "ServingRuntime",
                                       true};
inline const Resource kClusterServingRuntimes{"ome.io", "v1beta1", "clusterservingruntimes",
                                              "ClusterServingRuntime", false};
}  // namespace resources

// A label selector as kubectl's -l takes it, as the LabelSelector of an object: "a=b", "a!=b",
// "a in (b,c)", "a notin (b)", "a", "!a", several with commas between them. The message says what
// is wrong, without the whole text.
Result<json::Json> ParseLabelSelector(std::string_view text);

// Kubernetes' LabelSelector; null selects everything.
bool Selects(const json::Json* selector, const json::Json* labels);

}  // namespace mindgate::kube
