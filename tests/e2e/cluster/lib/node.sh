# The one real node: containerd, kubelet and kube-proxy, in the cluster's namespaces. Sourced.
# shellcheck shell=bash

node=real-0

# in_node COMMAND...: the words that put a part into the cluster's network and among its files.
in_node() {
  wrapped=(nsenter --target "$(pid_of holder)" --net --mount -- "$@")
}

# own_program NAME: a copy in the run folder, since the cluster does not see the machine's /tmp and /var/lib, where the
# cache may be.
own_program() {
  local source
  source=$(readlink -f "$run/bin/$1")
  rm "$run/bin/$1"
  ln "$source" "$run/bin/$1" 2>/dev/null || cp "$source" "$run/bin/$1"
}

start_containerd() {
  local start=$EPOCHREALTIME
  mkdir -p "$run/cni"
  cat >"$run/containerd/config.toml" <<END
version = 2
root = "$run/containerd/data/root"
state = "$run/containerd/data/state"
[grpc]
  address = "$run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true # runc fails without CAP_SYS_RESOURCE otherwise
  [plugins."io.containerd.grpc.v1.cri".containerd]
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$run/cni"
END
  cat >"$run/cni/10-bridge.conflist" <<END
{
  "cniVersion": "0.4.0",
  "name": "mindgate-e2e",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "$bridge",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "$pod_range.0/24", "rangeStart": "$pod_range.10"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
END
  in_node containerd --config "$run/containerd/config.toml"
  define containerd "${wrapped[@]}"
  launch containerd
  await 30 "containerd" containerd ctr --address "$run/containerd/containerd.sock" version
  done_since "containerd $(containerd --version | cut -d' ' -f3) ready" "$start"
}

# kubelet_settings_of_this_machine: what depends on the machine and on the version.
kubelet_settings_of_this_machine() {
  if cgroup_version_1 && [ "$k8s" != 1.30 ]; then
    echo "failCgroupV1: false" # 1.30 does not know it, 1.35 and later refuse version 1 without it
  fi
}

start_kubelet() {
  mkdir -p "$run/kubelet"
  own_program kubelet
  kubeconfig "$run/pki/kubelet.kubeconfig" "https://$api_address:$api_port" kubelet
  echo "nameserver 127.0.0.1" >"$run/kubelet/resolv.conf" # there is no cluster DNS
  cat >"$run/kubelet/config.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_address
authentication:
  anonymous: {enabled: false}
  x509: {clientCAFile: $run/pki/ca.crt}
  webhook: {enabled: true}
authorization: {mode: Webhook}
tlsCertFile: $run/pki/kubelet.crt
tlsPrivateKeyFile: $run/pki/kubelet.key
healthzBindAddress: 127.0.0.1
containerRuntimeEndpoint: unix://$run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$name
enforceNodeAllocatable: []
failSwapOn: false
resolvConf: $run/kubelet/resolv.conf
volumePluginDir: $run/kubelet/plugins
syncFrequency: 10s # mounted Secrets follow within seconds rather than a minute
# Images come from archives, once: nothing may be evicted or collected for want of disk.
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 50Mi, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%}
$(kubelet_settings_of_this_machine)
END
  in_node "$run/bin/kubelet" --config "$run/kubelet/config.yaml" --kubeconfig "$run/pki/kubelet.kubeconfig" \
    --root-dir "$run/kubelet/root" --cert-dir "$run/kubelet/pki" --hostname-override "$node" --node-ip "$node_address" \
    --node-labels masterselector=dls-master-node --v 2
  define kubelet "${wrapped[@]}"
  launch kubelet
}

start_proxy() {
  own_program kube-proxy
  kubeconfig "$run/pki/kube-proxy.kubeconfig" "https://$api_address:$api_port" kube-proxy
  # Bridged packets may bypass iptables on this kernel (no br_netfilter), hence --masquerade-all: answers come back to the
  # node. The conntrack settings are read-only in a namespace; 0 leaves them alone.
  in_node "$run/bin/kube-proxy" --kubeconfig "$run/pki/kube-proxy.kubeconfig" --hostname-override "$node" \
    --proxy-mode iptables --masquerade-all --cluster-cidr "$pod_range.0/24" --bind-address "$node_address" \
    --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0s --conntrack-tcp-timeout-close-wait 0s \
    --healthz-bind-address 127.0.0.1:10256 --metrics-bind-address 127.0.0.1:10249 --v 2
  define proxy "${wrapped[@]}"
  launch proxy
}

# node_is_ready NAME
node_is_ready() {
  api "/api/v1/nodes/$1" | tr -d ' \n' | grep -q '"type":"Ready","status":"True"'
}
