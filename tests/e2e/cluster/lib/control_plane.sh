# etcd and the control plane, in full mode (in the cluster's namespaces) and in loopback mode (on 127.0.0.1). Sourced.
# shellcheck shell=bash

# within COMMAND...: the words that put a part into the cluster's network; none in loopback mode.
within() {
  wrapped=("$@")
  [ "$mode" != full ] || wrapped=(nsenter --target "$(pid_of holder)" --net -- "$@")
}

# api PATH: asks the API server as the administrator, with curl, which starts faster than kubectl.
api() {
  curl --silent --fail --max-time 5 --cacert "$run/pki/ca.crt" --cert "$run/pki/admin.crt" --key "$run/pki/admin.key" \
    "https://$api_address:$api_port$1"
}

start_etcd() {
  local start=$EPOCHREALTIME
  within "$run/bin/etcd" --name default --data-dir "$run/etcd" --log-level warn --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$etcd_peer_port" \
    --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port" \
    --initial-cluster "default=http://127.0.0.1:$etcd_peer_port"
  define etcd "${wrapped[@]}"
  launch etcd
  within curl --silent --fail --max-time 2 "http://127.0.0.1:$etcd_port/health"
  await 30 "healthy etcd" etcd "${wrapped[@]}"
  done_since "etcd ready" "$start"
}

# webhook_clients: the API server shows a client certificate to the webhooks of mindgate. Volcano's admission refuses one that its
# own CA did not sign.
webhook_clients() {
  cat >"$run/pki/webhooks.kubeconfig" <<END
apiVersion: v1
kind: Config
users:
  - name: "*.mindgate-system.svc"
    user: {client-certificate: $run/pki/webhook-client.crt, client-key: $run/pki/webhook-client.key}
END
  printf 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n'
  printf -- '  - name: %s\n    configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %s}\n' \
    MutatingAdmissionWebhook "$run/pki/webhooks.kubeconfig" ValidatingAdmissionWebhook "$run/pki/webhooks.kubeconfig"
}

start_apiserver() {
  local start=$EPOCHREALTIME flags
  webhook_clients >"$run/admission.yaml"
  flags=(
    --etcd-servers "http://127.0.0.1:$etcd_port"
    --secure-port "$api_port"
    --service-cluster-ip-range "$service_range"
    --client-ca-file "$run/pki/ca.crt"
    --tls-cert-file "$run/pki/apiserver.crt" --tls-private-key-file "$run/pki/apiserver.key"
    --kubelet-certificate-authority "$run/pki/ca.crt"
    --kubelet-client-certificate "$run/pki/admin.crt" --kubelet-client-key "$run/pki/admin.key"
    --kubelet-preferred-address-types InternalIP
    --service-account-issuer https://kubernetes.default.svc
    --service-account-key-file "$run/pki/service-accounts.pub"
    --service-account-signing-key-file "$run/pki/service-accounts.key"
    --authorization-mode Node,RBAC
    --enable-admission-plugins NodeRestriction
    --admission-control-config-file "$run/admission.yaml"
    --allow-privileged
    --v 2
  )
  if [ "$mode" = full ]; then
    flags+=(--advertise-address "$node_address")
  else # nobody but clients on this machine; no Service leads to it
    flags+=(--bind-address 127.0.0.1 --advertise-address 127.0.0.1 --endpoint-reconciler-type none)
  fi
  # Beta in 1.34, for tests of what `mindgate export map` prints.
  [ "$k8s" = 1.30 ] ||
    flags+=(--feature-gates MutatingAdmissionPolicy=true --runtime-config admissionregistration.k8s.io/v1beta1=true)
  within "$run/bin/kube-apiserver" "${flags[@]}"
  define apiserver "${wrapped[@]}"
  launch apiserver
  await 60 "ready API server" apiserver api /readyz
  done_since "kube-apiserver $(api /version | sed -n 's/.*"gitVersion": "\(.*\)".*/\1/p') ready" "$start"
}

# Nodes that fall silent for some seconds are a machine that does other work: no test waits for their failure.
start_controller_manager() {
  kubeconfig "$run/pki/kube-controller-manager.kubeconfig" "https://$api_address:$api_port" kube-controller-manager
  within "$run/bin/kube-controller-manager" --kubeconfig "$run/pki/kube-controller-manager.kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$controller_manager_port" --leader-elect=false \
    --node-monitor-grace-period 5m --use-service-account-credentials \
    --service-account-private-key-file "$run/pki/service-accounts.key" \
    --root-ca-file "$run/pki/ca.crt" \
    --cluster-signing-cert-file "$run/pki/ca.crt" --cluster-signing-key-file "$run/pki/ca.key" --v 2
  define controller-manager "${wrapped[@]}"
  launch controller-manager
}

start_scheduler() {
  kubeconfig "$run/pki/kube-scheduler.kubeconfig" "https://$api_address:$api_port" kube-scheduler
  within "$run/bin/kube-scheduler" --kubeconfig "$run/pki/kube-scheduler.kubeconfig" --bind-address 127.0.0.1 \
    --leader-elect=false --v 2
  define scheduler "${wrapped[@]}"
  launch scheduler
}

# controllers_ready: the default service account is the first thing the controllers make that pods need.
controllers_ready() {
  api /api/v1/namespaces/default/serviceaccounts/default
}
