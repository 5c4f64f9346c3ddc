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

// What the pods of a StormService run: the contract is that of mindcluster-deploy, k8s-deploy-tool,
// whose scripts read the same variables.

namespace {

constexpr std::string_view kScripts =
    R"sh(# The start scripts of an AIBrix application that is served by vLLM.
#
#   mindgate deploy --init aibrix --scripts | kubectl apply -n NAMESPACE -f -
#
# and `scripts_config_map: vllm-scripts` under storm_service of its file. Variables of the pods change them: `env_vars` of a role.
apiVersion: v1
kind: ConfigMap
metadata:
  name: vllm-scripts
data:
  start_server.sh: |
    #!/bin/bash
    # Starts the servers of one pod and watches them. When one of them ends, the others are ended, too, and the pod fails with its
    # exit code, so that the kubelet and MindCluster see the crash. A server that ends by itself with 0 counts as failed.
    #
    # VLLM_ARGS              more arguments of `vllm serve`, separated by blanks
    # KV_TRANSFER_CONFIG     instead of the one below, for another connector
    # SERVER_PORT            of the first server (8080), DATA_PARALLEL_RPC_PORT (13389), KV_PORT (30000)
    set -uo pipefail

    case ${ROLE_NAME:-} in
      prefill) dp=$PREFILL_DP_SIZE tp=$PREFILL_TP_SIZE kv_role=kv_producer engine=$ROLE_REPLICA_INDEX ;;
      decode) dp=$DECODE_DP_SIZE tp=$DECODE_TP_SIZE kv_role=kv_consumer engine=$((PREFILL_NUM + ROLE_REPLICA_INDEX)) ;;
      *) echo "start_server.sh: the role is \"${ROLE_NAME:-}\", neither prefill nor decode" >&2; exit 2 ;;
    esac
    pods=${POD_GROUP_SIZE:-1} pod=${POD_GROUP_INDEX:-0} port=${SERVER_PORT:-8080}
    if ((dp % pods != 0)); then
      echo "start_server.sh: dp_size $dp is not a multiple of podGroupSize $pods" >&2
      exit 2
    fi
    ranks=$((dp / pods)) first=$((dp / pods * pod))
    head=$POD_IP
    if ((pod > 0)); then
      head=$ROLESET_NAME-$ROLE_NAME-$ROLE_TEMPLATE_HASH-$ROLE_REPLICA_INDEX-0.$STORM_SERVICE_NAME
    fi
    kv=${KV_TRANSFER_CONFIG:-$(printf '%s' \
      '{"kv_connector": "MooncakeLayerwiseConnector",' \
      ' "kv_connector_module_path": "vllm_ascend.distributed.mooncake_layerwise_connector",' \
      " \"kv_role\": \"$kv_role\", \"kv_port\": \"${KV_PORT:-30000}\", \"engine_id\": \"$engine\"," \
      ' "kv_connector_extra_config": {"use_ascend_direct": true,' \
      " \"prefill\": {\"dp_size\": $PREFILL_DP_SIZE, \"tp_size\": $PREFILL_TP_SIZE}," \
      " \"decode\": {\"dp_size\": $DECODE_DP_SIZE, \"tp_size\": $DECODE_TP_SIZE}}}")}

    # serve PORT ARGUMENT...
    serve() {
      # shellcheck disable=SC2086 # VLLM_ARGS are several
      vllm serve "$MODEL_PATH" --host "$POD_IP" --port "$1" --served-model-name "$MODEL_NAME" --tensor-parallel-size "$tp" \
        --data-parallel-size "$dp" --data-parallel-address "$head" --data-parallel-rpc-port "${DATA_PARALLEL_RPC_PORT:-13389}" \
        --kv-transfer-config "$kv" "${@:2}" ${VLLM_ARGS:-} &
      servers+=($!)
    }

    servers=() asked=
    trap 'asked=yes; kill -TERM "${servers[@]}" 2>/dev/null' TERM INT
    if [ "${DISTRIBUTED_DP:-false}" = true ]; then
      for ((i = 0; i < ranks; i++)); do
        ASCEND_RT_VISIBLE_DEVICES=$(seq -s , $((i * tp)) $(((i + 1) * tp - 1)))
        export ASCEND_RT_VISIBLE_DEVICES
        serve $((port + i)) --data-parallel-rank $((first + i))
      done
    elif ((pod > 0)); then
      serve "$port" --headless --data-parallel-size-local "$ranks" --data-parallel-start-rank "$first"
    else
      serve "$port" --data-parallel-size-local "$ranks"
    fi

    # One that was started while the pod was asked to end.
    [ -n "$asked" ] && kill -TERM "${servers[@]}" 2>/dev/null
    wait -n
    code=$?
    if [ -z "$asked" ]; then
      echo "start_server.sh: a server ended with exit code $code, and the pod ends with it" >&2
      kill -TERM "${servers[@]}" 2>/dev/null
    fi
    wait
    [ -n "$asked" ] && exit 0
    [ "$code" = 0 ] && code=1
    exit "$code"
  start_proxy.sh: |
    #!/bin/bash
    # Starts the proxy in front of all servers, whose names are those of the Services of `mindgate deploy`. The proxy is that of
    # vllm-ascend (examples/disaggregated_prefill_v1); PROXY names it in the image.
    set -euo pipefail

    port=${SERVER_PORT:-8080}
    hosts=() ports=()
    # servers ROLE INSTANCES PODS DP_SIZE: fills hosts and ports.
    servers() {
      local i j k pods=$3 each=1
      hosts=() ports=()
      if [ "${DISTRIBUTED_DP:-false}" = true ]; then each=$(($4 / $3)); else pods=1; fi
      for ((i = 0; i < $2; i++)); do
        for ((j = 0; j < pods; j++)); do
          for ((k = 0; k < each; k++)); do
            if (($3 > 1)); then hosts+=("$STORM_SERVICE_NAME-$1-$i-$j"); else hosts+=("$STORM_SERVICE_NAME-$1-$i"); fi
            ports+=($((port + k)))
          done
        done
      done
    }

    servers prefill "$PREFILL_NUM" "$PREFILL_POD" "$PREFILL_DP_SIZE"
    arguments=(--prefiller-hosts "${hosts[@]}" --prefiller-ports "${ports[@]}")
    servers decode "$DECODE_NUM" "$DECODE_POD" "$DECODE_DP_SIZE"
    arguments+=(--decoder-hosts "${hosts[@]}" --decoder-ports "${ports[@]}")
    proxy=/vllm-workspace/vllm-ascend/examples/disaggregated_prefill_v1/load_balance_proxy_layerwise_server_example.py
    exec python3 "${PROXY:-$proxy}" --host "$POD_IP" --port "${PROXY_PORT:-8080}" "${arguments[@]}"
)sh";

}  // namespace

std::string_view StartScripts() { return kScripts; }

}  // namespace mindgate::deploy
