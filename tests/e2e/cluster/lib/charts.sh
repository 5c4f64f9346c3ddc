# LeaderWorkerSet and Volcano from their own charts, and the CRDs of everything else. Sourced.
# shellcheck shell=bash

crds=$repository/tests/fixtures/crds

# chart PROGRAM: the chart that the tools keep beside the program.
chart() {
  echo "$(dirname "$(readlink -f "$run/bin/$1")")/chart"
}

# install_lws: without the election of a leader, which its chart cannot switch off. A controller that loses its lease ends, and
# tests stop the API server so often that it would be started again minutes later.
install_lws() {
  cp -r "$(chart lws)" "$run/lws-chart"
  sed -i 's/leaderElect: true/leaderElect: false/' "$run/lws-chart/templates/manager/configmap.yaml"
  helm install lws "$run/lws-chart" --namespace lws-system --create-namespace --values "$cluster/config/lws.yaml"
}

# install_volcano on|off: with or without its admission; also changes the one for the other.
install_volcano() {
  local flags=(--namespace volcano-system --create-namespace --values "$cluster/config/volcano.yaml")
  if [ "$1" = on ]; then
    # The chart makes its Secret with a job that needs a shell and kubectl in the image: made here instead, hooks left out.
    volcano_secret
    flags+=(--set custom.admission_enable=true)
  fi
  helm upgrade --install --no-hooks volcano "$(chart vc-scheduler)" "${flags[@]}"
}

volcano_secret() {
  local service=volcano-admission-service.volcano-system.svc
  certificate volcano-admission "/CN=$service" extendedKeyUsage=serverAuth "subjectAltName=DNS:$service"
  kubectl create namespace volcano-system --dry-run=client -o yaml | kubectl apply --server-side -f -
  kubectl create secret generic volcano-admission-secret --namespace volcano-system --dry-run=client -o yaml \
    --from-file "ca.crt=$run/pki/ca.crt" --from-file "tls.crt=$run/pki/volcano-admission.crt" \
    --from-file "tls.key=$run/pki/volcano-admission.key" | kubectl apply --server-side -f -
}

# install_crds: those of tests/fixtures/crds; where LWS and Volcano run, their charts bring theirs, which fit that version.
install_crds() {
  local files=("$crds"/{aibrix,mind-cluster,ome,policy-reports}/*.yaml)
  [ "$mode" = full ] || files+=("$crds"/{lws,volcano}/*.yaml)
  local created deadline=$((SECONDS + 60))
  created=$(kubectl create --validate=false --output name "${files[@]/#/--filename=}") || return
  # kubectl does not wait for what has no list of conditions yet, and a CRD has none at first.
  # shellcheck disable=SC2086 # one word each
  until kubectl wait --for condition=Established --timeout 60s $created; do
    [ "$SECONDS" -lt "$deadline" ] || return
    sleep 0.2
  done
}

# controllers_run NAMESPACE: waits for every Deployment in it.
controllers_run() {
  kubectl rollout status --namespace "$1" --timeout 120s deployment
}

# lws_admission_answers: the Deployment is available before the kubelet has shown it the certificate that it made for itself.
lws_admission_answers() {
  [ "$(kubectl create --dry-run=server -o jsonpath='{.spec.leaderWorkerTemplate.size}' -f - <<'END'
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: admission-probe, namespace: default}
spec:
  leaderWorkerTemplate:
    workerTemplate:
      spec: {containers: [{name: a, image: "localhost/hello:1"}]}
END
)" = 1 ]
}

# volcano_admission_answers: it is Ready before it listens; it gives a vcjob its queue.
volcano_admission_answers() {
  [ "$(kubectl create --dry-run=server -o jsonpath='{.spec.queue}' -f - <<'END'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: admission-probe, namespace: default}
spec:
  minAvailable: 1
  tasks:
    - name: a
      replicas: 1
      template:
        spec: {restartPolicy: Never, containers: [{name: a, image: "localhost/hello:1"}]}
END
)" = default ]
}

# switch_volcano_admission on|off: and waits until it is so.
switch_volcano_admission() {
  install_volcano "$1"
  controllers_run volcano-system
  [ "$1" = off ] || await 60 "answer of Volcano's admission" apiserver volcano_admission_answers
}
