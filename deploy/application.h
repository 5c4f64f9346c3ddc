#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/value.h"

namespace mindgate::deploy {

// What pods take besides labels, annotations and a node selector, with the names of Kubernetes.

struct Toleration {
  std::string key;  // empty: all keys
  std::string op = "Equal";
  std::string value;
  std::string effect;              // empty: all effects
  std::optional<int64_t> seconds;  // of NoExecute
};

struct EmptyDir {
  bool in_memory = false;
  std::optional<std::string> size_limit;
};

// A volume and where the container sees it. One of the sources is set.
struct VolumeSettings {
  std::string name;
  std::string mount_path;  // empty: mindgate mounts a volume of this name already
  std::string sub_path;
  bool read_only = false;
  std::optional<std::string> claim;  // PersistentVolumeClaim
  std::optional<std::string> config_map;
  std::optional<std::string> secret;
  std::optional<std::string> host_path;
  std::optional<EmptyDir> empty_dir;
};

struct PodExtras {
  std::vector<Toleration> tolerations;
  std::vector<std::string> image_pull_secrets;
  std::string priority_class;  // empty: that of the namespace's default
  std::vector<VolumeSettings> volumes;

  bool empty() const {
    return tolerations.empty() && image_pull_secrets.empty() && priority_class.empty() &&
           volumes.empty();
  }
};

// A one-click application as its configuration file describes it. Defaults are those that the
// comments of mindcluster-deploy's own files document (k8s-deploy-tool/config).

enum class Framework { kOme, kAibrix, kMindie };

inline constexpr Framework kFrameworks[] = {Framework::kOme, Framework::kAibrix,
                                            Framework::kMindie};

std::string_view FrameworkName(Framework framework);  // "ome": the value of `framework:`
std::optional<Framework> FrameworkNamed(std::string_view name);
std::string_view BlockOf(Framework framework);  // "inference_service": the block of its settings

using StringMap = std::map<std::string, std::string, std::less<>>;
// In the order of the file: a variable may refer to those before it.
using Variables = std::vector<std::pair<std::string, std::string>>;

// What every kind of pod takes.
struct PodSettings {
  StringMap labels;
  StringMap annotations;
  StringMap node_selector;
  PodExtras extras;
};

struct Amounts {
  std::optional<std::string> memory;
  std::optional<std::string> cpu;
};

// Of a container, besides NPUs.
struct ResourceSettings {
  Amounts requests;
  Amounts limits;
};

inline constexpr const char* kDefaultNpuResource = "huawei.com/Ascend910";

// --- OME ---------------------------------------------------------------------------------------

struct OmeComponent {
  int64_t min_replicas = 1;
  std::optional<int64_t> max_replicas;  // absent: min_replicas
  int64_t pod_num = 1;                  // pods of one instance; several make a LeaderWorkerSet
  int64_t npu_num = 1;                  // of each pod; 0 requests none
  int64_t dp_size = 1;
  int64_t tp_size = 1;
  int64_t pp_size = 1;
  std::optional<std::string> image;  // absent: that of the runtime
  PodSettings pods;
  Variables variables;
  ResourceSettings resources;

  int64_t Max() const { return max_replicas.value_or(min_replicas); }
};

struct OmeRouter {
  int64_t min_replicas = 1;
  std::optional<int64_t> max_replicas;
  std::optional<std::string> image;
  PodSettings pods;
  Variables variables;
  ResourceSettings resources;

  int64_t Max() const { return max_replicas.value_or(min_replicas); }
};

struct ProbeSettings {
  std::optional<int64_t> port;  // absent: the container's
  int64_t initial_delay_seconds = 0;
  int64_t period_seconds = 0;
  int64_t failure_threshold = 0;
};

// The MemFabric store, through which engine and decoder find each other.
struct MfStore {
  std::string image;
  int64_t container_port = 9000;
  Variables variables;
  StringMap node_selector;
  PodExtras extras;
  std::optional<ResourceSettings> resources;
  std::optional<ProbeSettings> readiness;
  std::optional<ProbeSettings> startup;
  std::optional<ProbeSettings> liveness;
};

struct OmeService {
  std::string model_name;
  std::optional<std::string> runtime_name;  // absent: OME chooses one that fits the model
  std::string npu_resource = kDefaultNpuResource;
  OmeComponent engine;
  std::optional<OmeComponent> decoder;
  std::optional<OmeRouter> router;
  std::optional<MfStore> store;  // present when the decoder is
};

// --- AIBrix ------------------------------------------------------------------------------------

struct StormRole {
  int64_t replicas = 1;        // instances
  int64_t pod_group_size = 1;  // pods of one instance
  int64_t dp_size = 1;
  int64_t tp_size = 1;
  int64_t npu_num = 1;  // of each pod
  std::string image;
  PodSettings pods;
  ResourceSettings resources;
};

struct StormRouting {
  int64_t replicas = 1;
  int64_t server_port = 8080;
  std::string image;
  PodSettings pods;
  ResourceSettings resources;
};

// Where the nodes, or a ConfigMap, keep what the containers read.
struct StormPaths {
  std::string models = "/mnt/models";
  std::string scripts = "/scripts";
  std::string hccn = "/etc/hccn.conf";
};

struct StormService {
  std::string model_name;
  std::string model_path;
  bool distributed_dp = true;
  int64_t server_port = 8080;  // of the first server in a pod
  std::string npu_resource = kDefaultNpuResource;
  StormPaths host_paths;
  std::optional<std::string> scripts_config_map;  // instead of host_paths.scripts
  StormRole prefill;
  StormRole decode;
  std::optional<StormRouting> routing;
};

// --- MindIE Motor ------------------------------------------------------------------------------

enum class MindieHardware { kA2, kA3 };

// Controller and coordinator.
struct MindieManager {
  bool standby = false;  // a second pod that takes over
  PodSettings pods;
  Variables variables;
  ResourceSettings resources;
};

// Prefill and decode instances, one AscendJob each.
struct MindieRole {
  int64_t instances = 1;
  int64_t pod_num = 1;             // pods of one instance
  std::optional<int64_t> npu_num;  // of each pod; absent: all of a server
  bool distributed = false;
  PodSettings pods;
  Variables variables;
  ResourceSettings resources;
};

// ConfigMaps of the namespace that come with MindIE Motor and are not made here.
struct MindieConfigMaps {
  std::string environment = "common-env";
  std::string boot = "boot-bash-script";
  std::string group_id = "python-script-get-group-id";
  std::string server_update = "python-script-update-server-conf";
  std::string http_client = "mindie-http-client-ctl-config";
  std::string controller = "mindie-ms-controller-config";
  std::string coordinator = "mindie-ms-coordinator-config";
  std::string server = "mindie-server-config";
};

struct MindieEntry {
  int64_t port = 1025;
  std::optional<int64_t> node_port;  // absent: a ClusterIP Service
};

struct MindieService {
  // Atlas 800I A2 has 8 NPUs, A3 has 16.
  int64_t NpusOf(const MindieRole& role) const {
    return role.npu_num.value_or(hardware == MindieHardware::kA3 ? 16 : 8);
  }

  std::string image;
  std::string model_path;  // a folder of the nodes, mounted at the same place
  MindieHardware hardware = MindieHardware::kA2;
  std::string npu_resource = kDefaultNpuResource;
  std::string queue = "default";
  int64_t fault_retry_times = 10000;
  bool scaling_rule = true;
  bool priority_classes = false;
  MindieConfigMaps config_maps;
  MindieEntry service;
  MindieManager controller;
  MindieManager coordinator;
  MindieRole prefill;
  MindieRole decode;
};

// -----------------------------------------------------------------------------------------------

// What the file changes of the objects that are rendered (deploy/render.h).
struct ObjectPatch {
  std::string kind;
  std::string name;  // empty: all of the kind
  json::Json body;   // a list of operations, or an object to merge
};

struct Application {
  std::string name;
  std::string ns = "default";
  std::variant<OmeService, StormService, MindieService> service;
  std::vector<ObjectPatch> patches;

  Framework framework() const { return static_cast<Framework>(service.index()); }
};

// A name that follows from the application's, and what bears it.
struct DerivedName {
  std::string name;
  std::string what;  // "Service", "pod"
};

// Names that are host names, Service names or values of labels: at most kMaxLabel characters each.
// Ours, and those that controllers make of them; of a row of names the longest.
std::vector<DerivedName> DerivedNames(const Application& application);

// A configuration to start from, with comments on every key. It is accepted as it stands.
std::string_view StarterOf(Framework framework);

// A ConfigMap with start_server.sh and start_proxy.sh for AIBrix, which `scripts_config_map` takes.
// A server that crashes makes its pod fail.
std::string_view StartScripts();

}  // namespace mindgate::deploy
