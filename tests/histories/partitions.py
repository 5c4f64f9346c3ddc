"""Watches that are late or lost, a server that refuses, and a network that is cut."""

from __future__ import annotations

import threading

from api_server import Answer, Request
from leaders import holder
from registry import history
from store import CONFIGMAPS, EVENTS, NODES, PODGROUPS, PODS, Refused
from world import FORCE, World, on

REFUSED = Refused(500, "InternalError", "etcdserver: request timed out").status()


@history()
def a_node_that_is_ready_again_keeps_its_job_while_the_watch_of_nodes_is_late(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()

    def is_back(_: Request) -> None:
        watcher.door.silent.add(NODES)
        world.node("n0")

    watcher.door.interferences.append(on("GET", PODGROUPS, is_back, name="a", times=1))
    world.node("n0", ready=False)
    watcher.until(lambda: world.requests("GET", PODGROUPS, "a"), "the second read")
    world.report(["n1"])
    world.restarts_marker(watcher, "n1")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_report_that_is_taken_back_keeps_the_job_while_the_watch_of_reports_is_late(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()

    def is_healthy(_: Request) -> None:
        watcher.door.silent.add(CONFIGMAPS)
        world.report([])

    watcher.door.interferences.append(on("GET", PODGROUPS, is_healthy, name="a", times=1))
    world.report(["n0"])
    watcher.until(lambda: world.requests("GET", PODGROUPS, "a"), "the second read")
    world.node("n1", ready=False)
    world.restarts_marker(watcher, "n1")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_pod_that_was_replaced_stays_while_the_watch_of_pods_is_late(world: World) -> None:
    """The owner has made another pod of this name, on a healthy node."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    watcher.door.silent.add(PODS)
    world.store.remove(PODS, "default", "a-0")
    world.pod("a-0", "a", "n5", FORCE, rank=0)
    world.report(["n0"])
    watcher.until(lambda: world.requests("GET", PODS, "a-0"), "the second read")
    watcher.door.heal()
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history(fast=True)
def a_pod_that_is_replaced_just_before_its_deletion_stays(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()

    def replace(_: Request) -> None:
        world.store.remove(PODS, "default", "a-0")
        world.pod("a-0", "a", "n5", FORCE, rank=0)

    watcher.door.interferences.append(on("DELETE", PODS, replace, name="a-0", times=1))
    world.report(["n0"])
    watcher.until(lambda: world.requests("DELETE", PODS, "a-0"), "the deletion")
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_recreated_job_stays_while_the_watch_of_pod_groups_is_late(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    watcher.door.silent.update((PODS, PODGROUPS))
    world.store.remove(PODGROUPS, "default", "a")
    world.store.remove(PODS, "default", "a-0")
    world.job("a", ["n5"])
    world.report(["n0"])
    watcher.until(lambda: world.requests("GET", PODGROUPS, "a"), "the second read")
    watcher.door.heal()
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history(fast=True)
def a_fault_during_a_compaction_is_seen_after_the_next_list(world: World) -> None:
    """The watches are behind when their changes are forgotten: 410, and everything is listed again."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    watcher.door.silent.update((CONFIGMAPS, PODS))
    world.report(["n0"])
    world.job("b", ["n0"])
    lists = len(world.requests("LIST", CONFIGMAPS))
    world.store.forget_changes()
    watcher.until(lambda: len(world.requests("LIST", CONFIGMAPS)) > lists, "another list")
    watcher.door.heal()
    world.await_deleted("default/a-0", "default/b-0")


@history()
def a_fault_while_all_watches_are_broken_is_seen_when_they_are_back(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    watcher.door.broken.update((CONFIGMAPS, PODS, NODES, PODGROUPS))
    world.report(["n0"])
    watcher.until(lambda: not any(watcher.door.watching.values()), "all watches to end")
    watcher.door.heal()
    world.await_deleted("default/a-0")


@history()
def a_node_that_is_ready_before_its_watch_began_keeps_its_job(world: World) -> None:
    """It was lost when it was listed, and came back before the watch, which does not report it yet."""
    world.nodes(10)
    world.job("a", ["n0"])
    world.node("n0", ready=False)
    door = world.server.door("a")
    door.after_list[NODES] = lambda: world.node("n0")
    door.silent.add(NODES)
    watcher = world.watch(ready=False)
    watcher.until(lambda: world.requests("GET", NODES, "n0"), "the node to be read again")
    world.report(["n1"])
    world.restarts_marker(watcher, "n1")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_deletion_that_is_refused_is_tried_again(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1"])
    watcher = world.watch()
    watcher.door.interferences.append(on("DELETE", PODS, lambda _: Answer(500, REFUSED), times=3))
    world.report(["n0"])
    world.await_deleted("default/a-0", "default/a-1")


@history()
def retry_after_is_heeded(world: World) -> None:
    """An overloaded server asks its clients to come back later."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    busy = Refused(429, "TooManyRequests", "the server is busy").status()
    answer = Answer(429, busy, {"Retry-After": "4"})
    watcher.door.interferences.append(on("DELETE", PODS, lambda _: answer, times=2))
    world.report(["n0"])
    world.await_deleted("default/a-0")
    tries = [request.arrived for request in world.requests("DELETE", PODS)]
    pauses = [later - earlier for earlier, later in zip(tries, tries[1:])]
    assert min(pauses) >= 3.9, f"pauses of {pauses} s"


@history()
def reads_that_fail_restart_nothing(world: World) -> None:
    """What cannot be read is not taken for faulty, nor for missing."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    refused: list[Request] = []

    def refuse(request: Request) -> Answer:
        refused.append(request)
        return Answer(500, REFUSED)

    watcher.door.interferences.append(on("GET", PODS, refuse))
    world.node("n0", ready=False)
    watcher.until(lambda: len(refused) >= 3, "three attempts")
    assert not world.deleted()
    watcher.door.interferences.clear()
    world.await_deleted("default/a-0")


@history()
def events_that_cannot_be_written_hold_nothing_up(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    watcher.door.interferences.append(on("POST", EVENTS, lambda _: Answer(500, REFUSED)))
    world.report(["n0"])
    world.await_deleted("default/a-0")
    world.restarts_marker(watcher, "n0")


@history(fast=True)
def a_cut_that_heals_loses_no_fault(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch(elect=True)
    watcher.door.cut()
    world.report(["n0"])
    world.store.put(PODS, world.store.get(PODS, "default", "a-0"))
    assert not world.deleted()
    watcher.door.heal()
    world.await_deleted("default/a-0")


@history(long=True)
def a_leader_that_is_cut_off_while_it_deletes_leaves_the_rest_to_the_next(world: World) -> None:
    """Its deletions hang. It gives up before the other one may lead, and what it asked for never arrives."""
    world.nodes(10)
    world.job("a", ["n0", "n1"])
    first = world.watch(elect=True)
    second = world.watch(name="b", elect=True, ready=False)
    second.until(lambda: second.door.watching.get(PODS), "it to follow the pods")
    reached = threading.Event()

    def cut(_: Request) -> None:
        first.door.cut()
        reached.set()

    first.door.interferences.append(on("DELETE", PODS, cut, times=1))
    world.report(["n0"])
    first.until(reached.is_set, "the deletion")
    second.until(lambda: holder(world) == "b", "the next leader", 150)
    assert not first.leads()
    world.await_deleted("default/a-0", "default/a-1")
    assert {request.caller for request in world.server.deleted} == {"b"}
