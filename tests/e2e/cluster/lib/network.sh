# A network namespace and a mount namespace for the cluster, held by one sleeping process. Sourced.
#
# Nothing in it has a way out: there is no default route. A veth pair joins it to the machine, and lets through connections
# to the API server only. Both namespaces go away with their last process: no mounts, routes or rules are left behind.
# shellcheck shell=bash

node_address=10.250.0.1 # of the real node, on lo: kernels for virtual machines may lack the dummy device
bridge=cni0
pod_range=10.244.0
service_range=10.96.0.0/16
service_address=10.96.0.1
api_port=6443

# inside COMMAND...: in the cluster's network, with the files of the machine.
inside() {
  nsenter --target "$(pid_of holder)" --net -- "$@"
}

# hide FOLDER: gives the cluster a folder of its own in that place, kept in the run folder. What programs write to fixed
# paths (/run/netns, /run/xtables.lock, /var/lib/cni, /var/log/pods) stays in it.
hide() {
  local own=$run/host$1
  mkdir -p "$own"
  case $run in
    "$1"/*) # the run folder itself must stay visible at its path
      mkdir -p "$run/host$run"
      printf 'mount --bind %q %q\n' "$run" "$run/host$run"
      ;;
  esac
  printf 'mount --rbind %q %q\n' "$own" "$1"
}

start_holder() {
  mkdir -p "$run/containerd/data"
  {
    printf 'set -e\nmount --make-rprivate /\n'
    hide /var/lib
    hide /var/log
    hide /run
    hide /tmp
    # Images and containers in memory, some 500 MB: no waiting for the disk, and overlays work on any machine.
    printf 'mount -t tmpfs -o mode=755 containerd %q\n' "$run/containerd/data"
    printf 'touch %q\nexec sleep infinity\n' "$run/holder.ready"
  } >"$run/holder.sh"
  define holder unshare --mount --net bash "$run/holder.sh"
  launch holder
  await 10 "namespaces" holder test -e "$run/holder.ready"
}

# join_machine: a veth pair between the machine (mindgate0, or the first number that is free) and the cluster (outside).
join_machine() {
  local number
  for number in $(seq 0 254); do
    link=mindgate$number
    if ip link add "$link" type veth peer name outside netns "$(pid_of holder)" 2>/dev/null; then
      echo "$link" >"$run/link"
      machine_address=10.249.$number.1
      api_address=10.249.$number.2
      return
    fi
  done
  fail "no veth pair can be made: mindgate0 to mindgate254 are all taken, or this kernel has none" \
    "$(ip link add mindgate255 type veth peer name outside netns "$(pid_of holder)" 2>&1)"
}

make_network() {
  inside bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  without_ipv6 inside all
  without_ipv6 inside default
  inside ip link set lo up
  inside ip address add "$node_address/32" dev lo
  inside ip link add "$bridge" type bridge
  inside ip address add "$pod_range.1/24" dev "$bridge"
  inside ip link set "$bridge" up
  inside ip route add "$service_range" dev "$bridge" # a ClusterIP needs a route before it is rewritten
  join_machine
  without_ipv6 env "$link"
  ip address add "$machine_address/30" dev "$link"
  ip link set "$link" up
  inside ip address add "$api_address/30" dev outside
  inside ip link set outside up
  guard_link
}

# without_ipv6 WHERE DEVICE: the guard below knows IPv4 only. WHERE is the command that runs a command there.
without_ipv6() {
  local setting=/proc/sys/net/ipv6/conf/$2/disable_ipv6
  [ ! -e "$setting" ] || "$1" bash -c "echo 1 >$setting"
}

# guard_link: between the machine and the cluster only connections to the API server pass, begun by the machine.
guard_link() {
  inside iptables -A INPUT -i outside -p tcp --dport "$api_port" -j ACCEPT
  inside iptables -A INPUT -i outside -j DROP
  inside iptables -A OUTPUT -o outside -p tcp --sport "$api_port" -j ACCEPT
  inside iptables -A OUTPUT -o outside -j REJECT
  inside iptables -I FORWARD -i outside -j DROP
  inside iptables -I FORWARD -o outside -j REJECT
}

# await_link_gone: it goes with the namespace, a moment after the last process.
await_link_gone() {
  local link waited=0
  link=$(cat "$run/link" 2>/dev/null) || return 0
  while ip link show "$link" >/dev/null 2>&1 && [ "$waited" -lt 50 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
}
