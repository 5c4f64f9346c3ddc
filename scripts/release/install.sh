#!/bin/sh
# Installs mindgate from this folder, without Internet:
#
#   ./install.sh image     on every node that may run mindgate: imports the image with ctr, nerdctl or docker
#   ./install.sh program   on a host with kubectl: puts mindgate and kubectl-mindgate into /usr/local (PREFIX=...)
#   ./install.sh chart     prints the helm command; runs nothing
#   ./install.sh           image, then chart
#
# NAMESPACE (k8s.io) is that of containerd. PUBLIC_KEY, a file or the text of a key of minisign, has the signature checked, too.
set -eu
version=@version@
digest=@digest@
name=localhost/mindgate
cd "$(dirname "$0")"
namespace=${NAMESPACE:-k8s.io}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

check() {
  sha256sum --check --quiet SHA256SUMS || fail "files differ from SHA256SUMS: copy the archive again"
  [ -n "${PUBLIC_KEY:-}" ] || return 0
  command -v minisign >/dev/null || fail "PUBLIC_KEY is set, and minisign, which checks the signature, is not installed"
  if [ -f "$PUBLIC_KEY" ]; then
    minisign -Vqm SHA256SUMS -p "$PUBLIC_KEY" || fail "SHA256SUMS is not signed with the key in $PUBLIC_KEY: do not install it"
  else
    minisign -Vqm SHA256SUMS -P "$PUBLIC_KEY" || fail "SHA256SUMS is not signed with the key $PUBLIC_KEY: do not install it"
  fi
}

architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) fail "this host is $(uname -m); mindgate is built for x86_64 and aarch64" ;;
  esac
}

# kubelet finds an image by the name that the pod has, which ends with the digest. An image that is pinned is not removed when
# the disk is full; older versions of containerd ignore that.
image() {
  archive=mindgate-image-$version.oci.tar
  if command -v ctr >/dev/null && ctr version >/dev/null 2>&1; then
    ctr --namespace "$namespace" images import "$archive"
    ctr --namespace "$namespace" images tag --force "$name:$version" "$name@$digest"
    ctr --namespace "$namespace" images label "$name:$version" io.cri-containerd.pinned=pinned >/dev/null
    ctr --namespace "$namespace" images label "$name@$digest" io.cri-containerd.pinned=pinned >/dev/null
  elif command -v nerdctl >/dev/null; then
    nerdctl --namespace "$namespace" load --input "$archive"
    nerdctl --namespace "$namespace" tag "$name:$version" "$name@$digest"
  elif command -v docker >/dev/null; then
    docker load --input "$archive"
    docker tag "$name:$version-$(architecture)" "$name:$version" 2>/dev/null || docker image inspect "$name:$version" >/dev/null
    by_tag=yes
  else
    fail "neither ctr, nerdctl nor docker answers here: run this as root on a node, or push $archive to a registry"
  fi
}

program() {
  prefix=${PREFIX:-/usr/local}
  mkdir -p "$prefix"
  tar xzf "mindgate-$version-linux-$(architecture).tar.gz" --directory "$prefix" --strip-components 1 --no-same-owner \
    "mindgate-$version-linux-$(architecture)/bin" "mindgate-$version-linux-$(architecture)/share"
  echo "$prefix/bin/mindgate: $("$prefix/bin/mindgate" --version)"
}

chart() {
  cat <<TEXT

When every node has the image, install the chart where helm and a kubeconfig are. This observes and changes nothing:

  helm install mindgate $PWD/mindgate-$version.tgz --namespace mindgate-system --create-namespace \\
    --set rolloutPhase=observe${by_tag:+ --set image.digest= --set image.tag=$version}

A cluster with a registry takes the image from there instead, by the same digest:

  skopeo copy --all oci-archive:mindgate-image-$version.oci.tar docker://REGISTRY/mindgate:$version
  helm install ... --set image.repository=REGISTRY/mindgate
TEXT
}

by_tag=
check
case ${1:-all} in
  image) image ;;
  program) program ;;
  chart) chart ;;
  all)
    image
    chart
    ;;
  *) fail "unknown argument '$1': use image, program or chart" ;;
esac
