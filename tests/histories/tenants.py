"""What a tenant may write must not stop, slow or steer what is done for others."""

from __future__ import annotations

import json
import re

import reports
from registry import history
from store import CONFIGMAPS, NODES, PODGROUPS, PODS, Object
from world import DISABLED, FORCE, World

MEBI = 1 << 20


def ghosts(world: World, count: int, group: str = "x") -> None:
    """Pods of team-a whose author wrote the names of nodes that do not exist."""
    for i in range(count):
        world.pod(f"ghost-{i}", group, f"ghost-{i}", {}, "team-a", chips="", age=0, bound=False)


def serves_others(world: World) -> None:
    world.job("victim", ["n0"], ns="team-b")
    world.report(["n0"])
    world.await_deleted("team-b/victim-0")


@history()
def pods_on_nodes_that_do_not_exist_stop_nothing(world: World) -> None:
    world.nodes(100)
    watcher = world.watch({"mode": "takeover", "takeoverAfter": "2s", "isolateNodes": True})
    ghosts(world, 60)
    world.await_sent(watcher)
    serves_others(world)
    assert watcher.metric("mindgate_rescheduling_stopped") == 0


@history()
def pods_on_nodes_that_do_not_exist_stop_nothing_in_a_small_cluster(world: World) -> None:
    world.nodes(10)
    watcher = world.watch()
    ghosts(world, 9)
    world.await_sent(watcher)
    serves_others(world)


@history()
def pods_of_a_real_pod_group_on_nodes_that_do_not_exist_stop_nothing(world: World) -> None:
    """The tenant makes the PodGroup as well, and writes that it runs."""
    world.nodes(10)
    world.group("x", "team-a", 9, FORCE)
    watcher = world.watch()
    ghosts(world, 9)
    world.await_sent(watcher)
    serves_others(world)


@history()
def two_lost_nodes_of_one_tenant_stop_no_other(world: World) -> None:
    """Nodes that were there are gone with pods of one namespace on them."""
    world.nodes(40)
    for i in range(10, 12):
        world.job(f"j{i}", [f"n{i}"], ns="team-a")
    world.watch()
    for i in range(10, 12):
        world.remove_node(f"n{i}")
    world.await_deleted("team-a/j10-0", "team-a/j11-0")
    world.job("victim", ["n0"], ns="team-b")
    world.report(["n0"])
    world.await_deleted("team-a/j10-0", "team-a/j11-0", "team-b/victim-0")


@history()
def an_opt_out_of_one_namespace_keeps_no_other(world: World) -> None:
    world.nodes(10)
    world.namespace("quiet", annotations=DISABLED)
    world.job("a", ["n0"], ns="quiet")
    world.watch()
    serves_others(world)


@history()
def an_owner_of_the_same_name_with_another_uid_stops_no_restart(world: World) -> None:
    """The owner was deleted; a Deployment of its name, which opts out, is not the owner."""
    world.nodes(10)
    owner = world.deployment("owner", "team-b")
    world.job("victim", ["n0"], ns="team-b", owner=owner)
    world.store.put("apis/apps/v1/deployments", {"metadata": {"namespace": "team-b", "name": "owner", "uid": "other", "annotations": DISABLED}})
    world.watch()
    world.report(["n0"])
    world.await_deleted("team-b/victim-0")


STEERING = {
    "list": ("v1%2Fnamespaces%2Fteam-a%2Fconfigmaps?x=", "Pod", "x"),
    "all": ("v1%2Fpods?x=", "Pod", "x"),
    "hang": ("v1%2Fpods?watch=true&x=", "Pod", "x"),
    "version": ("apps/../../api/v1/namespaces/kube-system/secrets", "Deployment", "x"),
    "up": ("apps/v1", "Deployment", "../../../../v1/namespaces/kube-system/secrets/token"),
    "query": ("apps/v1", "Deployment", "x?watch=true"),
    "fragment": ("apps/v1", "StatefulSet", "x#y"),
    "encoded": ("apps/v1", "ReplicaSet", "%2e%2e%2f%2e%2e%2fsecrets"),
    "newline": ("apps/v1", "Deployment", "x HTTP/1.1\r\nHost: y"),
    "dots": ("apps/v1", "Deployment", ".."),
}
# An encoded name is one segment, whatever is in it; everything else of a path is ours.
PLAIN = re.compile(r"/(version|api/v1|apis/[a-z0-9.-]+/v[0-9]+((alpha|beta)[0-9]+)?)(/[A-Za-z0-9._%:-]+)*$")


@history(fast=True)
def owner_references_steer_no_request(world: World) -> None:
    """Names and versions of owners that are paths, queries or headers: no request leaves the place that is meant."""
    world.nodes(20)
    for name, owner in STEERING.items():
        world.job(name, ["n1"], ns="team-a", owner=owner)
    watcher = world.watch({"restartsPerMinute": 1000})
    world.report(["n1"])
    world.restarts_marker(watcher, "n1")
    places = {path.split("?")[0] for path in world.server.paths}
    strange = {place for place in places if not PLAIN.match(place) or {".", ".."} & set(place.split("/"))}
    assert not strange, strange
    asked = {path for path in world.server.paths if "x=" in path or "/Pod" in path}
    assert not asked, asked


@history(long=True)
def long_names_of_groups_fill_no_memory_and_stop_no_restart(world: World) -> None:
    """300 pending pods that name PodGroups of 250 KB each, in the namespace of one tenant."""
    world.nodes(10)
    watcher = world.watch()
    for i in range(300):
        world.pod(f"p{i}", f"{i}-" + "g" * 250_000, "", {}, "team-a", age=0)
    world.await_sent(watcher)
    serves_others(world)
    assert resident(watcher.process.pid) <= 96 * MEBI, f"{resident(watcher.process.pid) / MEBI:.0f} MiB"


@history(long=True)
def long_names_of_owners_fill_no_memory_and_stop_no_restart(world: World) -> None:
    """150 servers that ended, with owners whose names have 700 KB; each is worth an Event and a line of the log."""
    world.nodes(10)
    watcher = world.watch()
    for i in range(150):
        ended_server(world, f"p{i}", f"{i}-" + "o" * 700_000)
    # One more, of another tenant: the others came before it.
    ended_server(world, "honest", "chat", "team-b")
    watcher.until(lambda: world.events("ServerSucceeded", "honest"), "the last one to be noticed")
    serves_others(world)
    assert watcher.log_file.stat().st_size <= 2 * MEBI, f"a log of {watcher.log_file.stat().st_size / MEBI:.1f} MiB"
    assert resident(watcher.process.pid) <= 96 * MEBI, f"{resident(watcher.process.pid) / MEBI:.0f} MiB"


def ended_server(world: World, name: str, owner: str, ns: str = "team-a") -> None:
    """A pod of a server that ended with exit code 0. No controller knows that version of its owner."""
    pod = world.pod(name, f"group-of-{name}", "n1", {}, ns, age=0)
    reference = {"apiVersion": "apps/v9", "kind": "Deployment", "name": owner, "uid": f"uid-of-{name}", "controller": True}
    metadata = pod["metadata"] | {"ownerReferences": [reference]}
    world.store.put(PODS, pod | {"metadata": metadata, "status": {"phase": "Succeeded"}})


def resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


@history()
def reports_in_a_tenants_namespace_are_not_believed(world: World) -> None:
    """The labels and names of ClusterD, of a device plugin and of a public fault, where none of them is installed."""
    names = world.nodes(10)
    world.job("victim", ["n0"], ns="team-b")
    watcher = world.watch()
    broken = {name: reports.device_report(["Ascend910-0"], []) for name in names}
    forged = [reports.of_clusterd(broken), reports.of_device_plugin("n0", broken["n0"]), reports.of_machines({"n0": "UnHealthy"})]
    for kind, one in forged:
        one["metadata"]["namespace"] = "team-a"
        world.store.put(kind, one)
    fault = {"id": "1", "faultCode": "010001001", "influence": [{"nodeName": "n0", "deviceIds": [0]}]}
    public: Object = {"version": "1.0", "id": "1", "resource": "team-a", "faults": [fault]}
    metadata = {"namespace": "team-a", "name": "public", "labels": {"mc-consumer-publicfault": "true"}}
    world.store.put(CONFIGMAPS, {"metadata": metadata, "data": {"PublicFault": json.dumps(public)}})
    world.report(["n9"])
    world.restarts_marker(watcher, "n9")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_tenants_pods_that_call_themselves_faulty_take_no_other_job_with_them(world: World) -> None:
    """`fault-type: Separate` on pods of a tenant concerns that tenant's jobs, and stops nothing."""
    world.nodes(10)
    for i in range(9):
        world.job(f"j{i}", [f"n{i}"], ns="team-a", pod_labels=FORCE | {"fault-type": "Separate"})
    watcher = world.watch({"restartsPerMinute": 1000})
    watcher.until(lambda: len(world.deleted()) == 9, "the tenant's own jobs to be restarted")
    world.job("victim", ["n9"], ns="team-b")
    world.report(["n9"])
    watcher.until(lambda: "team-b/victim-0" in world.deleted(), "the other tenant's job")
    assert all(world.store.get(NODES, "", f"n{i}") for i in range(10))


@history()
def a_pod_group_that_changes_all_the_time_delays_no_other(world: World) -> None:
    """A tenant writes his PodGroup a thousand times while a job of somebody else waits for its restart."""
    world.nodes(10)
    world.job("noise", ["n1"], ns="team-a")
    watcher = world.watch()
    for i in range(1000):
        world.label(PODGROUPS, "team-a", "noise", {"turn": str(i), "mindgate.io/rescheduling": str(i)})
    serves_others(world)
    world.await_sent(watcher)
