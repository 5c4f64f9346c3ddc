"""Whoever stops rescheduling is heard up to the last moment, also when the watch of what they changed is late."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from program import Program, until
from registry import history
from store import DEPLOYMENTS, EVENTS, NAMESPACES, PODGROUPS, PODS, REPLICASETS
from world import DISABLED, FORCE, GRACE, World, delay, on

NS = "team-a"


@dataclasses.dataclass(frozen=True)
class Stop:
    """A way to keep the watcher from the job "a" of two pods on n0 and n1, where n0 is broken."""

    set: Callable[[World], None]
    kind: str = ""  # whose watch is late; empty: no watch shows it
    on_lease: bool = False  # there is a Lease only with leader election


STOPS = {
    "a_namespace_that_opts_out": Stop(lambda world: world.annotate(NAMESPACES, "", NS, DISABLED)),
    "an_owner_that_opts_out": Stop(lambda world: world.annotate(DEPLOYMENTS, NS, "owner", DISABLED)),
    "a_pod_group_that_opts_out": Stop(lambda world: world.annotate(PODGROUPS, NS, "a", DISABLED), PODGROUPS),
    "a_faulty_pod_that_opts_out": Stop(lambda world: world.label(PODS, NS, "a-0", DISABLED), PODS),
    "a_healthy_pod_that_opts_out": Stop(lambda world: world.label(PODS, NS, "a-1", DISABLED), PODS),
    "a_policy_that_is_off": Stop(lambda world: world.label(PODGROUPS, NS, "a", {"fault-scheduling": "off"}), PODGROUPS),
    "a_pause_on_the_lease": Stop(lambda world: world.pause(), on_lease=True),
}


def begin(world: World, elect: bool = False) -> Program:
    world.nodes(10)
    # The scheduler takes the policy from the PodGroup; pods without the label leave it to that.
    world.job("a", ["n0", "n1"], ns=NS, owner=world.deployment("owner", NS), pod_labels={})
    return world.watch(elect=elect)


def stays(world: World, watcher: Program, stop: Stop) -> None:
    """The job was reconciled after the fault and the stop, and stays."""
    assert not world.deleted(), world.deleted()
    looks = world.looks(watcher)
    world.reconcile("a-1", NS)
    if stop.kind:
        watcher.door.silent.clear()
        world.await_sent(watcher)
    watcher.until(lambda: world.looks(watcher) > looks, "the job to be reconciled")
    world.await_acting(watcher)
    assert not world.deleted(), world.deleted()


def before_the_fault(stop: Stop) -> Callable[[World], None]:
    def play(world: World) -> None:
        watcher = begin(world, stop.on_lease)
        watcher.door.silent.add(stop.kind)
        stop.set(world)
        reads = len(world.requests("GET", PODGROUPS, "a"))
        looks = world.looks(watcher)
        world.report(["n0"])
        # With its watch late the watcher wants to act, and finds out when it reads again.
        watcher.until(lambda: len(world.requests("GET", PODGROUPS, "a")) > reads or world.looks(watcher) > looks, "the decision")
        world.await_acting(watcher)
        stays(world, watcher, stop)

    return play


def during_the_second_read(stop: Stop) -> Callable[[World], None]:
    def play(world: World) -> None:
        watcher = begin(world, stop.on_lease)
        watcher.door.silent.add(stop.kind)
        is_set = []

        def set_it(_: object) -> None:
            stop.set(world)
            is_set.append(True)

        watcher.door.interferences.append(on("GET", PODS, set_it, name="a-0", times=1))
        world.report(["n0"])
        watcher.until(lambda: is_set, "the second read")
        stays(world, watcher, stop)

    return play


for name, each in STOPS.items():
    for when, play in (("before_the_fault", before_the_fault(each)), ("during_the_second_read", during_the_second_read(each))):
        late = "_with_a_late_watch" if each.kind else ""
        play.__name__ = f"{name}_{when}{late}_keeps_the_job"
        history(fast=(name, when) == ("a_pause_on_the_lease", "during_the_second_read"))(play)


@history()
def a_job_goes_when_its_opt_out_is_taken_back(world: World) -> None:
    watcher = begin(world)
    world.annotate(PODGROUPS, NS, "a", DISABLED)
    world.report(["n0"])
    world.await_acting(watcher)
    assert not world.deleted()
    world.annotate(PODGROUPS, NS, "a", {"mindgate.io/rescheduling": "enabled"})
    world.await_deleted("team-a/a-0", "team-a/a-1")


@history()
def an_opt_out_during_the_grace_period_keeps_force_away(world: World) -> None:
    """A pod was asked to end. Then its namespace opts out: it is not forced, however long it takes."""
    world.nodes(10)
    world.job("a", ["n0"], labels=GRACE, ns=NS)
    watcher = world.watch(graceOverTime="3s")
    world.report(["n0"])
    world.await_deleted("team-a/a-0")
    world.annotate(NAMESPACES, "", NS, DISABLED)
    # It asks for the Namespace when the time is over, and waits.
    watcher.until(lambda: world.events("RestartWaits"), "the restart to wait")
    assert len(world.server.deleted) == 1
    world.restarts_marker(watcher, "n0")
    assert [request.name for request in world.server.deleted] == ["a-0", "marker-0"]


def held(world: World) -> bool:
    """Whether a restart waits for the pause to end, and not for new pods."""
    return any("pause-rescheduling" in event["note"] for event in world.events("RestartWaits"))


@history()
def an_owner_of_the_owner_that_opts_out_keeps_the_job(world: World) -> None:
    """The PodGroup belongs to a ReplicaSet, and that to a Deployment, which opts out."""
    world.nodes(10)
    deployment = world.deployment("chat", NS, annotations=DISABLED)
    reference = dict(zip(("apiVersion", "kind", "name"), deployment)) | {"uid": "uid-of-chat", "controller": True}
    metadata = {"namespace": NS, "name": "chat-1", "uid": "uid-of-chat-1", "ownerReferences": [reference]}
    world.store.put(REPLICASETS, {"metadata": metadata, "spec": {}})
    world.job("a", ["n0"], ns=NS, owner=("apps/v1", "ReplicaSet", "chat-1"))
    watcher = world.watch()
    world.report(["n0"])
    watcher.until(lambda: world.events("RestartWaits"), "the restart to wait")
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history()
def a_pause_in_the_middle_of_a_large_job_keeps_the_rest(world: World) -> None:
    """Of 120 pods the first is being deleted when everything is paused. What is under way then is done, and no more."""
    nodes = world.nodes(121)
    world.job("a", nodes[:120], ns=NS)
    watcher = world.watch(elect=True)
    watcher.door.interferences.append(on("DELETE", PODS, lambda _: world.pause(), times=1))
    watcher.door.interferences.append(delay(0.1, "DELETE"))
    world.report(["n0"])
    watcher.until(world.deleted, "the first deletion")
    looks = world.looks(watcher)
    world.reconcile("a-0", NS)  # the faulty one, whose turn comes last; its job is reconciled when this restart has ended
    watcher.until(lambda: world.looks(watcher) > looks, "the job to be reconciled")
    assert len(world.deleted()) <= 60, f"{len(world.deleted())} pods were deleted"
    world.pause(False)
    world.reconcile("a-0", NS)
    watcher.until(lambda: len(world.deleted()) == 120, "the rest")


@history()
def a_pause_holds_a_wider_restart(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1"], labels=FORCE | {"pod-rescheduling": "on"}, ns=NS)
    watcher = world.watch({"escalateAfter": "2s"}, elect=True)
    # Rank 0 would take all others with it.
    world.report(["n1"])
    world.await_deleted("team-a/a-1")
    world.pause()
    watcher.until(lambda: held(world) or len(world.deleted()) > 1, "the wider restart to wait")
    assert world.deleted() == ["team-a/a-1"], world.deleted()


@history()
def isolation_is_held_by_a_pause(world: World) -> None:
    world.nodes(10)
    watcher = world.watch({"isolateNodes": True}, elect=True)
    world.pause()
    world.machines({"n0": "UnHealthy"})
    watcher.until(lambda: world.events("IsolationWaits") or world.taints("n0"), "isolation to wait")
    assert not world.taints("n0")
    world.pause(False)
    world.machines({"n0": "UnHealthy", "n1": "Healthy"})
    watcher.until(lambda: world.taints("n0"), "the taint of n0")


@history(fast=True)
def a_taint_is_removed_while_rescheduling_is_paused(world: World) -> None:
    world.nodes(10)
    watcher = world.watch({"isolateNodes": True}, elect=True)
    world.machines({"n0": "UnHealthy"})
    watcher.until(lambda: world.taints("n0"), "the taint of n0")
    world.pause()
    world.machines({"n0": "Healthy"})
    watcher.until(lambda: not world.taints("n0"), "the taint of n0 to go")


@history()
def a_watcher_in_mode_observe_writes_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], ns=NS)
    watcher = world.watch({"mode": "observe", "isolateNodes": True})
    world.report(["n0"])
    world.machines({"n0": "UnHealthy"})
    watcher.until(lambda: world.events("WouldRestart") and world.events("WouldIsolate"), "both Events")
    written = {(each.verb, each.kind) for each in world.server.requests if each.verb not in ("GET", "LIST", "WATCH")}
    assert written <= {("POST", EVENTS), ("PATCH", EVENTS)}, written


@history()
def a_dry_run_restarts_nothing_whatever_the_mode(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], ns=NS)
    watcher = world.watch(flags=["--dry-run"])
    world.report(["n0"])
    watcher.until(lambda: world.events("WouldRestart"), "the Event")
    assert not world.deleted()


@history()
def a_mode_counts_from_the_moment_when_it_is_reloaded(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], ns=NS)
    watcher = world.watch({"mode": "off"}, ready=False)
    world.report(["n0"])
    world.configure({"mode": "observe"})
    watcher.until(lambda: world.events("WouldRestart", "a"), "the Event")
    assert not world.deleted()
    world.configure({"mode": "enforce"})
    world.await_deleted("team-a/a-0")


def reloads(mode: str) -> Callable[[World], None]:
    def play(world: World) -> None:
        watcher = begin(world)

        def reload(_: object) -> None:
            world.configure({"mode": mode})
            until(lambda: '"reloaded"' in watcher.log(), "the new configuration")

        watcher.door.interferences.append(on("GET", PODS, reload, name="a-0", times=1))
        world.report(["n0"])
        watcher.until(lambda: '"reloaded"' in watcher.log(), "the second read")
        watcher.until(lambda: world.requests("GET", PODS, "a-0")[0].answered, "the answer")
        world.configure({"mode": "observe"})
        for name in ("b", "c"):
            world.job(name, ["n0"], ns="team-b")
            watcher.until(lambda: world.events("WouldRestart", name), "the Event of another job")
        assert not world.deleted(), world.deleted()
        world.configure({"mode": "enforce"})
        world.await_deleted("team-a/a-0", "team-a/a-1", "team-b/b-0", "team-b/c-0")

    return play


for mode in ("observe", "off"):
    play = reloads(mode)
    play.__name__ = f"a_reload_to_mode_{mode}_during_the_second_read_keeps_the_job"
    history()(play)
