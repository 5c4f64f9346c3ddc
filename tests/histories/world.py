"""A cluster with nodes, jobs and reports of faults, and the watchers that run beside it."""

from __future__ import annotations

import copy
import json
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import reports
from api_server import Answer, ApiServer, Interference, Request
from invariants import Limits, violations
from program import LEASE_NAMESPACE, Clock, Program, until
from store import CONFIGMAPS, DEPLOYMENTS, EVENTS, LEASES, NAMESPACES, NODES, PODGROUPS, PODS, Object, stamp

DISABLED = {"mindgate.io/rescheduling": "disabled"}
PAUSED = {"mindgate.io/pause-rescheduling": "true"}
LEASE = (LEASES, LEASE_NAMESPACE, "mindgate-watcher")
TAINT = "mindgate.io/faulty"
FORCE, GRACE = {"fault-scheduling": "force"}, {"fault-scheduling": "grace"}
DEFAULTS: Object = {"mode": "enforce", "settle": "0s"}  # of `rescheduling`, for every watcher whose history asks for nothing else
FOLLOWED = (PODS, PODGROUPS, NODES, CONFIGMAPS)


def configuration(rescheduling: Object, scaling: Object | None = None, **more: Any) -> str:
    """The text of mindgate.yaml."""
    common = {"gangRepair": False}
    return json.dumps(common | {"rescheduling": rescheduling, "elasticScaling": scaling or {"mode": "off"}} | more)


class World:
    """A history builds it, starts watchers in it, and ends with `finish`, which checks what was asked of the API server."""

    def __init__(self, folder: pathlib.Path | None = None) -> None:
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="mindgate-history-")
        self.folder = folder or pathlib.Path(self._temporary.name)
        self.server = ApiServer()
        self.store = self.server.store
        self.programs: list[Program] = []
        self.limits = Limits()
        self.server.on_deleted.append(lambda pod, forced: self.count_members(pod))
        self._reported: dict[str, list[str]] = {}
        self._machines: dict[str, str] = {}
        for name in ("default", "kube-system", "mindx-dl", LEASE_NAMESPACE, "team-a", "team-b"):
            self.namespace(name)

    # --- programs

    def watch(
        self,
        rescheduling: Object | None = None,
        name: str = "a",
        elect: bool = False,
        clock: Clock | None = None,
        ready: bool = True,
        flags: Iterable[str] = (),
        **config: Any,
    ) -> Program:
        """Starts a watcher and, unless `ready` is false, waits until it has read everything and leads."""
        self.nudge()
        self.configure(rescheduling or {}, name, **config)
        arguments = ["--config", str(self.folder / f"{name}.yaml"), *flags]
        if elect:
            arguments += ["--leader-elect", "--identity", name]
            self.limits.electing.add(name)
        program = Program(self.folder, self.server.door(name), ["watch"], arguments, clock)
        self.programs.append(program)
        if ready:
            self.await_ready(program)
        return program

    def configure(self, rescheduling: Object, name: str = "a", **config: Any) -> None:
        """Writes the configuration of a watcher, which reads it again when it runs."""
        rescheduling = DEFAULTS | rescheduling
        self.limits.configured(name, rescheduling)
        file = self.folder / f"{name}.yaml"
        text = configuration(rescheduling, **config)
        if file.exists():  # as a ConfigMap is updated: another file takes its place at once
            fresh = file.with_suffix(".new")
            fresh.write_text(text)
            fresh.replace(file)
        else:
            file.write_text(text)

    def await_ready(self, program: Program, leads: bool = True) -> None:
        """It has been sent all that is there, and leads."""
        if leads:
            program.until(program.leads, "it to lead")
        for kind in FOLLOWED:
            program.until(lambda: program.door.watching.get(kind), f"a watch of {kind}")
        self.await_sent(program)
        # Informers are current after the first bookmark: from then on a job is reconciled.
        self.await_acting(program)

    def await_sent(self, program: Program) -> None:
        """Its watches have been sent all that is stored by now."""
        version = self.store.version
        for kind in FOLLOWED:
            program.until(lambda: program.door.knew(kind, version) is not None, f"the watch of {kind} to catch up")

    def await_acting(self, program: Program) -> None:
        """Waits until it reconciles jobs. In a mode that restarts nothing, or while something is stopped, it still does."""
        before = self.looks(program)

        def nudged() -> bool:
            self.nudge()
            return self.looks(program) > before

        program.until(nudged, "it to reconcile a job")

    def looks(self, program: Program) -> float:
        return program.metric("mindgate_rescheduling_looks_total")

    def nudge(self) -> None:
        """Changes a healthy job, so that it is reconciled; by its PodGroup and its pod, as one of the watches may be late."""
        name, ns = "nudged", "default"
        if self.store.get(PODGROUPS, ns, name) is None:
            self.node("nudged-node")
            self.job(name, ["nudged-node"], ns=ns)
        self.reconcile(f"{name}-0", ns)
        self.annotate(PODGROUPS, ns, name, self._another_value())

    def reconcile(self, pod: str, ns: str) -> None:
        """A change of this pod, of no importance, because of which its job is reconciled."""
        self.annotate(PODS, ns, pod, self._another_value())

    @staticmethod
    def _another_value() -> Object:
        return {"mindgate.io/rescheduling": f"changed at {time.monotonic()}"}

    def stop(self, program: Program) -> None:
        """SIGTERM: it has to end with exit code 0, and a leader with its Lease released."""
        program.stop()
        lease = self.store.get(*LEASE)
        holder = (lease or {}).get("spec", {}).get("holderIdentity", "")
        assert holder != program.name, f"{program.name} has ended in order and still holds the Lease"

    def finish(self) -> None:
        """Ends every watcher in order, and checks all that was asked of the API server."""
        found = []
        for program in self.programs:
            if program.has_ended():
                continue
            program.door.heal()
            program.door.interferences.clear()
            try:
                self.stop(program)
            except AssertionError as failure:
                found.append(str(failure))
        found += violations(self.server, self.limits)
        assert not found, "\n".join(found)

    def close(self) -> None:
        for program in self.programs:
            if not program.has_ended():
                program.kill()
        self.server.close()
        if self._temporary:
            self._temporary.cleanup()

    def clock(self, ahead: float = 0) -> Clock:
        return Clock(self.folder, ahead)

    # --- objects

    def namespace(self, name: str, **metadata: Any) -> None:
        self.store.put(NAMESPACES, {"metadata": {"name": name, **metadata}})

    def node(self, name: str, ready: bool = True) -> None:
        status = "True" if ready else "Unknown"
        reason = "KubeletReady" if ready else "NodeStatusUnknown"
        npus = {"huawei.com/Ascend910": "8"}
        condition = {"type": "Ready", "status": status, "reason": reason, "lastTransitionTime": stamp(120)}
        there = self.store.get(NODES, "", name)
        spec = copy.deepcopy(there["spec"]) if there else {}
        self.store.put(
            NODES,
            {
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "spec": spec,
                "status": {"capacity": npus, "allocatable": npus, "conditions": [condition]},
            },
        )
        self._count(NODES)

    def nodes(self, count: int) -> list[str]:
        """n0, n1 and so on, all healthy, with a report of ClusterD that confirms it."""
        names = [f"n{i}" for i in range(count)]
        for name in names:
            self.node(name)
        self.report({})
        return names

    def remove_node(self, name: str) -> None:
        self.store.remove(NODES, "", name)
        self._count(NODES)

    def group(self, name: str, ns: str, pods: int, labels: Object, annotations: Object | None = None, **more: Any) -> Object:
        metadata: Object = {"namespace": ns, "name": name, "labels": dict(labels), "annotations": dict(annotations or {})}
        if more.get("owner"):
            api_version, kind, owner = more["owner"]
            reference = {"apiVersion": api_version, "kind": kind, "name": owner, "uid": f"uid-of-{owner}", "controller": True}
            metadata["ownerReferences"] = [reference]
        status = {"phase": more.get("phase", "Running"), "running": pods}
        return self.store.put(PODGROUPS, {"metadata": metadata, "spec": {"minMember": pods}, "status": status})

    def job(
        self,
        name: str,
        on: list[str],
        labels: Object = FORCE,
        ns: str = "default",
        min_member: int | None = None,
        pod_labels: Object | None = None,
        chips: str = "Ascend910-0",
        **group: Any,
    ) -> None:
        """A job that runs, with a pod on each of the nodes, and its PodGroup."""
        self.group(name, ns, len(on) if min_member is None else min_member, labels, **group)
        for rank, node in enumerate(on):
            self.pod(f"{name}-{rank}", name, node, labels if pod_labels is None else pod_labels, ns, chips, rank)

    def pod(
        self,
        name: str,
        of: str,
        node: str = "",
        labels: Object | None = None,
        ns: str = "default",
        chips: str = "Ascend910-0",
        rank: int | None = None,
        age: float = 3600,
        grace: int = 30,
        bound: bool = True,
    ) -> Object:
        """A pod of a job. `bound`: a scheduler placed it and it runs; otherwise its author wrote the node's name."""
        annotations = {"scheduling.k8s.io/group-name": of}
        if node and chips:
            annotations["huawei.com/AscendReal"] = chips
        if rank is not None:
            annotations["hccl/rankIndex"] = str(rank)
        npus = {"huawei.com/Ascend910": "8"}
        container = {"name": "c", "image": "i:1", "resources": {"limits": npus, "requests": npus}}
        spec: Object = {"schedulerName": "volcano", "containers": [container], "terminationGracePeriodSeconds": grace}
        status: Object = {"phase": "Pending", "conditions": []}
        if node:
            spec["nodeName"] = node
        if node and bound:
            since = stamp(age)
            conditions = [{"type": kind, "status": "True", "lastTransitionTime": since} for kind in ("PodScheduled", "Ready")]
            status = {"phase": "Running", "startTime": since, "hostIP": "192.0.2.1", "conditions": conditions}
        metadata = {
            "namespace": ns,
            "name": name,
            "labels": dict(labels or {}),
            "annotations": annotations,
            "creationTimestamp": stamp(age),
        }
        return self.store.put(PODS, {"metadata": metadata, "spec": spec, "status": status})

    def count_members(self, pod: Object) -> None:
        """As the scheduler does, writes into the PodGroup of this pod how many run and have succeeded."""
        ns, name = pod["metadata"]["namespace"], pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
        group = self.store.get(PODGROUPS, ns, name)
        if group is None:
            return
        phases = [
            each["status"]["phase"]
            for each in self.store.objects(PODS, ns)
            if each["metadata"]["annotations"].get("scheduling.k8s.io/group-name") == name
            and "deletionTimestamp" not in each["metadata"]
        ]
        counts = {"running": phases.count("Running"), "succeeded": phases.count("Succeeded")}
        if any(group["status"].get(key, 0) != value for key, value in counts.items()):
            self.store.edit(PODGROUPS, ns, name, lambda one: one["status"].update(counts))

    def change_pod(self, name: str, ns: str = "default", **status: Any) -> None:
        """Its kubelet writes its status."""
        self.count_members(self.store.edit(PODS, ns, name, lambda pod: pod["status"].update(status)))

    def replace(self, name: str, of: str, node: str = "", **more: Any) -> None:
        """Its owner makes the pod again; with a node it runs at once."""
        self.count_members(self.pod(name, of, node, age=0, **more))

    def deployment(self, name: str, ns: str = "default", **metadata: Any) -> tuple[str, str, str]:
        """An owner, as `job` takes it."""
        self.store.put(DEPLOYMENTS, {"metadata": {"namespace": ns, "name": name, "uid": f"uid-of-{name}", **metadata}, "spec": {}})
        return "apps/v1", "Deployment", name

    def label(self, kind: str, ns: str, name: str, labels: Object) -> None:
        self.store.edit(kind, ns, name, lambda one: one["metadata"].setdefault("labels", {}).update(labels))

    def annotate(self, kind: str, ns: str, name: str, annotations: Object) -> None:
        self.store.edit(kind, ns, name, lambda one: one["metadata"].setdefault("annotations", {}).update(annotations))

    def pause(self, on: bool = True) -> None:
        value = "true" if on else "false"
        if self.store.get(*LEASE) is None:
            self.store.put(LEASES, {"metadata": {"namespace": LEASE[1], "name": LEASE[2]}, "spec": {}})
        self.annotate(*LEASE, {"mindgate.io/pause-rescheduling": value})

    def end(self, name: str, ns: str = "default") -> None:
        """The kubelet has ended a pod that was asked to."""
        self.store.remove(PODS, ns, name)

    def owners_recreate(self, onto: str = "", on_force_only: bool = True) -> None:
        """From now on each pod that was deleted comes again, on that node or without one."""

        def recreate(pod: Object, forced: bool) -> None:
            metadata = pod["metadata"]
            if on_force_only and not forced:
                return
            rank = metadata["annotations"].get("hccl/rankIndex")
            group = metadata["annotations"]["scheduling.k8s.io/group-name"]
            rank = None if rank is None else int(rank)
            self.replace(metadata["name"], group, onto, labels=metadata["labels"], ns=metadata["namespace"], rank=rank)

        self.server.on_deleted.append(recreate)

    # --- faults

    def report(self, broken: dict[str, list[str]] | Iterable[str], sub_healthy: Iterable[str] = (), **more: Any) -> None:
        """ClusterD reports of all nodes; those of `broken` have a chip that is."""
        if not isinstance(broken, dict):
            broken = {node: ["Ascend910-0"] for node in broken}
        slow = set(sub_healthy)
        at = more.get("at", {})
        names = [node["metadata"]["name"] for node in self.store.objects(NODES)]
        devices = {
            node: reports.device_report(broken.get(node, []), ["Ascend910-0"] if node in slow else [], at.get(node))
            for node in names
        }
        with self.store.changed:
            self.store.put(*reports.of_clusterd(devices))
            self._reported = broken
            self._count(CONFIGMAPS)

    def machines(self, states: dict[str, str]) -> None:
        """NodeD calls nodes UnHealthy, as ClusterD passes it on."""
        with self.store.changed:
            self.store.put(*reports.of_machines(states))
            self._machines = states
            self._count(CONFIGMAPS)

    def _count(self, kind: str) -> None:
        """Notes for the invariants how much of the cluster is faulty."""
        with self.store.changed:
            nodes = {node["metadata"]["name"]: node for node in self.store.objects(NODES)}
            broken = {name for name, chips in self._reported.items() if chips}
            broken |= {name for name, state in self._machines.items() if state == "UnHealthy"}
            broken |= {name for name, node in nodes.items() if node["status"]["conditions"][0]["status"] != "True"}
            self.limits.faulty.append((time.monotonic(), kind, self.store.version, len(broken & set(nodes)), len(nodes)))

    # --- what has happened

    def deleted(self) -> list[str]:
        """Pods that were deleted, as namespace/name, each once, in the order of their names."""
        return sorted({f"{each.ns}/{each.name}" for each in list(self.server.deleted)})

    def await_deleted(self, *names: str, seconds: float = 60) -> None:
        """Until all of these were deleted, and nothing else was."""
        until(lambda: set(names) <= set(self.deleted()), f"the deletion of {names}; deleted: {self.deleted()}", seconds)
        assert self.deleted() == sorted(names), f"deleted: {self.deleted()}"

    def restarts_marker(self, program: Program, node: str) -> None:
        """Waits until a job of its own on that broken node was restarted: all that was queued before it has had its turn."""
        self.namespace("marked")
        self.job("marker", [node], ns="marked")
        program.until(lambda: "marked/marker-0" in self.deleted(), f"the job on {node} to be restarted")
        self.store.remove(PODGROUPS, "marked", "marker")

    def events(self, reason: str, about: str = "") -> list[Object]:
        found = [event for event in self.store.objects(EVENTS) if event.get("reason") == reason]
        return [event for event in found if not about or (event.get("regarding") or {}).get("name") == about]

    def taints(self, node: str) -> list[str]:
        return [taint["key"] for taint in self.store.get(NODES, "", node)["spec"].get("taints", [])]

    def requests(self, verb: str, kind: str, name: str = "") -> list[Request]:
        return [each for each in list(self.server.requests) if each.verb == verb and each.kind == kind and name in ("", each.name)]


def on(verb: str, kind: str, do: Callable[[Request], Answer | None], name: str = "", times: int = 0) -> Interference:
    """Calls `do` before the server acts on such requests: the first `times`, or all."""
    seen = [0]

    def interfere(request: Request) -> Answer | None:
        if request.verb != verb or request.kind != kind or name not in ("", request.name):
            return None
        seen[0] += 1
        return None if times and seen[0] > times else do(request)

    return interfere


def delay(seconds: float, verb: str = "GET", but: Iterable[str] = (LEASES,)) -> Interference:
    """A busy server: all requests of that verb wait, except those of some kinds."""

    def interfere(request: Request) -> None:
        if request.verb == verb and request.kind not in but:
            time.sleep(seconds)

    return interfere
