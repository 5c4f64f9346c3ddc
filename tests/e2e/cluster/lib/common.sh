# What the scripts of the cluster share: where things are, progress, waiting, processes. Sourced, never run.
#
# One run folder holds all state of one cluster; several clusters live side by side in several run folders.
#   mode            "full" or "loopback"
#   kubeconfig      of a cluster administrator, for any shell on the machine
#   bin/ parts/ pids/ logs/ pki/ ...
# shellcheck shell=bash

cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
repository=$(cd "$cluster/../../.." && pwd)
if [ "$(id -u)" = 0 ]; then run=/tmp/mindgate-e2e; else run=/tmp/mindgate-e2e-$(id -u); fi
run=${MINDGATE_E2E_DIR:-$run}
name=${run#/}
name=${name//\//-} # of the control group, such as tmp-mindgate-e2e
k8s=${K8S:-1.34}

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# done_since TEXT SINCE: a progress line with the seconds since then ($EPOCHREALTIME).
done_since() {
  LC_ALL=C awk -v text="$1" -v since="$2" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "%s (%.1f s)\n", text, now - since }'
}

# --- processes: a part is a long-running program with a command file, a pid file and a log ---

# start_time PID: what distinguishes a process from a later one with the same pid.
start_time() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# pid_of PART: its pid, or failure when it does not run.
pid_of() {
  local pid since
  read -r pid since 2>/dev/null <"$run/pids/$1" || return 1
  [ "$(start_time "$pid")" = "$since" ] || return 1
  case $(cut -d' ' -f3 "/proc/$pid/stat") in Z | X) return 1 ;; esac
  echo "$pid"
}

# define PART COMMAND...: writes the command file that `launch` runs, also after a stop. The parts are in Go: with larger heaps the API
# server took 35 s of the processors instead of 43 in four files of tests, and up to half as much memory again.
define() {
  local part=$1
  shift
  {
    printf '#!/bin/bash\nset -e\nexport GOGC=300 GOMEMLIMIT=2GiB\n'
    [ -z "${cgroup_procs:-}" ] || printf 'echo $$ >%q\n' "$cgroup_procs"
    printf 'exec'
    printf ' \\\n  %q' "$@"
    printf '\n'
  } >"$run/parts/$part"
}

# launch PART: runs the command file in the background, detached from this shell.
launch() {
  local pid
  pid_of "$1" >/dev/null && fail "$1 is running already (pid $(pid_of "$1"))"
  [ -f "$run/parts/$1" ] || fail "there is no part '$1'; the parts are: $(ls "$run/parts" | tr '\n' ' ')"
  setsid bash "$run/parts/$1" >>"$run/logs/$1.log" 2>&1 </dev/null &
  pid=$!
  disown "$pid"
  echo "$pid $(start_time "$pid")" >"$run/pids/$1"
}

# stop PART [SECONDS]: asks it to end, and ends it when it has not done so by then.
stop() {
  local pid waited=0
  pid=$(pid_of "$1") || return 0
  kill -TERM "$pid" 2>/dev/null || true
  kill -CONT "$pid" 2>/dev/null || true
  while pid_of "$1" >/dev/null; do
    if [ "$waited" -ge $((10 * ${2:-5})) ]; then
      kill -KILL "$pid" 2>/dev/null || true
    fi
    sleep 0.1
    waited=$((waited + 1))
  done
}

# fail_with_log PART TEXT: an error with the last lines of the part's log.
fail_with_log() {
  printf -- '--- the last lines of %s:\n' "$run/logs/$1.log" >&2
  tail -n 25 "$run/logs/$1.log" >&2 || true
  printf -- '---\n' >&2
  fail "$2"
}

# await SECONDS WHAT PART COMMAND...: until the command succeeds; fails early when the part has ended.
await() {
  local seconds=$1 what=$2 part=$3 deadline
  shift 3
  deadline=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    pid_of "$part" >/dev/null || fail_with_log "$part" "$part ended while waiting for $what"
    [ "$SECONDS" -lt "$deadline" ] || fail_with_log "$part" "no $what after $seconds s"
    sleep 0.2
  done
}

# --- clients, with homes of their own, so that nothing is written to the user's ---

kubectl() {
  HOME="$run/home" "$run/bin/kubectl" --kubeconfig "$run/kubeconfig" "$@"
}

helm() {
  HOME="$run/home" "$run/bin/helm" --kubeconfig "$run/kubeconfig" "$@"
}
