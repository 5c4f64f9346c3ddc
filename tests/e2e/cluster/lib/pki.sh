# Certificates and kubeconfigs of the cluster, made for each run. Sourced.
# shellcheck shell=bash

new_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1"
  chmod 600 "$1"
}

# authority NAME: a self-signed CA.
authority() {
  new_key "$run/pki/$1.key"
  openssl req -x509 -new -key "$run/pki/$1.key" -subj "/CN=$1" -days 365 -out "$run/pki/$1.crt" \
    -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign
}

# certificate NAME SUBJECT EXTENSION...: signed by the cluster's CA.
certificate() {
  local file=$run/pki/$1 subject=$2
  shift 2
  new_key "$file.key"
  openssl req -new -key "$file.key" -subj "$subject" |
    openssl x509 -req -CA "$run/pki/ca.crt" -CAkey "$run/pki/ca.key" -days 365 -out "$file.crt" \
      -extfile <(printf '%s\n' "basicConstraints=critical,CA:false" "$@") 2>"$file.log" || {
    cat "$file.log" >&2
    fail "openssl could not sign $file.crt"
  }
  rm -f "$file.log"
}

# kubeconfig FILE SERVER IDENTITY: everything inside, so that the file can be copied.
kubeconfig() {
  (umask 077 && cat >"$1") <<END
apiVersion: v1
kind: Config
current-context: mindgate-e2e
contexts:
  - name: mindgate-e2e
    context: {cluster: mindgate-e2e, user: $3}
clusters:
  - name: mindgate-e2e
    cluster:
      server: $2
      certificate-authority-data: $(base64 -w0 "$run/pki/ca.crt")
users:
  - name: $3
    user:
      client-certificate-data: $(base64 -w0 "$run/pki/$3.crt")
      client-key-data: $(base64 -w0 "$run/pki/$3.key")
END
}

# make_pki ADDRESS...: all of it; the addresses are those under which the API server is reached.
make_pki() {
  local names="DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost" address
  for address in "$@"; do names+=",IP:$address"; done
  authority ca
  new_key "$run/pki/service-accounts.key"
  openssl pkey -in "$run/pki/service-accounts.key" -pubout -out "$run/pki/service-accounts.pub"
  certificate apiserver /CN=kube-apiserver extendedKeyUsage=serverAuth "subjectAltName=$names"
  certificate admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
  certificate webhook-client /CN=kube-apiserver extendedKeyUsage=clientAuth
  certificate kube-controller-manager /CN=system:kube-controller-manager extendedKeyUsage=clientAuth
  [ "$mode" = full ] || return 0
  certificate kubelet "/O=system:nodes/CN=system:node:$node" extendedKeyUsage=clientAuth,serverAuth \
    "subjectAltName=DNS:$node,IP:$node_address"
  certificate kube-scheduler /CN=system:kube-scheduler extendedKeyUsage=clientAuth
  certificate kube-proxy /CN=system:kube-proxy extendedKeyUsage=clientAuth
}
