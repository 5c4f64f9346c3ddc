# Images without a registry: archives made from the built programs, imported into containerd. Sourced.
# shellcheck shell=bash

volcano_tag=v1.10.0
lws_tag=v0.7.0

# import_image TAR: an archive in Docker's or the OCI's format, "-" for standard input; pods take the images with
# imagePullPolicy: Never.
import_image() {
  ctr --address "$run/containerd/containerd.sock" --namespace k8s.io images import "$1"
}

compile_small_programs() {
  local program
  for program in pause hello; do
    gcc -static -Os -s -o "$run/images/$program" "$cluster/images/$program.c"
  done
}

import_images() {
  mkdir -p "$run/images"
  compile_small_programs
  "$cluster/images/archive" \
    localhost/pause:1 "$run/images/pause" -- \
    localhost/hello:1 "$run/images/hello" -- \
    localhost/lws:$lws_tag "$run/bin/lws=/manager" -- \
    localhost/vc-scheduler:$volcano_tag "$run/bin/vc-scheduler" -- \
    localhost/vc-controller-manager:$volcano_tag "$run/bin/vc-controller-manager" -- \
    localhost/vc-webhook-manager:$volcano_tag "$run/bin/vc-webhook-manager" |
    import_image -
}
