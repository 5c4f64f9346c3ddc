# Simulated NPU nodes: kwok keeps them and their pods alive. Sourced.
# shellcheck shell=bash

# device_infos NODE-NUMBER: the chips of a server as the device plugin of MindCluster announces them.
device_infos() {
  local chip infos=""
  for chip in 0 1 2 3 4 5 6 7; do
    infos+=",\"Ascend910-$chip\":{\"IP\":\"10.20.$1.$chip\",\"SuperDeviceID\":0}"
  done
  echo "{${infos#,}}"
}

# npu_node NUMBER: a server of eight chips, labelled as a person and the device plugin of MindCluster label it.
npu_node() {
  cat <<END
---
apiVersion: v1
kind: Node
metadata:
  name: npu-$1
  labels:
    type: kwok
    kubernetes.io/hostname: npu-$1
    kubernetes.io/os: linux
    kubernetes.io/arch: arm64
    node-role.kubernetes.io/worker: worker
    workerselector: dls-worker-node
    host-arch: huawei-arm
    accelerator: huawei-Ascend910
    accelerator-type: module-910b-8
    servertype: Ascend910-20
    server-usage: infer
  annotations:
    kwok.x-k8s.io/node: fake
    baseDeviceInfos: '$(device_infos "$1")'
status:
  nodeInfo: {architecture: arm64, operatingSystem: linux, kubeletVersion: v$k8s.0}
  allocatable: &resources
    cpu: "192"
    memory: 1536Gi
    ephemeral-storage: 3Ti
    pods: "5000" # more than a kubelet takes, for tests with many pods
    huawei.com/Ascend910: "8"
  capacity: *resources
END
}

start_kwok() {
  local version stages
  stages=$(dirname "$(readlink -f "$run/bin/kwok")")/stages
  # pod-complete, which ends the pods of every owner of kind Job at once (vcjobs too), is left out.
  for version in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease node/chaos/node-not-ready \
    pod/fast/pod-ready pod/fast/pod-delete pod/chaos/pod-container-running-failed; do
    printf -- '---\n'
    cat "$stages/$version.yaml"
  done >"$run/kwok-stages.yaml"
  within "$run/bin/kwok" --kubeconfig "$run/kubeconfig" --config "$run/kwok-stages.yaml" \
    --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake --node-lease-duration-seconds 40 \
    --cidr 10.245.0.0/16 --node-ip "$node_address" --server-address 127.0.0.1:10247
  define kwok "${wrapped[@]}"
  launch kwok
}

create_npu_nodes() {
  local number
  for number in $(seq 0 $(($1 - 1))); do npu_node "$number"; done | kubectl create -f - >/dev/null
}
