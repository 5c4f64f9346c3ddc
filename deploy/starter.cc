#include "deploy/application.h"

namespace mindgate::deploy {
namespace {

constexpr std::string_view kOmeStarter =
    R"(# An application with separate prefill and decode instances, served by SGLang on OME.
# mindgate deploy -f FILE deploys it, --dry-run shows the objects.
framework: ome
app_name: chat                     # objects are named after it
app_namespace: default             # it must exist

inference_service:
  model_name: llama-3-1-8b-instruct   # a BaseModel or ClusterBaseModel
  runtime_name: llama-3-1-8b-rt       # a ServingRuntime or ClusterServingRuntime; without it OME chooses one
  # npu_resource: huawei.com/npu      # for Ascend 950; default huawei.com/Ascend910
  engine:                          # prefill
    min_replicas: 1                # instances
    # max_replicas: 1              # default: as many as min_replicas
    pod_num: 1                     # pods of one instance; 2 or more need a runtime with leader and worker
    npu_num: 8                     # NPUs of each pod: 8 on Atlas A2, 16 on Atlas A3
    # image: sglang:1.0            # default: that of the runtime
    dp_size: 1
    tp_size: 8
    pp_size: 1
    # labels: {}                   # also annotations, node_selector, env_vars, resources, tolerations, volumes
  decoder:                         # the same keys; without it the engine does both and there is no store
    npu_num: 8
    tp_size: 8
  router:                          # or router: none, when the router runs elsewhere
    min_replicas: 1

mf_store:                          # where engine and decoder find each other
  image: sglang:1.0                # with memfabric_hybrid newer than 1.0.7
  # container_port: 9000
  # resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: 500m, memory: 256Mi}}
)";

constexpr std::string_view kAibrixStarter =
    R"(# An application with separate prefill and decode instances, served by vLLM on AIBrix.
# mindgate deploy -f FILE deploys it, --dry-run shows the objects.
framework: aibrix
app_name: chat                     # objects are named after it
app_namespace: default             # it must exist

storm_service:
  model_name: qwen3-moe            # the name under which clients ask for it
  model_path: /mnt/models/qwen3-moe
  distributed_dp: "true"           # each data parallel rank is a server of its own; needs routing
  # npu_resource: huawei.com/npu   # for Ascend 950; default huawei.com/Ascend910
  # scripts_config_map: vllm-scripts   # of `mindgate deploy --init aibrix --scripts`; default: /scripts of each node
  # host_paths: {models: /mnt/models, scripts: /scripts, hccn: /etc/hccn.conf}
  prefill:
    replicas: 2                    # instances
    podGroupSize: 1                # pods of one instance
    dp_size: 2                     # dp_size * tp_size = npu_num * podGroupSize
    tp_size: 4
    npu_num: 8                     # NPUs of each pod: 8 on Atlas A2, 16 on Atlas A3
    image: vllm-ascend:v0.11.0
    # labels: {}                   # also annotations, nodeSelector, resources, tolerations and volumes
  decode:                          # the same keys
    replicas: 1
    podGroupSize: 2
    dp_size: 16
    tp_size: 1
    npu_num: 8
    image: vllm-ascend:v0.11.0
  routing:
    replicas: 1
    image: vllm-ascend:v0.11.0
)";

constexpr std::string_view kMindieStarter =
    R"(# An application with separate prefill and decode instances, served by MindIE Motor.
# mindgate deploy -f FILE deploys it, --dry-run shows the objects.
framework: mindie
app_name: chat                     # objects are named after it; also the jobID
app_namespace: default             # it must exist, with the ConfigMaps that come with MindIE Motor

mindie_service:
  image: mindie:1.0.0              # MindIE Motor 2.x is deployed by its own deployer (docs/deploy.md)
  model_path: /data/models/qwen    # a folder of every node, mounted at the same place
  hardware_type: 800I_A2           # or 800I_A3
  # scaling_rule: true             # shrink to fewer prefill instances when NPUs are missing
  # priority_classes: false        # keep decode instances rather than prefill instances
  # service: {port: 1025, node_port: 31020}   # without node_port reachable within the cluster only
  # config_maps: {server: mindie-server-config}   # where they have other names
  # controller: {standby: true}    # a second pod that takes over; also for the coordinator
  prefill:
    instances: 2                   # one AscendJob each
    pod_num: 1                     # pods of one instance
    # npu_num: 8                   # NPUs of each pod; default: all of a server
    # labels: {}                   # also annotations, node_selector, env_vars, resources, tolerations, volumes
  decode:                          # the same keys
    instances: 1
    pod_num: 1
)";

}  // namespace

std::string_view StarterOf(Framework framework) {
  switch (framework) {
    case Framework::kOme:
      return kOmeStarter;
    case Framework::kAibrix:
      return kAibrixStarter;
    case Framework::kMindie:
      return kMindieStarter;
  }
  return "";
}

}  // namespace mindgate::deploy
