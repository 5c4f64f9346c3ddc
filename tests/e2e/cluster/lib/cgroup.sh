# Control groups: every process of the cluster is in one under its name, so that none can be missed at the end. Sourced.
# Version 1 (a tree per controller) and version 2 (one tree) both work.
# shellcheck shell=bash

# cgroup_trees: the folders that hold a control group tree each.
cgroup_trees() {
  awk '($3 == "cgroup" || $3 == "cgroup2") && $2 ~ "^/sys/fs/cgroup" { print $2 }' /proc/mounts | sort -u
}

# cgroup_tracking: the one tree in which processes are looked for.
cgroup_tracking() {
  local tree
  for tree in /sys/fs/cgroup/pids /sys/fs/cgroup/memory /sys/fs/cgroup; do
    if [ -f "$tree/cgroup.procs" ]; then
      echo "$tree"
      return
    fi
  done
  return 1
}

# cgroup_version_1: whether kubelet and containerd will see version 1.
cgroup_version_1() {
  [ ! -f /sys/fs/cgroup/cgroup.controllers ]
}

# make_cgroups: NAME in every tree (kubelet's pods go below it), NAME/system for the parts themselves.
make_cgroups() {
  local tree tracking
  tracking=$(cgroup_tracking) || fail "no control groups are mounted under /sys/fs/cgroup"
  while read -r tree; do
    mkdir -p "$tree/$name"
  done < <(cgroup_trees)
  mkdir "$tracking/$name/system"
  cgroup_procs=$tracking/$name/system/cgroup.procs
}

# cgroup_pids: every process of the cluster.
cgroup_pids() {
  local tracking
  tracking=$(cgroup_tracking) || return 0
  [ -d "$tracking/$name" ] || return 0
  find "$tracking/$name" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -un
}

# end_processes: ends them all, by pid, and waits until none is left.
end_processes() {
  local pids deadline=$((SECONDS + 30))
  while pids=$(cgroup_pids) && [ -n "$pids" ]; do
    [ "$SECONDS" -lt "$deadline" ] || fail "processes do not end: $(tr '\n' ' ' <<<"$pids")" \
      "look at them with ps, then run down again"
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
}

remove_cgroups() {
  local tree
  while read -r tree; do
    [ ! -d "$tree/$name" ] || find "$tree/$name" -depth -type d -exec rmdir {} + || true
  done < <(cgroup_trees)
}
