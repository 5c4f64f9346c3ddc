"""Leaders come and go: asked to stop, killed, or cut off. The next one goes on where the last one was."""

from __future__ import annotations

import threading

from api_server import Answer, Request
from program import Program
from registry import history
from store import CONFIGMAPS, LEASES, PODGROUPS, PODS, Object
from world import FORCE, GRACE, LEASE, World, delay, on


def holder(world: World) -> str:
    return (world.store.get(*LEASE) or {}).get("spec", {}).get("holderIdentity") or ""


def died(world: World, program: Program) -> None:
    """It crashes. Its Lease is as one of a leader that asked others to wait for a second only."""
    program.kill()
    shorten(world)


def shorten(world: World) -> None:
    world.store.edit(*LEASE, lambda lease: lease["spec"].update(leaseDurationSeconds=1))


@history(fast=True)
def a_leader_with_nothing_to_do_releases_its_lease(world: World) -> None:
    world.nodes(10)
    world.stop(world.watch(elect=True))
    assert holder(world) == ""


@history(fast=True)
def a_leader_that_restarted_a_job_releases_its_lease(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1"])
    watcher = world.watch(elect=True)
    world.report(["n0"])
    world.await_deleted("default/a-0", "default/a-1")
    world.stop(watcher)
    assert holder(world) == ""


@history(fast=True)
def a_leader_of_all_controllers_releases_its_lease(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    scaling = {"mode": "enforce", "rebalance": "enforce"}
    watcher = world.watch({"isolateNodes": True, "gracefulExit": True}, elect=True, scaling=scaling, gangRepair=True)
    world.report(["n0"])
    world.machines({"n1": "UnHealthy"})
    world.await_deleted("default/a-0")
    watcher.until(lambda: world.taints("n1"), "the taint of n1")
    world.stop(watcher)
    assert holder(world) == ""


@history()
def a_leader_with_2000_pods_releases_its_lease(world: World) -> None:
    world.nodes(40)
    for i in range(40):
        world.job(f"j{i}", [f"n{k % 40}" for k in range(50)], ns="team-a")
    world.stop(world.watch(elect=True))
    assert holder(world) == ""


@history()
def eight_leaders_in_turn_release_the_lease(world: World) -> None:
    world.nodes(10)
    for turn in range(8):
        world.job(f"j{turn}", [f"n{turn}"])
        watcher = world.watch(name=f"w{turn}", elect=True)
        world.report([f"n{turn}"])
        watcher.until(lambda: f"default/j{turn}-0" in world.deleted(), "the restart")
        world.stop(watcher)
        assert holder(world) == ""
        world.report([])


@history()
def a_standby_that_is_stopped_leaves_the_leader_alone(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch(elect=True)
    standby = world.watch(name="b", elect=True, ready=False)
    standby.until(lambda: world.requests("GET", LEASES) and "leading" not in standby.probe("/readyz"), "it to stand by")
    world.stop(standby)
    assert holder(world) == "a"
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_standby_leads_soon_after_the_leader_was_stopped(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    first = world.watch(elect=True)
    second = world.watch(name="b", elect=True, ready=False)
    second.until(lambda: second.door.watching.get(PODS), "it to follow the pods")
    world.stop(first)
    assert holder(world) == ""
    world.await_ready(second)
    world.report(["n0"])
    world.await_deleted("default/a-0")


def stops_during(world: World, request: Request) -> None:
    """SIGTERM arrives while the request is under way."""
    world.programs[0].process.terminate()


@history(fast=True)
def a_leader_that_is_stopped_during_the_second_read_restarts_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch(elect=True)
    watcher.door.interferences.append(on("GET", PODS, lambda request: stops_during(world, request), times=1))
    watcher.door.interferences.append(delay(0.5))
    world.report(["n0"])
    watcher.process.wait(60)
    world.stop(watcher)
    assert not world.deleted()


@history()
def a_leader_that_is_stopped_in_the_middle_of_a_large_job_hands_it_on(world: World) -> None:
    nodes = world.nodes(40)
    world.job("a", nodes[:30])
    first = world.watch(elect=True)
    first.door.interferences.append(on("DELETE", PODS, lambda request: stops_during(world, request), times=1))
    first.door.interferences.append(delay(0.3, "DELETE"))
    world.report(["n0"])
    first.process.wait(60)
    world.stop(first)
    world.watch(name="b", elect=True)
    world.await_deleted(*(f"default/a-{i}" for i in range(30)))


@history()
def a_leader_that_is_killed_in_the_middle_of_a_restart_is_followed_by_one_that_ends_it(world: World) -> None:
    nodes = world.nodes(40)
    world.job("a", nodes[:30])
    first = world.watch(elect=True)
    first.door.interferences.append(on("DELETE", PODS, lambda _: first.process.kill(), times=1))
    world.report(["n0"])
    first.process.wait(60)
    died(world, first)
    world.watch(name="b", elect=True)
    world.await_deleted(*(f"default/a-{i}" for i in range(30)))
    names = [request.name for request in world.server.deleted]
    assert len(names) == len(set(names)), "a pod was deleted twice"


@history()
def a_leader_that_stops_while_the_api_server_is_cut_off_ends_in_order(world: World) -> None:
    world.nodes(10)
    watcher = world.watch(elect=True)
    watcher.door.cut()
    watcher.stop()


@history(fast=True)
def a_leader_that_stops_while_a_deletion_hangs_ends_in_order(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch(elect=True)
    held = threading.Event()

    def hold(_: Request) -> None:
        watcher.process.terminate()
        held.wait(30)

    watcher.door.interferences.append(on("DELETE", PODS, hold))
    world.report(["n0"])
    watcher.process.wait(60)
    held.set()
    world.stop(watcher)


@history()
def two_replicas_restart_a_job_once(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1"])
    world.watch(elect=True)
    second = world.watch(name="b", elect=True, ready=False)
    second.until(lambda: second.door.watching.get(PODS), "it to follow the pods")
    world.report(["n0"])
    world.await_deleted("default/a-0", "default/a-1")
    assert {request.caller for request in world.server.deleted} == {"a"}
    assert len(world.server.deleted) == 2


@history()
def a_budget_is_not_refilled_by_orderly_leader_changes(world: World) -> None:
    nodes = world.nodes(60)
    for i in range(18):
        world.job(f"j{i:02}", [nodes[i]], ns=f"team-{'ab'[i % 2]}")
    world.report(nodes[:18])
    for name in ("a", "b", "c"):
        watcher = world.watch({"restartsPerMinute": 6, "maxFaultyNodes": 90}, name=name, elect=True)
        watcher.until(lambda: len(world.deleted()) >= 6, "six restarts")
        world.await_acting(watcher)
        world.stop(watcher)
    assert len(world.deleted()) == 6, f"{len(world.deleted())} jobs were restarted within a minute"


@history()
def a_budget_is_not_refilled_by_a_crash(world: World) -> None:
    nodes = world.nodes(60)
    for i in range(12):
        world.job(f"j{i:02}", [nodes[i]], ns=f"team-{'ab'[i % 2]}")
    world.report(nodes[:12])
    settings = {"restartsPerMinute": 4, "maxFaultyNodes": 90}
    first = world.watch(settings, elect=True)
    first.until(lambda: len(world.deleted()) == 4, "four restarts")
    died(world, first)
    second = world.watch(settings, name="b", elect=True)
    world.await_acting(second)
    assert len(world.deleted()) == 4, world.deleted()


@history()
def a_grace_period_goes_on_with_the_next_leader(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], labels=GRACE)
    first = world.watch(elect=True, graceOverTime="10s")
    world.report(["n0"])
    world.await_deleted("default/a-0")
    world.stop(first)
    second = world.watch(name="b", elect=True, graceOverTime="10s")
    second.until(lambda: len(world.server.deleted) == 2, "the end of the grace period")
    evicted, forced = world.server.deleted
    assert "gracePeriodSeconds" not in evicted.options() and forced.options()["gracePeriodSeconds"] == 0
    assert forced.arrived - evicted.arrived >= 9, "the grace period was cut short"


@history(fast=True)
def retries_are_counted_across_leaders(world: World) -> None:
    """One retry: the first failure is restarted, the second one is not, whoever leads then."""
    world.nodes(10)
    labels: Object = FORCE | {"fault-retry-times": "1"}
    world.job("a", ["n0"], labels=labels)
    first = world.watch(elect=True)
    fail(world)
    world.await_deleted("default/a-0")
    world.replace("a-0", "a", "n1", labels=labels, rank=0)
    world.await_sent(first)
    world.await_acting(first)
    world.stop(first)
    second = world.watch(name="b", elect=True)
    fail(world)
    second.until(lambda: world.events("NotRestarted"), "it to give up")
    assert len(world.server.deleted) == 1


def fail(world: World) -> None:
    world.change_pod("a-0", phase="Failed")


@history()
def a_pause_outlives_the_leader(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    first = world.watch(elect=True)
    world.pause()
    world.stop(first)
    second = world.watch(name="b", elect=True)
    world.report(["n0"])
    second.until(lambda: world.events("RestartWaits", "a"), "the restart to wait")
    assert not world.deleted()
    world.pause(False)
    world.reconcile("a-0", "default")
    world.await_deleted("default/a-0")


@history()
def a_lease_that_somebody_deleted_is_taken_again(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch(elect=True)
    world.store.remove(*LEASE)
    watcher.until(lambda: holder(world) == "a", "the Lease")
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def nothing_is_restarted_before_it_is_written_down(world: World) -> None:
    """The ConfigMap of the watcher cannot be written for a while. A successor could not know what was done."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    refusals = []

    def refuse(request: Request) -> Answer:
        refusals.append(request)
        return Answer(500, {"kind": "Status", "status": "Failure", "code": 500, "reason": "InternalError", "message": "etcd"})

    watcher.door.interferences.append(on("PATCH", CONFIGMAPS, refuse, name="mindgate-rescheduling"))
    world.report(["n0"])
    watcher.until(lambda: len(refusals) >= 3, "three attempts")
    assert not world.deleted()
    watcher.door.interferences.clear()
    world.await_deleted("default/a-0")


@history()
def a_job_that_came_while_nobody_led_is_not_taken_for_an_old_one(world: World) -> None:
    """A PodGroup of the same name, but another one: what the last leader wrote down of it does not count."""
    world.nodes(10)
    labels: Object = FORCE | {"fault-retry-times": "1"}
    world.job("a", ["n0"], labels=labels)
    first = world.watch(elect=True)
    fail(world)
    world.await_deleted("default/a-0")
    world.stop(first)
    world.store.remove(PODGROUPS, "default", "a")
    world.job("a", ["n1"], labels=labels)
    second = world.watch(name="b", elect=True)
    fail(world)
    second.until(lambda: len(world.server.deleted) == 2, "the retry of the new job")
