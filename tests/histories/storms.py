"""Many faults at once: the brake of maxFaultyNodes, and the budget of restartsPerMinute."""

from __future__ import annotations

import time

import reports
from registry import history
from store import NODES, PODS, Object
from world import FORCE, World, delay, on


def stopped(world: World) -> None:
    """Waits for the brake."""
    watcher = world.programs[-1]
    watcher.until(lambda: watcher.metric("mindgate_rescheduling_stopped") == 1, "it to stop")


def only_the_last_fault_counts(world: World, node: str, job: str) -> None:
    """All faults go away, and with them the brake. Then that node breaks again, and its job is the only one that goes."""
    watcher = world.programs[-1]
    for name in [each["metadata"]["name"] for each in world.store.objects(NODES)]:
        world.node(name)
    world.report([])
    watcher.until(lambda: watcher.metric("mindgate_rescheduling_stopped") == 0, "it to go on")
    assert not world.deleted(), world.deleted()
    world.report([node])
    world.await_deleted(job)


def one_report_breaks_all(world: World, count: int) -> None:
    names = world.nodes(count)
    for i, name in enumerate(names):
        world.job(f"j{i}", [name], ns=f"team-{'ab'[i % 2]}")
    world.watch({"restartsPerMinute": 1000})
    world.report(names)
    stopped(world)
    only_the_last_fault_counts(world, "n0", "team-a/j0-0")


@history(fast=True)
def a_report_that_calls_all_of_40_nodes_broken_restarts_nothing(world: World) -> None:
    one_report_breaks_all(world, 40)


@history(long=True)
def a_report_that_calls_all_of_1200_nodes_broken_restarts_nothing(world: World) -> None:
    one_report_breaks_all(world, 1200)


@history(long=True)
def nodes_that_lose_their_kubelets_while_the_api_server_is_slow_restart_nothing(world: World) -> None:
    names = world.nodes(20)
    for i, name in enumerate(names):
        world.job(f"j{i:02}", [name], ns=f"team-{'ab'[i % 2]}")
    watcher = world.watch()
    watcher.door.interferences.append(delay(0.7))
    looks = world.looks(watcher)
    for name in names:
        world.node(name, ready=False)
        time.sleep(0.02)  # one after the other, as kubelets go
    stopped(world)
    watcher.until(lambda: world.looks(watcher) >= looks + len(names), "each job to be reconciled")
    watcher.door.interferences.clear()
    early = world.deleted()
    for name in names[1:]:
        world.node(name)
    world.restarts_marker(watcher, "n0")
    # The first few jobs may have gone before the brake; the invariants have the exact rule.
    assert len(early) <= 6, early


@history()
def a_brake_during_the_second_read_holds_the_restart(world: World) -> None:
    names = world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()

    def many_break(_: object) -> None:
        world.report(names)
        stopped(world)

    watcher.door.interferences.append(on("GET", PODS, many_break, times=1))
    world.report(["n0"])
    stopped(world)
    looks = world.looks(watcher)
    world.await_acting(watcher)
    assert world.looks(watcher) > looks
    assert not world.deleted(), world.deleted()
    only_the_last_fault_counts(world, "n0", "default/a-0")


@history()
def a_third_of_the_nodes_that_break_one_by_one_are_stopped(world: World) -> None:
    """Two faulty nodes are few. With the fourth of ten, more than 30 % are faulty: its job stays."""
    names = world.nodes(10)
    for name in names:
        world.job(f"on-{name}", [name], ns="team-a")
    watcher = world.watch()
    broken: list[str] = []
    for name in names[:3]:
        broken.append(name)
        world.report(broken)
        world.await_deleted(*(f"team-a/on-{each}-0" for each in broken))
    world.report(names[:4])
    stopped(world)
    world.await_acting(watcher)
    world.report(["n9"])
    world.await_deleted(*(f"team-a/on-{each}-0" for each in [*broken, "n9"]))


@history()
def reports_in_several_parts_are_counted_together(world: World) -> None:
    """A large cluster has several ConfigMaps of ClusterD; each of them alone is below the limit."""
    names = world.nodes(12)
    for name in names:
        world.job(f"on-{name}", [name], ns="team-b")
    world.watch({"settle": "2s"})
    halves = (names[:6], names[6:])

    def report(broken: list[str]) -> None:
        with world.store.changed:
            for part, half in enumerate(halves):
                world.store.put(
                    *reports.of_clusterd(
                        {name: reports.device_report(["Ascend910-0"] if name in broken else [], []) for name in half}, part
                    )
                )

    report([])
    report([*names[:2], *names[6:8]])
    stopped(world)
    report(["n11"])
    world.await_deleted("team-b/on-n11-0")


def fails_forever(world: World, namespaces: list[str], jobs: int) -> None:
    """Jobs whose software fails again and again, in namespaces of one tenant."""
    labels: Object = FORCE | {"fault-type": "Separate"}
    for ns in namespaces:
        world.namespace(ns)
        for job in range(jobs):
            world.group(f"g{job}", ns, 1, FORCE)
            world.pod(f"g{job}-0", f"g{job}", "n1", labels, ns, rank=0)

    def again(pod: Object, forced: bool) -> None:
        ns, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if ns in namespaces:
            world.pod(name, name.removesuffix("-0"), "n1", labels, ns, rank=0, age=0)

    world.server.on_deleted.append(again)


@history(long=True)
def a_tenant_with_many_failing_namespaces_starves_no_other(world: World) -> None:
    """Ten namespaces share six restarts a minute. The names of the greedy ones come first; still each is served in turn."""
    world.nodes(20)
    greedy = [f"greedy-{i}" for i in range(9)]
    fails_forever(world, greedy, 3)
    world.job("victim", ["n0"], ns="team-b")
    world.report(["n0"])
    watcher = world.watch({"restartsPerMinute": 6}, ready=False)
    watcher.until(lambda: len(world.server.deleted) >= 12, "two minutes' worth of restarts", 150)
    turns = [request.ns for request in world.server.deleted][:12]
    assert len(set(turns)) == 10, f"twelve turns went to {turns}"


@history()
def the_budget_holds_in_a_storm(world: World) -> None:
    names = world.nodes(60)
    for i in range(12):
        world.job(f"j{i}", [names[i]], ns=f"team-{'ab'[i % 2]}")
    watcher = world.watch({"restartsPerMinute": 6, "maxFaultyNodes": 90})
    world.report(names[:12])
    watcher.until(lambda: len(world.deleted()) == 6, "six restarts")
    world.await_acting(watcher)
    assert len(world.deleted()) == 6, world.deleted()
    spaces = [name.split("/")[0] for name in world.deleted()]
    assert spaces.count("team-a") == spaces.count("team-b") == 3, spaces


@history(long=True)
def isolation_waits_for_the_brake(world: World) -> None:
    names = world.nodes(10)
    watcher = world.watch({"isolateNodes": True})
    world.machines(dict.fromkeys(names[:6], "UnHealthy"))
    stopped(world)
    watcher.until(lambda: len(world.events("IsolationWaits")) >= 3 or any(map(world.taints, names)), "isolation to wait")
    assert not any(map(world.taints, names)), [name for name in names if world.taints(name)]
    world.machines({"n0": "UnHealthy"} | dict.fromkeys(names[1:], "Healthy"))
    # A node that waits is tried again after half a minute.
    watcher.until(lambda: world.taints("n0"), "the taint of n0")
    assert not any(map(world.taints, names[1:]))
