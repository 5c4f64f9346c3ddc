"""The other controllers: scaling, gang repair and certificates, and that their leaders end in order as well."""

from __future__ import annotations

import json

from program import Program
from registry import history
from store import CONFIGMAPS, DEPLOYMENTS, MUTATING, PODGROUPS, PODS, REPLICASETS, SECRETS, Object, stamp
from world import World

GATE = "mindgate.io/elastic-scaling"
GANG = "huawei.com/schedule_minAvailable"
SCALING = {"mode": "enforce", "rebalance": "enforce"}


def rule(world: World, shapes: list[dict[str, int]]) -> None:
    """The scaling rule "r", the largest shape first."""
    listed = [
        {"group_list": [{"group_name": name, "group_num": str(count), "server_num_per_group": "1"} for name, count in shape.items()]}
        for shape in shapes
    ]
    text = json.dumps({"version": "1.0", "elastic_scaling_list": listed})
    world.store.put(CONFIGMAPS, {"metadata": {"namespace": "default", "name": "r"}, "data": {"elastic_scaling.json": text}})


def instance(world: World, name: str, group: str, gated: bool = True, node: str = "") -> None:
    """A pod of the service "s" under that rule."""
    world.pod(name, f"group-of-{name}", node, {"mind-cluster/scaling-rule": "r", "jobID": "s", "mind-cluster/group-name": group}, age=0)
    if gated:
        world.store.edit(PODS, "default", name, lambda pod: pod["spec"].update(schedulingGates=[{"name": GATE}]))


def is_open(world: World, name: str) -> bool:
    return not world.store.get(PODS, "default", name)["spec"].get("schedulingGates")


@history(fast=True)
def a_leader_that_scales_releases_its_lease(world: World) -> None:
    world.nodes(4)
    rule(world, [{"prefill": 2, "decode": 1}, {"prefill": 1, "decode": 1}])
    for name, group in (("p0", "prefill"), ("p1", "prefill"), ("p2", "prefill"), ("d0", "decode")):
        instance(world, name, group)
    watcher = world.watch({"mode": "off"}, elect=True, scaling=SCALING, ready=False)
    watcher.until(lambda: is_open(world, "d0"), "the gate of decode")
    watcher.until(lambda: sum(is_open(world, name) for name in ("p0", "p1", "p2")) >= 1, "the gate of a prefill")
    world.stop(watcher)


@history(fast=True)
def two_leaders_in_turn_open_no_gate_too_many(world: World) -> None:
    """The shape wants two of prefill. The first leader opens gates; the second one reads from the pods what was granted."""
    world.nodes(4)
    rule(world, [{"prefill": 2, "decode": 1}, {"prefill": 1, "decode": 1}])
    for name, group in (("p0", "prefill"), ("p1", "prefill"), ("p2", "prefill"), ("d0", "decode")):
        instance(world, name, group)
    for turn in ("a", "b"):
        watcher = world.watch({"mode": "off"}, name=turn, elect=True, scaling=SCALING, ready=False)
        watcher.until(lambda: is_open(world, "d0"), "the gate of decode")
        watcher.until(lambda: watcher.metric("mindgate_scaling_decisions_total") > 0, "a decision")
        world.stop(watcher)
    assert sum(is_open(world, name) for name in ("p0", "p1", "p2")) <= 2


def refused(world: World, name: str) -> None:
    """The scheduler has no room for it."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": stamp(5)}
    world.store.edit(PODS, "default", name, lambda pod: pod["status"].update(conditions=[condition]))


def takes_back(world: World, rebalance: str) -> None:
    """Two of prefill and one of decode run; the third prefill was granted and finds no room. Then decode loses its node."""
    for name in ("n0", "n1", "n2"):
        world.node(name)
    rule(world, [{"prefill": 3, "decode": 1}, {"prefill": 2, "decode": 1}, {"prefill": 1, "decode": 1}])
    for i, (name, group) in enumerate((("p0", "prefill"), ("p1", "prefill"), ("d0", "decode"))):
        instance(world, name, group, gated=False, node=f"n{i}")
    instance(world, "p2", "prefill")
    scaling = {"mode": "enforce", "rebalance": rebalance, "rebalanceAfter": "1s", "coolDown": "1s"}
    watcher = world.watch({"mode": "off"}, scaling=scaling, ready=False)
    watcher.until(lambda: is_open(world, "p2"), "the gate of the third prefill")
    refused(world, "p2")
    world.node("n2", ready=False)
    world.end("d0")
    instance(world, "d1", "decode")
    watcher.until(lambda: is_open(world, "d1"), "the gate of the new decode")
    refused(world, "d1")
    watcher.until(world.deleted, "an instance to be taken back")
    assert world.deleted() == ["default/p2"], world.deleted()


@history()
def a_grant_without_room_is_taken_back_for_a_needed_instance(world: World) -> None:
    takes_back(world, "enforce")


@history()
def a_grant_without_room_is_taken_back_without_rebalancing(world: World) -> None:
    takes_back(world, "off")


def rollout(world: World) -> None:
    """A Deployment that is updated one pod at a time, although its gang needs four."""
    template: Object = {"metadata": {"annotations": {GANG: "4"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    revision = "deployment.kubernetes.io/revision"
    metadata = {"namespace": "default", "name": "d", "uid": "uid-of-d", "generation": 2, "annotations": {revision: "2"}}
    selector = {"matchLabels": {"app": "d"}}
    world.store.put(
        DEPLOYMENTS,
        {
            "metadata": metadata,
            "spec": {"replicas": 4, "selector": selector, "template": template, "strategy": strategy},
            "status": {"observedGeneration": 2, "replicas": 5, "updatedReplicas": 1},
        },
    )
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "uid-of-d", "controller": True}
    for name, replicas, number in (("d-old", 4, "1"), ("d-new", 1, "2")):
        identity = {"namespace": "default", "name": name, "uid": f"uid-of-{name}", "annotations": {revision: number}}
        world.store.put(
            REPLICASETS,
            {
                "metadata": identity | {"ownerReferences": [owner]},
                "spec": {"replicas": replicas, "template": template},
                "status": {"replicas": replicas},
            },
        )
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": f"uid-of-{name}", "controller": True}
        group = f"podgroup-uid-of-{name}"
        world.store.put(
            PODGROUPS,
            {
                "metadata": {"namespace": "default", "name": group, "annotations": {GANG: "4"}, "ownerReferences": [reference]},
                "spec": {"minMember": 1},
                "status": {"phase": "Running" if replicas == 4 else "Pending"},
            },
        )
        for i in range(replicas):
            world.pod(f"{name}-{i}", group, f"n{i}" if replicas == 4 else "", {"app": "d"})
            world.store.edit(PODS, "default", f"{name}-{i}", lambda pod: pod["metadata"].update(ownerReferences=[reference]))


@history(fast=True)
def a_leader_that_repairs_gangs_releases_its_lease(world: World) -> None:
    world.nodes(6)
    rollout(world)
    watcher = world.watch({"mode": "off"}, elect=True, gangRepair=True, ready=False)

    def lowered() -> bool:
        group = world.store.get(PODGROUPS, "default", "podgroup-uid-of-d-new")
        return group["metadata"]["annotations"].get(GANG) == "1"

    watcher.until(lowered, "the gang to be lowered")
    world.stop(watcher)


@history(fast=True)
def certs_manage_releases_its_lease(world: World) -> None:
    webhook = {"name": "mutate.mindgate.io", "clientConfig": {"service": {"name": "mindgate-webhook", "namespace": "mindgate-system"}}}
    world.store.put(MUTATING, {"metadata": {"name": "mindgate"}, "webhooks": [webhook]})
    manager = Program(
        world.folder,
        world.server.door("a"),
        ["certs", "manage"],
        ["--mutating-webhook", "mindgate", "--leader-elect", "--identity", "a"],
    )
    world.programs.append(manager)

    def published() -> bool:
        return bool(world.store.get(MUTATING, "", "mindgate")["webhooks"][0]["clientConfig"].get("caBundle"))

    manager.until(published, "the CA to be published")
    assert world.store.get(SECRETS, "mindgate-system", "mindgate-tls")
    world.stop(manager)


@history()
def certs_manage_stops_while_the_api_server_is_cut_off(world: World) -> None:
    world.store.put(MUTATING, {"metadata": {"name": "mindgate"}, "webhooks": []})
    manager = Program(world.folder, world.server.door("a"), ["certs", "manage"], ["--mutating-webhook", "mindgate", "--leader-elect", "--identity", "a"])
    world.programs.append(manager)
    manager.until(lambda: world.store.get(SECRETS, "mindgate-system", "mindgate-tls"), "the Secret")
    manager.door.cut()
    manager.stop()
